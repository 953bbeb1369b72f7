"""The immutable form of the index: one file of arrays, memory-mapped, matched by whole batches."""

from __future__ import annotations

from ramify.frozen.index import FrozenIndex

__all__ = ["FrozenIndex"]
