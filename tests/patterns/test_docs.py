"""The normative page says what the reference does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.errors import InvalidPattern
from ramify.model import Dialect
from ramify.patterns import matches, parse_pattern

PAGE = Path(__file__).parents[2] / "docs" / "patterns.md"


def rows_of(section: str) -> list[list[str]]:
    """The cells of all the tables in a section, without their code marks."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


EXAMPLES = [
    (dialect, row[0], row[1] if len(row) == 4 else "", "" if row[-2].startswith("(") else row[-2], row[-1])
    for dialect in Dialect
    for row in rows_of(dialect)
    if row[-1] in ("yes", "no")
]


@pytest.mark.parametrize(("dialect", "pattern", "option", "topic", "answer"), EXAMPLES)
def test_every_example_is_true(dialect: Dialect, pattern: str, option: str, topic: str, answer: str) -> None:
    assert matches(dialect, pattern, topic, match=option or None) is (answer == "yes")


@pytest.mark.parametrize(
    ("text", "dialect", "column", "reason"), [row for row in rows_of("Errors") if row[2].isdigit()]
)
def test_every_error_is_as_shown(text: str, dialect: str, column: str, reason: str) -> None:
    with pytest.raises(InvalidPattern) as refused:
        parse_pattern(text, dialect)
    assert (refused.value.column, refused.value.reason) == (int(column), reason)
