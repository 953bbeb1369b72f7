"""Lays out the criteria of a set of subscriptions as the arrays that `FrozenContent` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pyarrow as pa

from ramify.criteria import Clause, filing_clauses, to_json
from ramify.criteria.atoms import atoms_of
from ramify.frozen.csr import Lists
from ramify.frozen.filing import Filed, PatternClauses, Slot, file_pattern
from ramify.frozen.keys import NO_PART, Part, fold, start_keys, tagged
from ramify.frozen.literals import Encoded, encode
from ramify.frozen.tables import Arrays, IntTable, TextTable
from ramify.frozen.texts import U64
from ramify.model import Atom, Between, Comparison, Criteria, Like, Membership, Path, Statistics

Conditional = tuple[int, int, Criteria]
"""The number of a subscription, the number of its pattern, and its criteria."""


@dataclass(slots=True)
class _Clauses:
    """Every clause of every subscription, numbered."""

    subscriptions: list[int] = field(default_factory=list)
    literals: list[list[Encoded]] = field(default_factory=list)
    is_partial: list[bool] = field(default_factory=list)
    """Whether the encoded literals do not say all that the clause does."""

    def add(self, subscription: int, encoded: list[list[Encoded] | None]) -> int:
        self.subscriptions.append(subscription)
        self.literals.append([literal for literals in encoded if literals for literal in literals])
        self.is_partial.append(any(literals is None for literals in encoded))
        return len(self.subscriptions) - 1


def build_content(
    conditionals: list[Conditional],
    patterns: int,
    subscriptions: int,
    statistics: Statistics | None,
    salt: int,
) -> Arrays:
    """The arrays of `FrozenContent`, for so many patterns and subscriptions in all."""
    atoms = [atom for _, _, criteria in conditionals for atom in atoms_of(criteria.term)]
    fields = {path: at for at, path in enumerate(dict.fromkeys(atom.path for atom in atoms))}
    texts = {
        text: at for at, text in enumerate(dict.fromkeys(text for atom in atoms for text in _texts(atom)))
    }
    numbered, behind, whole = _number(conditionals, fields, texts, statistics)
    filed = {pattern: file_pattern(each, fields, texts) for pattern, each in behind.items()}
    for pattern, number in whole:
        filed.setdefault(pattern, Filed()).tested.append(number)
    constants = [text.encode("utf-8", "surrogatepass") for text in texts]
    forms: list[bytes | None] = [None] * subscriptions
    for subscription, _, criteria in conditionals:
        forms[subscription] = msgspec.json.encode(to_json(criteria))
    return {
        "content.paths": pa.array(
            [msgspec.json.encode(list(path)).decode() for path in fields], pa.large_string()
        ),
        "content.criteria": pa.array(forms, pa.large_binary()),
        **TextTable.build(constants, salt).to_arrays("content.constants"),
        **_key_arrays(filed, patterns, salt),
        **_bound_arrays(filed, patterns),
        **Lists.build([_of(filed, pattern).tested for pattern in range(patterns)]).to_arrays(
            "content.tested"
        ),
        **_clause_arrays(numbered),
    }


def _number(
    conditionals: list[Conditional],
    fields: dict[Path, int],
    texts: dict[str, int],
    statistics: Statistics | None,
) -> tuple[_Clauses, dict[int, PatternClauses], list[tuple[int, int]]]:
    """Number every clause; and say which stand behind each pattern, and which are a whole term."""
    numbered = _Clauses()
    behind: dict[int, PatternClauses] = {}
    whole: list[tuple[int, int]] = []
    for subscription, pattern, criteria in conditionals:
        alternatives = filing_clauses(criteria.term)
        if alternatives is None:
            whole.append((pattern, numbered.add(subscription, [None])))
            continue
        for clause in alternatives:
            number = numbered.add(subscription, _encoded(clause, fields, texts))
            behind.setdefault(pattern, PatternClauses()).add(number, clause, statistics)
    return numbered, behind, whole


def _encoded(clause: Clause, fields: dict[Path, int], texts: dict[str, int]) -> list[list[Encoded] | None]:
    return [encode(literal, fields, texts) for literal in clause]


def _key_arrays(filed: dict[int, Filed], patterns: int, salt: int) -> Arrays:
    lookups: dict[tuple[Part, ...], int] = {}
    of_pattern: list[dict[int, None]] = [{} for _ in range(patterns)]
    groups: dict[tuple[int, int, Slot], list[int]] = {}
    for pattern, each in filed.items():
        for number, slot in each.slots:
            lookup = lookups.setdefault(slot[0], len(lookups))
            of_pattern[pattern][lookup] = None
            groups.setdefault((pattern, lookup, slot), []).append(number)
    keys, distinct = _keys(list(groups), salt)
    merged: list[list[int]] = [[] for _ in range(len(distinct))]
    for key, numbers in zip(keys.tolist(), groups.values(), strict=True):
        merged[key].extend(numbers)
    table = IntTable.build(distinct, np.arange(len(distinct), dtype=np.int32), salt)
    padded = [(*parts, Part(NO_PART))[:2] for parts in lookups]
    return {
        **table.to_arrays("content.keys"),
        **Lists.build(merged).to_arrays("content.groups"),
        **Lists.build(of_pattern).to_arrays("content.lookups"),
        "content.part_fields": np.array([part.field for parts in padded for part in parts], dtype=np.int32),
        "content.part_widths": np.array([part.width for parts in padded for part in parts], dtype=np.int32),
    }


def _keys(groups: list[tuple[int, int, Slot]], salt: int) -> tuple[np.ndarray, U64]:
    """The key of each group, as a position among the distinct keys; and those."""
    patterns = np.array([pattern for pattern, _, _ in groups], dtype=np.int32)
    lookups = np.array([lookup for _, lookup, _ in groups], dtype=np.int32)
    keys = start_keys(patterns, lookups, np.uint64(salt))
    for part in range(2):
        rows = np.array([at for at, (_, _, slot) in enumerate(groups) if len(slot[1]) > part], dtype=np.int64)
        seen = [groups[at][2][1][part] for at in rows.tolist()]
        bits = np.array([each.bits for each in seen], dtype=np.uint64)
        keys[rows] = fold(
            keys[rows], tagged(bits, np.array([each.tag for each in seen], dtype=np.int64)), np.uint64(salt)
        )
    distinct, positions = np.unique(keys, return_inverse=True)
    return positions, distinct


def _bound_arrays(filed: dict[int, Filed], patterns: int) -> Arrays:
    groups: dict[tuple[int, int, bool], list[tuple[float, int]]] = {}
    for pattern, each in filed.items():
        for number, at_field, is_lower, bound in each.bounds:
            groups.setdefault((pattern, at_field, is_lower), []).append((bound, number))
    of_pattern: list[list[int]] = [[] for _ in range(patterns)]
    for group, (pattern, _, _) in enumerate(groups):
        of_pattern[pattern].append(group)
    laid = [sorted(bounds) for bounds in groups.values()]
    starts = np.zeros(len(laid) + 1, dtype=np.int64)
    np.cumsum([len(bounds) for bounds in laid], out=starts[1:])
    return {
        **Lists.build(of_pattern).to_arrays("content.bounds"),
        "content.bound_fields": np.array([at_field for _, at_field, _ in groups], dtype=np.int32),
        "content.bound_is_lower": np.array([is_lower for _, _, is_lower in groups], dtype=np.uint8),
        "content.bound_starts": starts,
        "content.bound_values": np.array([bound for bounds in laid for bound, _ in bounds], dtype=np.float64),
        "content.bound_clauses": np.array(
            [number for bounds in laid for _, number in bounds], dtype=np.int32
        ),
    }


def _clause_arrays(numbered: _Clauses) -> Arrays:
    flat = [literal for literals in numbered.literals for literal in literals]
    starts = np.zeros(len(numbered.literals) + 1, dtype=np.int64)
    np.cumsum([len(literals) for literals in numbered.literals], out=starts[1:])
    return {
        **Lists(starts, np.arange(len(flat), dtype=np.int32)).to_arrays("content.literals"),
        "content.may_repeat": np.array(
            [len(set(numbered.subscriptions)) < len(numbered.subscriptions)], dtype=np.uint8
        ),
        "content.clause_subscriptions": np.array(numbered.subscriptions, dtype=np.int32),
        "content.clause_is_partial": np.array(numbered.is_partial, dtype=np.uint8),
        "content.literal_fields": np.array([literal.field for literal in flat], dtype=np.int32),
        "content.literal_codes": np.array([literal.code for literal in flat], dtype=np.uint8),
        "content.literal_numbers": np.array([literal.number for literal in flat], dtype=np.float64),
        "content.literal_texts": np.array([literal.text for literal in flat], dtype=np.int32),
    }


def _of(filed: dict[int, Filed], pattern: int) -> Filed:
    return filed.get(pattern, _NOTHING_FILED)


_NOTHING_FILED = Filed()


def _texts(atom: Atom) -> Iterator[str]:
    """The texts that a comparison compares with."""
    match atom:
        case Comparison(_, _, value):
            yield from _if_text(value)
        case Membership(_, values):
            for value in values:
                yield from _if_text(value)
        case Between(_, low, high):
            yield from (*_if_text(low), *_if_text(high))
        case Like(_, (text,)):
            yield text


def _if_text(value: object) -> Iterable[str]:
    return (value,) if isinstance(value, str) else ()
