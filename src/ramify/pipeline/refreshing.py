"""Subscriptions that change while a stream is routed: each refresh is a new version of the shipped file.

An event is routed by exactly one version: the whole of it, never a mixture. Every task that starts
after `refresh` has returned takes the new version, and so does every micro-batch. A micro-batch that
is under way meanwhile may route some of its events by the old version and some by the new; one
that is run again after a failure takes the version of that time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from ramify.errors import CallerError, InvalidTable
from ramify.model import Statistics
from ramify.pipeline.gathered import gather
from ramify.pipeline.rejects import rejected_rows
from ramify.pipeline.schema import SUBSCRIPTION_TIMES
from ramify.pipeline.shipped import KEPT, new_name, retire, ship
from ramify.pipeline.subscriptions import subscription_table

Source = DataFrame | Callable[[], DataFrame]


class LiveSubscriptions:
    """The subscriptions that a running query routes by; `live` makes them, `route` takes them."""

    def __init__(self, spark: SparkSession, source: Source, statistics: Statistics | None = None) -> None:
        self._spark, self._source, self._statistics = spark, source, statistics
        self._refreshing = Lock()
        self.name = new_name()
        self.version = 0
        """How many times the subscriptions were shipped."""
        self.count = 0
        """How many subscriptions are in force."""
        first = self._given(None)
        self.times = _times(first)
        """The columns of time that the subscriptions have; every later set must have the same."""
        self.rejects = self._ship(first)
        """The rows of the last refresh that were set aside, and why."""

    def refresh(self, subscriptions: DataFrame | None = None) -> int:
        """Replace all subscriptions; without a table, the source is asked again. Answers the version.

        Queries go on meanwhile by the old ones. If the new ones are refused, the old ones stay.
        """
        with self._refreshing:
            given = self._given(subscriptions)
            if _times(given) != self.times:
                raise InvalidTable("subscriptions", SUBSCRIPTION_TIMES[0], _CHANGED)
            self.rejects = self._ship(given)
            return self.version

    def _given(self, subscriptions: DataFrame | None) -> DataFrame:
        source = self._source if subscriptions is None else subscriptions
        return source if isinstance(source, DataFrame) else source()

    def _ship(self, subscriptions: DataFrame) -> DataFrame:
        if subscriptions.isStreaming:
            raise CallerError(
                "a stream of subscriptions cannot be routed by; refresh with a table of all of them"
            )
        gathered = gather(subscription_table(subscriptions))
        ship(self._spark, gathered, self._statistics, self.name, self.version + 1)
        self.version += 1
        self.count = len(gathered.subscriptions)
        retire(self.name, self.version - KEPT)
        return rejected_rows(self._spark, gathered.bad)


_CHANGED = "and valid_to cannot come, go or change their type while subscriptions are live"


def _times(subscriptions: DataFrame) -> StructType:
    schema = subscriptions.schema
    there = [name for name in SUBSCRIPTION_TIMES if name in schema.names]
    return StructType([StructField(name, schema[name].dataType) for name in there])


def live(
    spark: SparkSession, subscriptions: Source, *, statistics: Statistics | None = None
) -> LiveSubscriptions:
    """Subscriptions for `route` that `refresh` can replace while a query runs.

    Give a table, or a function that reads one anew each time it is called.
    """
    return LiveSubscriptions(spark, subscriptions, statistics)
