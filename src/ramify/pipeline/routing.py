"""`route`: a row for each event and subscription that wants it.

Both strategies read the subscriptions when `route` is called, and the events only when the answer
is asked for. They give the same rows; which is faster depends on how many subscriptions there are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ramify.errors import CallerError
from ramify.files.rows import RowReader
from ramify.model import Statistics
from ramify.pipeline.broadcast import NUMBER, Index, numbers_of, with_number
from ramify.pipeline.content import crossing, is_json
from ramify.pipeline.deliveries import delivery_columns, in_time, numbered, one_of_each_group
from ramify.pipeline.filing import Sample
from ramify.pipeline.join import (
    LookUp,
    chosen,
    fault,
    filed,
    filed_by_number,
    is_found_by,
    joined,
    realm_of,
    with_keys,
    without_faults,
)
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import (
    REASON,
    SUBSCRIPTION_TEXTS,
    SUBSCRIPTION_TIMES,
    TOPIC,
    TS,
    WHERE,
    check_events,
    quoted,
)
from ramify.pipeline.shipped import ship
from ramify.pipeline.subscriptions import (
    GROUP_KEY,
    HAS_CRITERIA,
    NAMES,
    PATH,
    PROBE,
    WANTED_REALM,
    read,
    sampled,
    subscription_table,
    subscriptions_of,
    told,
)

LARGE = 2_000_000
"""From so many subscriptions on, gathering them on one machine is not worth it."""

SAMPLED = 10_000
"""So many criteria tell a join which equalities are rare."""

_log = logging.getLogger("ramify.pipeline")


@dataclass(frozen=True, slots=True)
class Routed:
    """Who gets what, and the rows of both tables that were set aside."""

    deliveries: DataFrame
    rejects: DataFrame


def route(
    events: DataFrame,
    subscriptions: DataFrame,
    *,
    strategy: str = "auto",
    fields: str | None = None,
    identity: Sequence[str] | None = None,
    statistics: Statistics | None = None,
) -> DataFrame:
    """A row for each delivery: the event's columns, `subscription_id` and `subscriber`.

    `fields` names the column with the content, `identity` the columns that tell an event from
    others (they decide which member of a share group gets it), and `statistics` helps to plan.
    """
    return route_with_rejects(
        events, subscriptions, strategy=strategy, fields=fields, identity=identity, statistics=statistics
    ).deliveries


def route_with_rejects(
    events: DataFrame,
    subscriptions: DataFrame,
    *,
    strategy: str = "auto",
    fields: str | None = None,
    identity: Sequence[str] | None = None,
    statistics: Statistics | None = None,
) -> Routed:
    """The same, with the rows of both tables that were set aside and why."""
    check_events(events.schema, fields=fields, times=subscriptions.schema)
    is_timed = any(name in subscriptions.columns for name in SUBSCRIPTION_TIMES)
    task = Task(events, subscription_table(subscriptions), fields, identity, statistics, is_timed)
    found = task.matches(strategy)
    return Routed(found.matches.select(*delivery_columns(events)), found.rejects)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a set of subscriptions makes necessary."""

    has_groups: bool
    has_criteria: bool
    names: frozenset[str]
    """The names that criteria begin their paths with."""

    @classmethod
    def of_counts(cls, rows: list[Any]) -> Facts:
        """Look at what was counted of subscriptions."""
        names = frozenset(name for row in rows for name in row[NAMES] or ())
        return cls(any(row[GROUP_KEY] for row in rows), any(row[HAS_CRITERIA] for row in rows), names)

    @classmethod
    def of_table(cls, good: pa.Table) -> Facts:
        """Look at the subscriptions themselves."""
        groups, criteria, names = (good.column(name) for name in (GROUP_KEY, HAS_CRITERIA, NAMES))
        found = frozenset(pc.unique(pc.list_flatten(names)).to_pylist())
        return cls(groups.null_count < len(groups), bool(pc.any(criteria).as_py()), found)


@dataclass(frozen=True, slots=True)
class Matches:
    """Events beside the subscriptions that get them, and what was set aside."""

    matches: DataFrame
    rejects: DataFrame


