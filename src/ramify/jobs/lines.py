"""JSON Lines of subscriptions, read where they lie and as strictly as `ramify.files` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from ramify.errors import InvalidSubscription
from ramify.files.json_text import json_object
from ramify.files.rows import row_of
from ramify.pipeline.schema import ID, OURS, SUBSCRIPTION_ID, SUBSCRIPTION_TEXTS, SUBSCRIPTION_TIMES

BAD = OURS + "bad"
"""Why a line is no subscription."""
LINE = "line"
LATEST = 1e11
"""A number of seconds beyond the year 5000 is no time that anyone means."""

_COLUMNS = (*SUBSCRIPTION_TEXTS, *SUBSCRIPTION_TIMES, LINE, BAD)
_SCHEMA = StructType([StructField(name, StringType()) for name in _COLUMNS])


def subscription_lines(lines: DataFrame) -> DataFrame:
    """The columns of each line as texts; a bad line has only itself and the reason."""
    return lines.select("value").mapInArrow(_read_lines, _SCHEMA)


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _read_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    for batch in batches:
        texts = (text for text in batch.column(0).to_pylist() if text and not text.isspace())
        yield pa.RecordBatch.from_pylist([_columns(text) for text in texts], schema)


def _columns(text: str) -> dict[str, Any]:
    try:
        given = json_object(text)
        row_of(given)
        times = {name: _time(name, given.get(name)) for name in SUBSCRIPTION_TIMES}
    except InvalidSubscription as refusal:
        return {LINE: text, BAD: str(refusal)}
    texts = {name: given.get(name) for name in SUBSCRIPTION_TEXTS}
    texts[SUBSCRIPTION_ID] = texts[SUBSCRIPTION_ID] or given.get(ID)
    return texts | times


def _time(name: str, value: Any) -> str | None:
    """A time as Spark reads it: seconds since 1970, or ISO 8601."""
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LATEST:
        return f"{value:.6f}"
    try:
        return datetime.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise InvalidSubscription(f"{name} is {value!r}, wanted a time") from None
