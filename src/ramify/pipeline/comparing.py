"""`backtest`: what would have been different, had other subscriptions been in force."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ramify.pipeline.deliveries import EVENT
from ramify.pipeline.schema import (
    BACKTEST,
    GAINED,
    LOST,
    SUBSCRIBER,
    SUBSCRIPTION_TIMES,
    UNCHANGED,
    check_events,
)
from ramify.pipeline.subscriptions import SET, subscription_table
from ramify.pipeline.tasks import Task

_BEFORE, _AFTER = "_ramify_before", "_ramify_after"


@dataclass(frozen=True, slots=True)
class Compared:
    """What would change for each subscriber, and the rows that were set aside."""

    changes: DataFrame
    rejects: DataFrame


def backtest(
    events: DataFrame,
    current: DataFrame,
    candidate: DataFrame,
    *,
    strategy: str = "auto",
    fields: str | None = None,
) -> DataFrame:
    """For each subscriber, how many events it would gain, lose, and get as before.

    Both sets are routed in one pass over the events. A subscriber that gets an event through
    several subscriptions gets it once.
    """
    return backtest_with_rejects(events, current, candidate, strategy=strategy, fields=fields).changes


def backtest_with_rejects(
    events: DataFrame,
    current: DataFrame,
    candidate: DataFrame,
    *,
    strategy: str = "auto",
    fields: str | None = None,
) -> Compared:
    """The same, with the rows of all three tables that were set aside and why."""
    for table in (current, candidate):
        check_events(events.schema, fields=fields, times=table.schema)
    both = subscription_table(current, 0).unionByName(subscription_table(candidate, 1))
    is_timed = any(name in {*current.columns, *candidate.columns} for name in SUBSCRIPTION_TIMES)
    found = Task(events, fields, is_timed=is_timed, keeps_event=True).matches(both, strategy)
    before, after = F.col(_BEFORE), F.col(_AFTER)
    changes = (
        found.matches.groupBy(EVENT, SUBSCRIBER)
        .agg(F.max(F.col(SET) == 0).alias(_BEFORE), F.max(F.col(SET) == 1).alias(_AFTER))
        .groupBy(SUBSCRIBER)
        .agg(
            F.count_if(after & ~before).alias(GAINED),
            F.count_if(before & ~after).alias(LOST),
            F.count_if(before & after).alias(UNCHANGED),
        )
        .select(*BACKTEST)
    )
    return Compared(changes, found.rejects)
