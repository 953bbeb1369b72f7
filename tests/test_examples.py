"""What the README shows is what the examples print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(example: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_and_prints(example: Path) -> None:
    assert run(example).strip()


def test_the_readme_shows_the_quickstart_and_its_output() -> None:
    readme = (ROOT / "README.md").read_text()
    code, output = re.findall(r"```(?:python|text)\n(.*?)```", readme, re.DOTALL)[:2]
    quickstart = ROOT / "examples" / "quickstart.py"
    assert quickstart.read_text().endswith(code)
    assert run(quickstart) == output


def test_every_page_that_a_page_links_to_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
