"""Columns that Python works out, a batch at a time: Arrow arrays in, an Arrow array out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType


def vectorised(function: Callable[..., Any], kind: DataType, *columns: Column) -> Column:
    """The column of this type that a function makes of others; all else of a row stays in the JVM."""
    # Spark reads off the function's hints that it takes and gives whole arrays, which its stub does not know.
    made: Column = arrow_udf(function, kind)(*columns)  # type: ignore[call-overload]
    return made
