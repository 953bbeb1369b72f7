"""`route`: a row for each event and subscription that wants it.

Both strategies read the subscriptions when `route` is called, and the events when the answer is
asked for; a join looks at a sample of them before that. They give the same rows; which is faster
depends on how many subscriptions there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from ramify.model import Statistics
from ramify.pipeline.deliveries import delivery_columns
from ramify.pipeline.refreshing import LiveSubscriptions
from ramify.pipeline.schema import SUBSCRIPTION_TIMES, check_events
from ramify.pipeline.subscriptions import subscription_table
from ramify.pipeline.tasks import Task


@dataclass(frozen=True, slots=True)
class Routed:
    """Who gets what, and the rows that were set aside.

    They are of events and subscriptions; but of a stream, or by live subscriptions, of events only.
    """

    deliveries: DataFrame
    rejects: DataFrame


def route(
    events: DataFrame,
    subscriptions: DataFrame | LiveSubscriptions,
    *,
    strategy: str = "auto",
    fields: str | None = None,
    identity: Sequence[str] | None = None,
    statistics: Statistics | None = None,
) -> DataFrame:
    """A row for each delivery: the event's columns, `subscription_id` and `subscriber`.

    `fields` names the column with the content, `identity` the columns that tell an event from
    others (they decide which member of a share group gets it), and `statistics` helps to plan.
    Events are a table or a stream. Subscriptions that may change meanwhile are made by `live`.
    """
    return route_with_rejects(
        events, subscriptions, strategy=strategy, fields=fields, identity=identity, statistics=statistics
    ).deliveries


def route_with_rejects(
    events: DataFrame,
    subscriptions: DataFrame | LiveSubscriptions,
    *,
    strategy: str = "auto",
    fields: str | None = None,
    identity: Sequence[str] | None = None,
    statistics: Statistics | None = None,
) -> Routed:
    """The same, with the rows that were set aside and why."""
    times = subscriptions.times if isinstance(subscriptions, LiveSubscriptions) else subscriptions.schema
    check_events(events.schema, fields=fields, times=times)
    is_timed = any(name in times.names for name in SUBSCRIPTION_TIMES)
    task = Task(events, fields, identity, statistics, is_timed)
    if isinstance(subscriptions, LiveSubscriptions):
        found = task.by_live(subscriptions, strategy)
    else:
        found = task.matches(subscription_table(subscriptions), strategy)
    return Routed(found.matches.select(*delivery_columns(events)), found.rejects)
