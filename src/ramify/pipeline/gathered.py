"""Subscriptions gathered on the driver: each row is read once, the good ones get numbers, the bad a reason.

What is bad is what `subscriptions.read` calls bad; that one reads a table where it lies.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from ramify.errors import CallerError
from ramify.files.rows import RowReader
from ramify.frozen.texts import I64, Flags
from ramify.index.shares import group_of
from ramify.model import ALWAYS, Subscription
from ramify.pipeline.content import names_of
from ramify.pipeline.roster import ALONE, Roster
from ramify.pipeline.schema import (
    REALM,
    REASON,
    SUBSCRIPTION_ID,
    SUBSCRIPTION_TEXTS,
    SUBSCRIPTION_TIMES,
    VALID_FROM,
)
from ramify.pipeline.subscriptions import ALIKE_IN, FIRST_BY, GROUP_KEY, SET, row_of, said_twice

STEP = 50_000


@dataclass(frozen=True, slots=True)
class Facts:
    """What a set of subscriptions makes necessary."""

    has_groups: bool
    has_criteria: bool
    names: frozenset[str] | None
    """The names that criteria begin their paths with; `None` if they are not known."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The good subscriptions by number, what is to be known of them, and the bad rows with their reasons."""

    subscriptions: list[Subscription]
    rows: pa.Table
    roster: Roster
    facts: Facts
    bad: pa.Table

    def with_group_keys(self) -> pa.Table:
        """The good rows, each with what tells its group from others."""
        keys = [None if each.group is None else repr(group_of(each)) for each in self.subscriptions]
        return self.rows.append_column(GROUP_KEY, pa.array(keys, pa.string()))


@contextmanager
def uncollected() -> Iterator[None]:
    """Do without the garbage collector: it looks in vain through millions of values, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@uncollected()
def gather(table: DataFrame) -> Gathered:
    """Read all rows of a subscription table."""
    rows = table.select(*SUBSCRIPTION_TEXTS, *SUBSCRIPTION_TIMES, SET).toArrow().combine_chunks()
    read = list(_read(rows))
    is_good = np.fromiter((isinstance(each, Subscription) for each in read), np.bool_, len(read))
    good = np.flatnonzero(is_good)
    is_double = _doubles(rows.take(pa.array(good)))
    for at in good[is_double].tolist():
        read[at] = said_twice(rows.column(SUBSCRIPTION_ID)[at].as_py())
    good, bad = good[~is_double], np.concatenate([np.flatnonzero(~is_good), good[is_double]])
    reasons = pa.array([read[at] for at in bad.tolist()], pa.string())
    bad_rows = rows.take(pa.array(bad)).append_column(REASON, reasons)
    if any(read[at].group is not None for at in good.tolist()):
        good = good[_in_order(rows.take(pa.array(good)))]
    good_rows = rows.take(pa.array(good))
    return _numbered([read[at] for at in good.tolist()], good_rows, bad_rows)


def _read(rows: pa.Table) -> Iterator[Any]:
    """The subscription of each row, or why there is none."""
    reader = RowReader()
    for batch in rows.select(list(SUBSCRIPTION_TEXTS)).to_batches(STEP):
        for row in batch.to_pylist():
            try:
                yield reader.subscription(row_of(row))
            except CallerError as refusal:
                yield str(refusal)


def _numbered(subscriptions: list[Subscription], rows: pa.Table, bad: pa.Table) -> Gathered:
    terms = {id(each.criteria): each.criteria.term for each in subscriptions}
    has_criteria = any(term != ALWAYS.term for term in terms.values())
    names = frozenset(name for term in terms.values() for name in names_of(term))
    sets = rows.column(SET).combine_chunks()
    groups = _groups(subscriptions, rows)
    roster = Roster.build(rows, groups, sets, has_criteria)
    return Gathered(subscriptions, rows, roster, Facts(bool(groups), has_criteria, names), bad)


def _groups(subscriptions: list[Subscription], rows: pa.Table) -> list[int]:
    """The number of each one's group; nothing if nobody is in any."""
    if all(each.group is None for each in subscriptions):
        return []
    numbers: dict[Any, int] = {}
    places = zip(rows.column(SET).to_pylist(), rows.column(REALM).to_pylist(), strict=True)
    return [
        ALONE if each.group is None else numbers.setdefault((*place, group_of(each)), len(numbers))
        for each, place in zip(subscriptions, places, strict=True)
    ]


def _doubles(rows: pa.Table) -> Flags:
    """Which rows are told from another by nothing, but for the first of them by its texts."""
    is_double = np.zeros(rows.num_rows, dtype=np.bool_)
    if pc.count_distinct(rows.column(SUBSCRIPTION_ID)).as_py() == rows.num_rows:
        return is_double
    texts = _sortable(rows, FIRST_BY)
    firsts: dict[tuple[Any, ...], int] = {}
    for at, key in enumerate(_sortable(rows, ALIKE_IN)):
        former = firsts.setdefault(key, at)
        if former != at:
            firsts[key], later = sorted((former, at), key=texts.__getitem__)
            is_double[later] = True
    return is_double


def _in_order(rows: pa.Table) -> I64:
    """The rows in the order in which the members of a group are counted off."""
    keys = _sortable(rows, (SUBSCRIPTION_ID, VALID_FROM))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _sortable(rows: pa.Table, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Some columns of each row as a value that sorts as it does in Spark: nulls first."""
    columns = [[(each is not None, each) for each in rows.column(name).to_pylist()] for name in names]
    return list(zip(*columns, strict=True))
