"""The words of a batch of topics as numbers: what level patterns are looked up with."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.frozen.texts import I32, I64, Flags


@dataclass(frozen=True, slots=True)
class Words:
    """Every word of every topic, all in one row."""

    first: I64
    """Where each topic's words start."""
    depths: I64
    """How many words each topic has."""
    ids: I32
    """Which known word each is, or `NOTHING`."""
    is_empty: Flags
    is_internal: Flags
    """Whether each topic starts with `$`."""
