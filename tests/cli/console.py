"""The commands that a page shows, what it says they print, and what they really print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

_BLOCK = re.compile(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    """Each command of the page, with the output shown below it."""
    return _BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def example_file() -> str:
    """The subscriptions that the page shows."""
    return PAGE.read_text(encoding="utf-8").split("```jsonl\n")[1].split("```")[0]


def printed(command: str, folder: Path) -> str:
    """Run a command line as the reader of the page would, and see what a terminal would show."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (folder / "subscriptions.jsonl").write_text(example_file(), encoding="utf-8")
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


def rewrite() -> None:
    """Put what the commands print into the page: `python -m tests.cli.console`, then read the diff."""
    from tempfile import TemporaryDirectory

    def shown(block: re.Match[str]) -> str:
        with TemporaryDirectory() as folder:
            return f"```console\n$ {block[1]}\n{printed(block[1], Path(folder))}```"

    PAGE.write_text(_BLOCK.sub(shown, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
