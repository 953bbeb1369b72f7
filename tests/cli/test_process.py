"""The real command: its start, its pipes, its signals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

from ramify.cli import exits
from tests.cli.console import example_file

RAMIFY = [sys.executable, "-m", "ramify"]


def test_help_starts_without_the_heavy_libraries() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from ramify.cli import app;"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0;"
        "print([name for name in ('numpy', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_version_is_shown() -> None:
    assert subprocess.check_output([*RAMIFY, "--version"]).startswith(b"ramify 0.")


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.jsonl"
    path.write_text(example_file(), encoding="utf-8")
    with subprocess.Popen(
        [*RAMIFY, "match", "-", "-s", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018
        process.stdin.write(b"plant/7/temp\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"plant/7/temp: 3\n"
        process.stdout.close()
        process.stdin.write(b"plant/7/temp\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == exits.PIPE_CLOSED


def test_an_interrupt_ends_the_command_quietly(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.jsonl"
    path.write_text(example_file(), encoding="utf-8")
    with subprocess.Popen(
        [*RAMIFY, "match", "-", "-s", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018
        process.stdin.write(b"plant/7/temp\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == exits.INTERRUPTED
        assert process.stderr.read() == b""


def test_an_encoding_that_lacks_a_letter_gets_its_escape() -> None:
    line = '{"id": "日", "subscriber": "a", "pattern": "x"}'
    done = subprocess.run(
        [*RAMIFY, "match", "x", "-s", "-"],
        input=line.encode(),
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert rb"\u65e5" in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_gets_a_framed_table(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.jsonl"
    path.write_text('{"id": "s", "subscriber": "a", "pattern": "x/[red]"}', encoding="utf-8")
    ours, theirs = pty.openpty()
    done = subprocess.run([*RAMIFY, "match", "x/[red]", "-s", str(path)], stdout=theirs, check=False)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "┃" in shown
    assert "x/[red]" in shown
