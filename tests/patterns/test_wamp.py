"""WAMP patterns are read in ramify's notation, or as the option `match` says."""

import pytest

from ramify.errors import InvalidPattern, InvalidSubscription
from ramify.model import Exact, Form, Glob, Levels, Rest
from ramify.patterns import wamp

READ = [
    ("a.b", None, Exact("a.b")),
    ("a_b.c", None, Exact("a_b.c")),
    ("a.fo*", None, Exact("a.fo*")),
    ("_", None, Levels(wamp.RULES, (None,))),
    ("", None, Levels(wamp.RULES, (None,))),
    ("a..b", None, Levels(wamp.RULES, ("a", None, "b"))),
    ("a._.", None, Levels(wamp.RULES, ("a", None, None))),
    ("*", None, Levels(wamp.RULES, (), Rest.SOME)),
    ("_.a.*", None, Levels(wamp.RULES, (None, "a"), Rest.SOME)),
    ("a.*", "exact", Exact("a.*")),
    ("a..b", "exact", Exact("a..b")),
    ("a.b", "prefix", Glob(("a.b", ""))),
    ("", "prefix", Glob(("", ""))),
    ("a._.*", "wildcard", Exact("a._.*")),
    ("a._.", "wildcard", Levels(wamp.RULES, ("a", "_", None))),
    ("*..", "wildcard", Levels(wamp.RULES, ("*", None, None))),
]


@pytest.mark.parametrize(("text", "match", "form"), READ)
def test_a_text_becomes_its_form(text: str, match: str | None, form: Form) -> None:
    assert wamp.parse(text, match=match).form == form


@pytest.mark.parametrize(("text", "column"), [("*.a", 1), ("a.*.b", 3), ("*.*", 1), ("a..*.b.*", 4)])
def test_a_rest_before_the_end_is_refused(text: str, column: int) -> None:
    with pytest.raises(InvalidPattern) as refused:
        wamp.parse(text)
    assert (refused.value.column, refused.value.reason) == (column, "'*' stands only as the last component")


def test_the_empty_text_names_no_single_topic() -> None:
    with pytest.raises(InvalidPattern, match="at least one character"):
        wamp.parse("", match="exact")


def test_an_unknown_match_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidSubscription, match="exact, prefix, wildcard or nothing, not 'regex'"):
        wamp.parse("a", match="regex")
