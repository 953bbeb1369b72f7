"""Path patterns are read segment by segment."""

import pytest

from ramify.errors import InvalidPattern
from ramify.model import Exact, Form, Levels
from ramify.patterns import path

READ = [
    ("/a/b", Exact("/a/b")),
    ("a/+/#", Exact("a/+/#")),
    ("*", Levels(path.RULES, (None,))),
    ("/1/*", Levels(path.RULES, ("", "1", None))),
    ("*/", Levels(path.RULES, (None, ""))),
]


@pytest.mark.parametrize(("text", "form"), READ)
def test_a_text_becomes_its_form(text: str, form: Form) -> None:
    assert path.parse(text).form == form


@pytest.mark.parametrize(("text", "column"), [("/a*", 3), ("*/a*b", 4), ("**", 1), ("/a/**/b", 4)])
def test_a_star_inside_a_segment_is_refused_and_glob_is_named(text: str, column: int) -> None:
    with pytest.raises(InvalidPattern) as refused:
        path.parse(text)
    assert refused.value.column == column
    assert refused.value.reason == "'*' must fill its segment (the glob dialect takes it anywhere)"
