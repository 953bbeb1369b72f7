"""Runs the questions of this folder: every module that has a `main`, each in a process of its own.

python -m bench [--quick] [NAME …]
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent


def questions() -> list[str]:
    """The names of the modules that ask something."""
    files = sorted(FOLDER.glob("*.py"))
    return [file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8")]


def run_here(name: str, quick: bool) -> None:
    """Run one question in this process."""
    main = import_module(f"bench.{name}").main
    sys.argv = [name]  # some questions read options of their own
    if "quick" in inspect.signature(main).parameters:
        main(quick=quick)
    else:
        main()


def run_apart(name: str, quick: bool) -> int:
    """Run one question in a fresh process, so that no question inherits another's memory."""
    print(f"\n── {name} " + "─" * (90 - len(name)), flush=True)
    command = [sys.executable, "-m", "bench", "--here", name, *(["--quick"] if quick else [])]
    return subprocess.run(command, cwd=FOLDER.parent, check=False).returncode


def run() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure us beside the peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(questions())}; all if none")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, and the docs stay as they are")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(questions()))
    if unknown:
        parser.error(f"no such question: {', '.join(unknown)}; there are {', '.join(questions())}")
    if options.here:
        for name in options.names:
            run_here(name, options.quick)
        return 0
    failed = [name for name in options.names or questions() if run_apart(name, options.quick)]
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run())
