"""NATS patterns are read token by token."""

import pytest

from ramify.errors import InvalidPattern
from ramify.model import Exact, Form, Levels, Rest
from ramify.patterns import nats, wamp

READ = [
    ("a.b", Exact("a.b")),
    ("*", Levels(nats.RULES, (None,))),
    (">", Levels(nats.RULES, (), Rest.SOME)),
    ("a.*.>", Levels(nats.RULES, ("a", None), Rest.SOME)),
    ("_.*", Levels(nats.RULES, ("_", None))),
]

REFUSED = [
    ("", 1, "a token has at least one character"),
    (".a", 1, "a token has at least one character"),
    ("a.", 3, "a token has at least one character"),
    ("a..>", 3, "a token has at least one character"),
    ("a b", 2, "whitespace is not allowed"),
    ("a.b\n", 4, "whitespace is not allowed"),
    (" ", 1, "whitespace is not allowed"),
    ("a.>.b", 3, "'>' stands only as the last token"),
    ("a.b>", 4, "'>' must fill its token"),
    ("a*.b", 2, "'*' must fill its token"),
    ("*>", 1, "'*' must fill its token"),
]


@pytest.mark.parametrize(("text", "form"), READ)
def test_a_text_becomes_its_form(text: str, form: Form) -> None:
    assert nats.parse(text).form == form


@pytest.mark.parametrize(("text", "column", "reason"), REFUSED)
def test_a_bad_token_is_named_with_its_column(text: str, column: int, reason: str) -> None:
    with pytest.raises(InvalidPattern) as refused:
        nats.parse(text)
    assert (refused.value.column, refused.value.reason) == (column, reason)


def test_nats_and_wamp_split_alike_so_that_they_share_probes() -> None:
    assert nats.RULES == wamp.RULES
