"""Puts what Spark throws into one sentence that names the place: users see no stack of Java.

Spark's errors carry a condition in brackets, such as `[PATH_NOT_FOUND]`; the usual ones have
words of our own in a table, and of the others the first sentence is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from ramify.errors import InvalidFile, JobFailed, RamifyError

LONGEST = 300

UNUSABLE: dict[str, str] = {
    "PATH_NOT_FOUND": "there is nothing at this path",
    "PATH_ALREADY_EXISTS": "is there already; --overwrite replaces it",
    "UNABLE_TO_INFER_SCHEMA": "no columns are found; is the folder empty?",
    "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER": "holds a file that is no Parquet",
    "CONFLICTING_DIRECTORY_STRUCTURES": "the folders below are partitioned in different ways",
    "CONFLICTING_PARTITION_COLUMN_NAMES": "the folders below are partitioned in different ways",
    "TABLE_OR_VIEW_NOT_FOUND": "there is no such table",
    "UNSUPPORTED_OVERWRITE.PATH": "is read from as well; write elsewhere",
}
"""The path is at fault, for this reason."""

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]\s*")
_TRAIL = re.compile(r"\s*SQLSTATE:.*", re.DOTALL)
_CLASS = re.compile(r"^(?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?::\s*|$)")


@contextmanager
def told_plainly(place: str) -> Iterator[None]:
    """Let whatever Spark throws here name this place, in a sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise refusal_of(error, place) from error


def refusal_of(error: Exception, place: str) -> RamifyError:
    """Our error for one of Spark's."""
    said = _deepest(error)
    found = _CONDITION.search(said)
    reason = UNUSABLE.get(found[1]) if found else None
    if reason is not None:
        return InvalidFile(place, reason)
    if isinstance(error, PySparkException) and not isinstance(error, Py4JError):
        return InvalidFile(place, sentence(said))
    return JobFailed(place, sentence(said))


def sentence(said: str) -> str:
    """The first sentence of what Spark said, without codes."""
    if "Traceback (most recent call last)" in said:
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
        said = next(
            (line for line in reversed(lines) if re.match(r"[\w.]+(?:Error|Exception)?: ", line)), said
        )
    said = _TRAIL.sub("", _CONDITION.sub("", said, count=1)).strip()
    # What follows an empty line, a sign of SQL or a place in Java is for Spark's makers.
    first = " ".join(re.split(r"\n\s*\n|\n==|\n\s+at ", said)[0].split()) or "Spark gives no reason"
    first = _CLASS.sub("", first) or first
    return first if len(first) <= LONGEST else f"{first[:LONGEST]}…"


def _deepest(error: Exception) -> str:
    """What the innermost cause says; the outer ones only say that a job was aborted."""
    if not isinstance(error, Py4JJavaError):
        return str(error)
    cause, said = error.java_exception, ""
    for _ in range(20):
        if cause is None:
            break
        said = cause.getMessage() or said
        if (found := _CONDITION.search(said)) and found[1] in UNUSABLE:
            break
        cause = cause.getCause()
    return said or str(error).splitlines()[0]
