"""Keys that very many events share, spread over several tasks.

A sample of the events tells which keys are hot: that of a busy topic, of a busy customer, or of a
pattern that everything matches. The subscriptions under a hot key are filed several times over,
each time under another salt, and an event looks under one of them. What the sample misses costs
time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from ramify.pipeline.schema import OURS, is_hashable, quoted

HASH, SALT = OURS + "hash", OURS + "salt"

SAMPLED = 100_000
"""So many keys that events look for are counted."""
HOT = 0.02
"""A key is hot from such a share of those on that look in the same way."""
FEW = 20
"""And not if so few of the sample have it."""
MOST_WAYS = 64
WAYS_FOR_EACH_PARTITION = 4
"""More ways than partitions, because several fall into one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The hot keys, by their hashes, and in how many ways each is spread."""

    hot: tuple[int, ...] = ()
    ways: int = 1

    def over_events(self, keyed: DataFrame) -> DataFrame:
        """Give each event and key the salt that it looks under."""
        # Of the row itself, not of its place: a task that is tried again must choose the same.
        whole = [quoted(each.name) for each in keyed.schema if is_hashable(each.dataType)]
        drawn = F.pmod(F.xxhash64(*whole), F.lit(self.ways)).cast("int")
        return keyed.withColumn(SALT, F.when(self._is_hot(), drawn).otherwise(0) if self.hot else F.lit(0))

    def over_table(self, filed: DataFrame) -> DataFrame:
        """File what is under a hot key once for each salt."""
        if not self.hot:
            return filed.withColumn(SALT, F.lit(0))
        last = F.when(self._is_hot(), self.ways - 1).otherwise(0)
        return filed.withColumn(SALT, F.explode(F.sequence(F.lit(0), last)))

    def _is_hot(self) -> Column:
        return F.col(HASH).isin(list(self.hot))


def spread_of(keyed: DataFrame, look_up: str) -> Spread:
    """Look at some of what events look for; of a stream nothing can be known beforehand."""
    if keyed.isStreaming:
        return Spread()
    counted = keyed.select(look_up, HASH).limit(SAMPLED).groupBy(look_up, HASH).count()
    all_of_it = F.sum("count").over(Window.partitionBy(look_up))
    shared = counted.withColumn("all", all_of_it).where(
        F.col("count") >= F.greatest(HOT * F.col("all"), F.lit(FEW))
    )
    hot = tuple(sorted({row[HASH] for row in shared.select(HASH).collect()}))
    partitions = int(keyed.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    return Spread(hot, min(WAYS_FOR_EACH_PARTITION * partitions, MOST_WAYS))
