"""Every clause that the code cites has a test with the same tag."""

from __future__ import annotations

import re
from pathlib import Path

import ramify.mqtt

CLAUSE = re.compile(r"MQTT-\d[-.]\d+\.\d+-\d+")


def cited(folder: Path) -> set[str]:
    return {tag for file in folder.glob("*.py") for tag in CLAUSE.findall(file.read_text(encoding="utf-8"))}


def test_every_cited_clause_has_a_test() -> None:
    code = cited(Path(ramify.mqtt.__file__).parent)
    assert len(code) > 40
    assert code - cited(Path(__file__).parent) == set()
