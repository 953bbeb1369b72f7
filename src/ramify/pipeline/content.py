"""The content of events on its way to Python: only what criteria ask for, whatever its type.

A struct is cut down to the names that criteria begin with. A VARIANT crosses as the JSON that
it writes. JSON text crosses as it is, and what cannot be read as an object is a fault of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType, VariantType

from ramify.criteria import MISSING, Predicate, compile_term, parse_criteria, resolve
from ramify.criteria.atoms import atoms_of
from ramify.criteria.kinds import Kind, kind_of
from ramify.frozen.columns import Contents, nearest_float
from ramify.frozen.tables import TextTable
from ramify.model import Path, Scalar, Term
from ramify.pipeline.schema import FIELDS, content_type, quoted

_NO_CONSTANTS = TextTable.build([], 0)
_FAULTS = (msgspec.MsgspecError, RecursionError, ValueError)


def crossing(schema: StructType, fields: str | None, names: Iterable[str] | None = None) -> Column | None:
    """The column that Python needs to judge criteria over these names, or any; `None` without content."""
    kind = content_type(schema, fields)
    column = F.col(quoted(fields or FIELDS))
    if kind is None or isinstance(kind, StringType):
        return None if kind is None else column
    if isinstance(kind, VariantType):
        return F.to_json(column)
    if not isinstance(kind, StructType) or names is None:
        return column
    kept = [name for name in kind.names if name in set(names)]
    return F.struct(*(column.getField(name).alias(name) for name in kept)) if kept else None


def is_json(schema: StructType, fields: str | None) -> bool:
    """Whether the content is text that may turn out not to be JSON."""
    return isinstance(content_type(schema, fields), StringType)


def names_of(term: Term) -> Iterator[str]:
    """The names that the paths of a term begin with."""
    return (atom.path[0] for atom in atoms_of(term))


# ── in the workers ────────────────────────────────────────────────────────────────────────


def fault_of(text: str | None) -> str | None:
    """Why a text is not the content of an event; no text at all is no content, and no fault."""
    if text is None:
        return None
    try:
        value = msgspec.json.decode(text)
    except _FAULTS as error:
        return f"the content is not JSON: {str(error) or 'nested too deeply'}"
    return None if isinstance(value, dict) else "the content is not an object"


def faults(contents: pa.Array) -> list[str | None]:
    """The fault of each row; only texts have any."""
    if not pa.types.is_string(contents.type) and not pa.types.is_large_string(contents.type):
        return [None] * len(contents)
    return [fault_of(text) for text in contents.to_pylist()]


def without(contents: pa.Array, found: list[str | None]) -> pa.Array:
    """The contents, with none where a fault was found."""
    if not any(found):
        return contents
    is_faulty = pa.array([fault is not None for fault in found])
    return pc.if_else(is_faulty, pa.scalar(None, contents.type), contents)


def rows_of(contents: pa.Array) -> Callable[[int], Any]:
    """The fields of each row, as dicts."""
    return Contents(without(contents, faults(contents)), len(contents), _NO_CONSTANTS).row


def seen_at(contents: pa.Array, paths: list[Path]) -> list[list[str | None]]:
    """What stands at each path, in every row, as texts that are equal wherever the values are."""
    row = rows_of(contents)
    return [[canonical(resolve(row(at) or {}, path)) for path in paths] for at in range(len(contents))]


def canonical(value: Any) -> str | None:
    """A text that equal values share; unequal ones may share it too, so it proves nothing."""
    if value is MISSING:
        return None
    kind = kind_of(value)
    if kind is Kind.NUMBER:
        near = nearest_float(value)[0]
        return None if near != near else f"n{near + 0.0!r}"  # adding 0.0 makes -0.0 a 0.0
    if kind is Kind.TEXT:
        text: str = value.encode("utf-8", "replace").decode()
        return f"s{text}"
    return f"b{value:d}" if kind is Kind.BOOLEAN else None


def held(contents: pa.Array, criteria: list[str | None]) -> list[bool]:
    """Whether the criteria beside each content hold; none at all always do."""
    row = rows_of(contents)
    return [text is None or _predicate(text)(row(at) or {}) for at, text in enumerate(criteria)]


@lru_cache(maxsize=100_000)
def _predicate(text: str) -> Predicate:
    return compile_term(parse_criteria(text).term)


def scalar_text(value: Scalar) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()
