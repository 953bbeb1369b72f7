"""Bad rows, set aside with the reason: a job goes on without them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ramify.pipeline.schema import (
    COUNT,
    OURS,
    REASON,
    REJECT,
    ROW,
    SOURCE,
    SUBSCRIPTION_TEXTS,
    SUBSCRIPTION_TIMES,
    quoted,
)

OF_SUBSCRIPTIONS = [*SUBSCRIPTION_TEXTS, *SUBSCRIPTION_TIMES]
"""The columns of a bad subscription that are kept."""


def rejected(source: str, table: DataFrame, reason: Column, names: list[str] | None = None) -> DataFrame:
    """The rows for which there is a reason, each as JSON."""
    row = F.to_json(F.struct(*(F.col(quoted(name)) for name in names or table.columns)))
    said = OURS + REASON
    return (
        table.select(F.lit(source).alias(SOURCE), reason.alias(said), row.alias(ROW))
        .where(F.col(said).isNotNull())
        .withColumnRenamed(said, REASON)
        .select(*REJECT.names)
    )


def rejected_subscriptions(read: DataFrame) -> DataFrame:
    """The rows of a subscription table that were found to be bad."""
    return rejected("subscription", read, F.col(REASON), OF_SUBSCRIPTIONS)


def rejected_rows(spark: SparkSession, bad: pa.Table) -> DataFrame:
    """The same of rows that were gathered."""
    if not bad.num_rows:
        return spark.createDataFrame([], REJECT)
    return rejected_subscriptions(spark.createDataFrame(bad))


def count_rejects(rejects: DataFrame) -> DataFrame:
    """How many rows were set aside, by where they are from and why."""
    return rejects.groupBy(SOURCE, REASON).agg(F.count(F.lit(1)).alias(COUNT)).orderBy(SOURCE, REASON)
