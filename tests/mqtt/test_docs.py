"""The page about MQTT shows what works, and cites what is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "mqtt.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda code: code.splitlines()[-1][:40])
def test_every_example_runs(example: str) -> None:
    exec(compile(example, str(PAGE), "exec"), {})


def test_every_clause_of_the_page_has_a_test() -> None:
    table = TEXT.split("## What is supported")[1].split("\n## ")[0]
    clauses = set(re.findall(r"\b\d[.-]\d+\.\d+-\d+", table))
    tests = "".join(
        file.read_text(encoding="utf-8") for file in (PAGE.parents[1] / "tests/mqtt").rglob("*.py")
    )
    assert {
        clause for clause in clauses if f"MQTT-{clause}]" not in tests and f'MQTT-{clause}"' not in tests
    } == set()
