"""Events to be routed, and the strategies that do it: by one index, by live ones, or by a join."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ramify.errors import CallerError
from ramify.files.rows import RowReader
from ramify.model import Statistics
from ramify.pipeline.broadcast import CONTENT, Asked, fault_of_asked, numbers_of, with_names
from ramify.pipeline.content import crossing, is_json
from ramify.pipeline.deliveries import DRAW, draw, in_time, numbered, one_of_each_group
from ramify.pipeline.filing import Sample
from ramify.pipeline.gathered import Facts, Gathered, gather
from ramify.pipeline.join import (
    LookUp,
    chosen,
    fault,
    filed,
    filed_by_number,
    is_found_by,
    joined,
    with_keys,
    without_faults,
)
from ramify.pipeline.refreshing import LiveSubscriptions
from ramify.pipeline.rejects import rejected, rejected_rows, rejected_subscriptions
from ramify.pipeline.schema import OURS, REALM, REASON, TOPIC, TS, WHERE, quoted
from ramify.pipeline.shipped import new_name, ship
from ramify.pipeline.subscriptions import (
    GROUP_KEY,
    HAS_CRITERIA,
    NAMES,
    PATH,
    PROBE,
    may_have_doubles,
    read,
    sampled,
    told,
)

LARGE = 2_000_000
"""From so many subscriptions on, gathering them on one machine is not worth it."""

SAMPLED = 10_000
"""So many criteria tell a join which equalities are rare."""

ANYTHING = Facts(has_groups=True, has_criteria=True, names=None)
"""What live subscriptions may come to make necessary."""

_NUMBER = OURS + "number"
_log = logging.getLogger("ramify.pipeline")


@dataclass(frozen=True, slots=True)
class Matches:
    """Events beside the subscriptions that get them, and what was set aside."""

    matches: DataFrame
    rejects: DataFrame


@dataclass(frozen=True, slots=True)
class Task:
    """Events to be routed."""

    events: DataFrame
    fields: str | None = None
    identity: Sequence[str] | None = None
    statistics: Statistics | None = None
    is_timed: bool = False
    keeps_event: bool = False
    """Whether the answer tells which matches are of one event, and which table a subscription is from."""

    def matches(self, table: DataFrame, strategy: str) -> Matches:
        """Route to a table of subscriptions; `auto` takes the strategy that suits their number."""
        if table.isStreaming:
            raise CallerError("the subscriptions are a stream: read them as a table, or see `live`")
        return _strategy(strategy)(self, table)

    # ── broadcast ─────────────────────────────────────────────────────────────────────────

    def by_broadcast(self, table: DataFrame) -> Matches:
        """All subscriptions in one index."""
        gathered = gather(table)
        asked = self._asked(self._shipped(gathered), gathered.facts)
        rejects = self._event_rejects(self._fault(asked))
        if not self.events.isStreaming:
            rejects = rejects.unionByName(rejected_rows(self.events.sparkSession, gathered.bad))
        return Matches(with_names(self._usable(), asked), rejects)

    def by_live(self, live: LiveSubscriptions, strategy: str) -> Matches:
        """The newest index at any time."""
        if _strategy(strategy) is Task.by_join:
            raise CallerError("live subscriptions are routed to by broadcast; a join cannot follow them")
        asked = self._asked(live.name, ANYTHING)
        return Matches(with_names(self._usable(), asked), self._event_rejects(self._fault(asked)))

    # ── join ──────────────────────────────────────────────────────────────────────────────

    def by_join(self, table: DataFrame) -> Matches:
        """All that has a key in a join, and the rest in an index."""
        has_doubles = may_have_doubles(table)
        good = read(table, self._sample(table), has_doubles=has_doubles).where(F.col(REASON).isNull())
        counted = _surveyed(good)
        facts = _facts_of(counted)
        look_ups = chosen((LookUp(row[PROBE], row[PATH]), row["count"]) for row in counted if row[PROBE])
        events, content = self._usable(), self._content(facts)
        if facts.has_groups:
            if events.isStreaming:
                raise CallerError(
                    "share groups on a stream need the strategy broadcast: a join would sort it"
                )
            events = self._numbered_and_drawn(events)
        if content is not None and is_json(self.events.schema, self.fields):
            events = without_faults(events, content)
        found_by_key, numbers = filed(good, look_ups), None
        if len(look_ups) < len(counted):
            gathered = gather(good.where(~is_found_by(look_ups)))
            numbers = numbers_of(self._asked(self._shipped(gathered), facts))
            found_by_key = found_by_key.unionByName(filed_by_number(self._with_numbers(gathered), _NUMBER))
        found = joined(with_keys(events, look_ups, content, numbers), found_by_key, content)
        found = in_time(found) if self.is_timed else found
        return Matches(
            one_of_each_group(found) if facts.has_groups else found, self._all_rejects(table, content)
        )

    def _numbered_and_drawn(self, events: DataFrame) -> DataFrame:
        drawn = draw(self.events.schema, self.identity)
        return (events if self.keeps_event else numbered(events)).withColumn(DRAW, drawn)

    def _with_numbers(self, gathered: Gathered) -> DataFrame:
        rows = gathered.with_group_keys()
        numbers = pa.array(range(rows.num_rows), pa.int32())
        made = self.events.sparkSession.createDataFrame(rows.append_column(_NUMBER, numbers))
        return made.select(*told(), _NUMBER)

    def _all_rejects(self, table: DataFrame, content: Column | None) -> DataFrame:
        has_faults = content is not None and is_json(self.events.schema, self.fields)
        rejects = self._event_rejects(fault(content) if content is not None and has_faults else None)
        if self.events.isStreaming:
            return rejects
        return rejects.unionByName(rejected_subscriptions(read(table)))

    def _sample(self, table: DataFrame) -> Sample:
        sample = Sample(self.statistics)
        reader = RowReader()
        for row in table.where(F.col(quoted(WHERE)).isNotNull()).limit(SAMPLED).toArrow().to_pylist():
            sampled(reader, row, sample)
        return sample

    # ── either ────────────────────────────────────────────────────────────────────────────

    def by_size(self, table: DataFrame) -> Matches:
        """Whichever suits the number of subscriptions; a stream is not joined."""
        if self.events.isStreaming:
            _log.info("strategy broadcast: the events are a stream")
            return self.by_broadcast(table)
        count = table.count()
        if count < LARGE:
            _log.info(
                "strategy broadcast: %s subscriptions fit into one index (below %s)", *_shown(count, LARGE)
            )
            return self.by_broadcast(table)
        _log.info("strategy join: %s subscriptions are too many for one index (%s)", *_shown(count, LARGE))
        return self.by_join(table)

    def _usable(self) -> DataFrame:
        """The events that can be routed."""
        events = numbered(self.events) if self.keeps_event else self.events
        usable = events.where(F.col(quoted(TOPIC)).isNotNull())
        return usable.where(F.col(TS).isNotNull()) if self.is_timed else usable

    def _content(self, facts: Facts) -> Column | None:
        """The content that criteria ask for; content that none asks for is not read."""
        return crossing(self.events.schema, self.fields, facts.names) if facts.has_criteria else None

    def _asked(self, name: str, facts: Facts) -> Asked:
        content, names = self._content(facts), self.events.columns
        columns = {
            TOPIC: F.col(quoted(TOPIC)),
            CONTENT: content,
            REALM: F.col(quoted(REALM)) if REALM in names else None,
            TS: F.col(TS) if self.is_timed else None,
            DRAW: draw(self.events.schema, self.identity) if facts.has_groups else None,
        }
        wanted = {part: column for part, column in columns.items() if column is not None}
        return Asked(name, wanted, tells_set=self.keeps_event)

    def _shipped(self, gathered: Gathered) -> str:
        name = new_name()
        ship(self.events.sparkSession, gathered, self.statistics, name)
        return name

    def _fault(self, asked: Asked) -> Column | None:
        """Why the content of an event cannot be read; `None` if it always can."""
        has_faults = CONTENT in asked.columns and is_json(self.events.schema, self.fields)
        return fault_of_asked(asked) if has_faults else None

    def _event_rejects(self, fault: Column | None) -> DataFrame:
        reason = F.when(F.col(quoted(TOPIC)).isNull(), "the topic is null")
        if self.is_timed:
            reason = reason.when(F.col(TS).isNull(), "the time is null, and subscriptions have times")
        return rejected("event", self.events, reason if fault is None else F.coalesce(reason, fault))


def _facts_of(counted: list[Any]) -> Facts:
    names = frozenset(name for row in counted for name in row[NAMES] or ())
    return Facts(any(row[GROUP_KEY] for row in counted), any(row[HAS_CRITERIA] for row in counted), names)


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


def _shown(*counts: int) -> list[str]:
    return [f"{count:,}" for count in counts]


STRATEGIES: dict[str, Callable[[Task, DataFrame], Matches]] = {
    "auto": Task.by_size,
    "broadcast": Task.by_broadcast,
    "join": Task.by_join,
}


def _strategy(name: str) -> Callable[[Task, DataFrame], Matches]:
    if name not in STRATEGIES:
        raise CallerError(f"unknown strategy {name!r}; the strategies are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
