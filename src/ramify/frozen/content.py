"""Finds, for a batch of events whose topics matched, the subscriptions whose criteria hold.

It goes by the same steps as the live index: an event's fields are looked up, and what is found
is verified. Here each step is taken for all events together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from ramify.criteria import compile_term, from_json
from ramify.frozen.columns import NUMBER, Contents
from ramify.frozen.csr import Lists, ranges
from ramify.frozen.keys import NO_PART, Part, fold, look, start_keys
from ramify.frozen.literals import Fields, holds
from ramify.frozen.tables import NOTHING, IntTable, TextTable
from ramify.frozen.texts import I32, I64, Flags
from ramify.model import Path

Pairs = tuple[I64, I32]
"""Rows of a batch, each with a number: of a pattern, a clause or a subscription."""


class FrozenContent:
    """Clauses behind patterns, found by fields."""

    def __init__(self, arrays: Mapping[str, Any], salt: int) -> None:
        self._arrays, self._salt = arrays, np.uint64(salt)
        self._paths: list[Path] = [
            tuple(msgspec.json.decode(path)) for path in arrays["content.paths"].to_pylist()
        ]
        self._constants = TextTable.from_arrays("content.constants", arrays, salt)
        self._keys = IntTable.from_arrays("content.keys", arrays, salt)
        self._groups = Lists.from_arrays("content.groups", arrays)
        self._lookups = Lists.from_arrays("content.lookups", arrays)
        self._bounds = Lists.from_arrays("content.bounds", arrays)
        self._tested = Lists.from_arrays("content.tested", arrays)
        self._literals = Lists.from_arrays("content.literals", arrays)
        self._tests: dict[int, Callable[[Any], bool]] = {}

    def is_behind(self, patterns: I32) -> Flags:
        """Whether any clause stands behind each pattern."""
        if not len(self._arrays["content.clause_subscriptions"]):
            return np.zeros(len(patterns), dtype=np.bool_)
        counts = [each.counts(patterns) for each in (self._lookups, self._bounds, self._tested)]
        return np.asarray(sum(counts) > 0)

    def find(self, rows: I64, patterns: I32, content: pa.Array | None, size: int) -> Pairs:
        """The rows and subscriptions, given which rows match which patterns that have clauses behind them."""
        contents = Contents(content, size, self._constants)
        fields = Fields.from_columns([contents.column(path) for path in self._paths], size)
        origins, clauses = self._tested.expand(patterns)
        found = [
            (rows[origins], clauses),
            *self._by_key(rows, patterns, fields),
            *self._by_bound(rows, patterns, fields),
        ]
        candidate_rows = np.concatenate([pair[0] for pair in found])
        return self._verified(candidate_rows, np.concatenate([pair[1] for pair in found]), fields, contents)

    def _by_key(self, rows: I64, patterns: I32, fields: Fields) -> list[Pairs]:
        """The clauses that stand under what the rows' fields are."""
        origins, lookups = self._lookups.expand(patterns)
        found: list[Pairs] = []
        for lookup in np.unique(lookups).tolist():
            at = origins[lookups == lookup]
            keys = start_keys(patterns[at], np.full(len(at), lookup, dtype=np.int32), self._salt)
            is_seen = np.ones(len(at), dtype=np.bool_)
            for part in self._parts_of(lookup):
                seen, part_is_seen = look(part, rows[at], fields)
                keys = fold(keys, seen, self._salt)
                is_seen &= part_is_seen
            asked = at[is_seen]
            groups = self._keys.look_up(keys[is_seen])
            met = np.flatnonzero(groups != NOTHING)
            group_origins, clauses = self._groups.expand(groups[met])
            found.append((rows[asked[met][group_origins]], clauses))
        return found

    def _parts_of(self, lookup: int) -> list[Part]:
        fields, widths = self._arrays["content.part_fields"], self._arrays["content.part_widths"]
        pairs = zip(
            fields[2 * lookup : 2 * lookup + 2].tolist(),
            widths[2 * lookup : 2 * lookup + 2].tolist(),
            strict=True,
        )
        return [Part(field, width) for field, width in pairs if field != NO_PART]

    def _by_bound(self, rows: I64, patterns: I32, fields: Fields) -> list[Pairs]:
        """The clauses whose bound the rows' numbers are within, or exactly at."""
        origins, groups = self._bounds.expand(patterns)
        at = rows[origins]
        field = self._arrays["content.bound_fields"][groups]
        is_number = fields.kinds[field, at] == NUMBER
        at, groups, numbers = at[is_number], groups[is_number], fields.numbers[field, at][is_number]
        starts: I64 = self._arrays["content.bound_starts"]
        first, last = starts[groups], starts[groups + 1]
        is_lower: Flags = self._arrays["content.bound_is_lower"][groups]
        cut = self._bisected(first, last, numbers, is_lower)
        begin, end = np.where(is_lower, first, cut), np.where(is_lower, cut, last)
        counts = end - begin
        return [(np.repeat(at, counts), self._arrays["content.bound_clauses"][ranges(begin, counts)])]

    def _bisected(self, first: I64, last: I64, numbers: Any, is_lower: Flags) -> I64:
        """Where each number stands in its sorted stretch: behind its equals if the bounds are lower ones."""
        values = self._arrays["content.bound_values"]
        low, high = first.copy(), last.copy()
        rows = np.flatnonzero(low < high)
        while len(rows):
            middle = (low[rows] + high[rows]) // 2
            bound, number = values[middle], numbers[rows]
            goes_right = np.where(is_lower[rows], bound <= number, bound < number)
            low[rows] = np.where(goes_right, middle + 1, low[rows])
            high[rows] = np.where(goes_right, high[rows], middle)
            rows = rows[low[rows] < high[rows]]
        return low

    def _verified(self, rows: I64, clauses: I32, fields: Fields, contents: Contents) -> Pairs:
        """Those candidates that hold, each subscription once a row."""
        pairs, literals = self._literals.expand(clauses)
        at_fields, at_rows = self._arrays["content.literal_fields"][literals], rows[pairs]
        answers = holds(
            self._arrays["content.literal_codes"][literals],
            at_fields,
            at_rows,
            self._arrays["content.literal_numbers"][literals],
            self._arrays["content.literal_texts"][literals],
            fields,
        )
        is_unsure = self._arrays["content.clause_is_partial"][clauses].astype(np.bool_)
        is_unsure[pairs[fields.inexact[at_fields, at_rows]]] = True
        is_refuted = np.zeros(len(rows), dtype=np.bool_)
        # A float that is only near the number can neither prove nor refute.
        is_refuted[pairs[~answers & ~fields.inexact[at_fields, at_rows]]] = True
        subscriptions: I32 = self._arrays["content.clause_subscriptions"][clauses]
        keep = ~is_refuted
        for at in np.flatnonzero(is_unsure & keep).tolist():
            keep[at] = self._test_of(int(subscriptions[at]))(contents.row(int(rows[at])))
        if not self._arrays["content.may_repeat"][0]:
            return rows[keep], subscriptions[keep]
        return _distinct(rows[keep], subscriptions[keep])

    def _test_of(self, subscription: int) -> Callable[[Any], bool]:
        test = self._tests.get(subscription)
        if test is None:
            stored = self._arrays["content.criteria"][subscription].as_py()
            test = self._tests[subscription] = compile_term(from_json(msgspec.json.decode(stored)).term)
        return test


def _distinct(rows: I64, subscriptions: I32) -> Pairs:
    pairs = np.unique((rows << np.int64(32)) | subscriptions)
    return pairs >> np.int64(32), (pairs & np.int64(0xFFFFFFFF)).astype(np.int32)
