"""Globs are read as the literal pieces between their stars."""

import pytest

from ramify.model import Exact, Form, Glob
from ramify.patterns import glob

READ = [
    ("a?[b]+", Exact("a?[b]+")),
    ("*", Glob(("", ""))),
    ("***", Glob(("", ""))),
    ("a*", Glob(("a", ""))),
    ("*a", Glob(("", "a"))),
    ("a**b***c", Glob(("a", "b", "c"))),
    ("**a**", Glob(("", "a", ""))),
    ("a\\*", Glob(("a\\", ""))),
]


@pytest.mark.parametrize(("text", "form"), READ)
def test_a_text_becomes_its_form(text: str, form: Form) -> None:
    assert glob.parse(text).form == form
