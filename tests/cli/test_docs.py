"""The page about the command line shows what the commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.cli.exits import MEANINGS
from ramify.files.rows import COLUMNS
from ramify.lint import Kind
from tests.cli.console import PAGE, examples, printed


@pytest.mark.parametrize(("command", "shown"), examples(), ids=[command for command, _ in examples()])
def test_every_command_prints_what_the_page_shows(command: str, shown: str, tmp_path: Path) -> None:
    assert printed(command, tmp_path) == shown


def test_the_page_names_every_exit_status_column_and_kind_of_finding() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for status in MEANINGS:
        assert f"| {status} |" in page
    for name in (*COLUMNS, *Kind):
        assert f"| `{name}`" in page