@dataclass(frozen=True, slots=True)
class Task:
    """Events to be routed to a table of subscriptions."""

    events: DataFrame
    table: DataFrame
    fields: str | None = None
    identity: Sequence[str] | None = None
    statistics: Statistics | None = None
    is_timed: bool = False
    keeps_event: bool = False
    """Whether the answer tells which matches are of one event."""

    def matches(self, strategy: str) -> Matches:
        """Route by a strategy; `auto` takes the one that suits the number of subscriptions."""
        if strategy not in STRATEGIES:
            raise CallerError(f"unknown strategy {strategy!r}; the strategies are {', '.join(STRATEGIES)}")
        facts, found = STRATEGIES[strategy](self)
        if self.is_timed:
            found = in_time(found)
        if facts.has_groups:
            found = one_of_each_group(found)
        return Matches(found, self._rejects(facts))

    # ── broadcast ─────────────────────────────────────────────────────────────────────────

    def by_broadcast(self) -> tuple[Facts, DataFrame]:
        """All subscriptions in one index."""
        shipped = self._shipped(read(self.table).where(F.col(REASON).isNull()))
        facts = shipped.facts
        numbered = with_number(self._usable(facts), Index(shipped.name, self._content(facts)))
        found = numbered.join(F.broadcast(shipped.table), NUMBER)
        return facts, found.where(realm_of(self.events) == F.col(WANTED_REALM))

    # ── join ──────────────────────────────────────────────────────────────────────────────

    def by_join(self) -> tuple[Facts, DataFrame]:
        """All that has a key in a join, and the rest in an index."""
        good = read(self.table, self._sample()).where(F.col(REASON).isNull())
        counted = _surveyed(good)
        facts = Facts.of_counts(counted)
        look_ups = chosen((LookUp(row[PROBE], row[PATH]), row["count"]) for row in counted if row[PROBE])
        events, content = self._usable(facts), self._content(facts)
        if content is not None and is_json(self.events.schema, self.fields):
            events = without_faults(events, content)
        table, numbers = filed(good, look_ups), None
        if len(look_ups) < len(counted):
            shipped = self._shipped(good.where(~is_found_by(look_ups)))
            table = table.unionByName(filed_by_number(shipped.table, NUMBER))
            numbers = numbers_of(Index(shipped.name, content))
        return facts, joined(with_keys(events, look_ups, content, numbers), table, content)

    def by_size(self) -> tuple[Facts, DataFrame]:
        """Whichever suits the number of subscriptions."""
        count = self.table.count()
        if count < LARGE:
            _log.info(
                "strategy broadcast: %s subscriptions fit into one index (below %s)",
                f"{count:,}",
                f"{LARGE:,}",
            )
            return self.by_broadcast()
        _log.info(
            "strategy join: %s subscriptions are too many for one index (%s)", f"{count:,}", f"{LARGE:,}"
        )
        return self.by_join()

    # ── parts of both ─────────────────────────────────────────────────────────────────────

    def _usable(self, facts: Facts) -> DataFrame:
        """The events that can be routed."""
        events = self.events
        if facts.has_groups or self.keeps_event:
            events = numbered(events, self.identity)
        usable = events.where(F.col(quoted(TOPIC)).isNotNull())
        return usable.where(F.col(TS).isNotNull()) if self.is_timed else usable

    def _content(self, facts: Facts) -> Column | None:
        """The content that criteria ask for; content that none asks for is not read."""
        return crossing(self.events.schema, self.fields, facts.names) if facts.has_criteria else None

    def _rejects(self, facts: Facts) -> DataFrame:
        reason = F.when(F.col(quoted(TOPIC)).isNull(), "the topic is null")
        if self.is_timed:
            reason = reason.when(F.col(TS).isNull(), "the time is null, and subscriptions have times")
        content = self._content(facts)
        if content is not None and is_json(self.events.schema, self.fields):
            reason = F.coalesce(reason, fault(content))
        names = [*SUBSCRIPTION_TEXTS, *SUBSCRIPTION_TIMES]
        return rejected("event", self.events, reason).unionByName(
            rejected("subscription", read(self.table), F.col(REASON), names)
        )

    def _sample(self) -> Sample:
        sample = Sample(self.statistics)
        reader = RowReader()
        for row in self.table.where(F.col(quoted(WHERE)).isNotNull()).limit(SAMPLED).toArrow().to_pylist():
            sampled(reader, row, sample)
        return sample

    def _shipped(self, good: DataFrame) -> _Shipped:
        spark = self.events.sparkSession
        rows = good.toArrow()
        name = ship(spark, subscriptions_of(rows), self.statistics)
        numbers = pa.array(range(rows.num_rows), pa.int32())
        with_numbers = spark.createDataFrame(rows.append_column(NUMBER, numbers))
        return _Shipped(name, with_numbers.select(*told(), NUMBER), Facts.of_table(rows))


@dataclass(frozen=True, slots=True)
class _Shipped:
    name: str
    table: DataFrame
    facts: Facts


def _surveyed(good: DataFrame) -> list[Any]:
    """What is filed under each look-up, in numbers."""
    return (
        good.groupBy(PROBE, PATH)
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.max(F.col(GROUP_KEY).isNotNull()).alias(GROUP_KEY),
            F.max(HAS_CRITERIA).alias(HAS_CRITERIA),
            F.array_distinct(F.flatten(F.collect_set(NAMES))).alias(NAMES),
        )
        .collect()
    )


STRATEGIES: dict[str, Callable[[Task], tuple[Facts, DataFrame]]] = {
    "auto": Task.by_size,
    "broadcast": Task.by_broadcast,
    "join": Task.by_join,
}
