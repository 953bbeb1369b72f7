"""Bad rows, set aside with the reason: a job goes on without them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ramify.pipeline.schema import COUNT, OURS, REASON, REJECT, ROW, SOURCE, quoted


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


def count_rejects(rejects: DataFrame) -> DataFrame:
    """How many rows were set aside, by where they are from and why."""
    return rejects.groupBy(SOURCE, REASON).agg(F.count(F.lit(1)).alias(COUNT)).orderBy(SOURCE, REASON)
