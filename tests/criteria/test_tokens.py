from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.criteria.tokens import is_plain_name, read_path, read_text, scan, start_of


def test_a_text_is_cut_into_kinds() -> None:
    assert scan("a.b >= -2.5 AND(c=1)") == [
        ("field", "a.b"),
        ("operator", ">="),
        ("decimal", "-2.5"),
        ("and", "AND"),
        ("(", "("),
        ("field", "c"),
        ("operator", "="),
        ("integer", "1"),
        (")", ")"),
        ("end", ""),
    ]


def test_a_quote_that_is_doubled_does_not_close() -> None:
    assert scan("'a''b'")[0] == ("text", "'a''b'")
    assert scan("'a''")[0] == ("unclosed", "'")


@pytest.mark.parametrize("text", ["5abc", "1.2.3", "5.", "1e", "0x1F", "1_000"])
def test_what_only_starts_as_a_number_is_malformed(text: str) -> None:
    assert scan(text)[0] == ("malformed", text)


@given(st.text(alphabet="ab \"'.=<1(,\\%\n-", max_size=30))
def test_the_tokens_of_any_text_are_in_it_where_they_say(text: str) -> None:
    for index, (_, word) in enumerate(scan(text)):
        assert text.startswith(word, start_of(text, index))


@given(st.text(max_size=30))
def test_every_text_ends_with_the_end(text: str) -> None:
    assert scan(text)[-1] == ("end", "")


def test_digits_of_other_scripts_are_not_numbers() -> None:
    assert scan("٣")[0][0] == "odd"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ('"a.b".c', ("a.b", "c")),
        ('"say ""hi"""', ('say "hi"',)),
        ('""', ("",)),
    ],
)
def test_a_path_is_cut_at_dots_outside_quotes(text: str, path: tuple[str, ...]) -> None:
    assert read_path(text) == path


def test_a_text_loses_its_quotes() -> None:
    assert read_text("'it''s'") == "it's"


@pytest.mark.parametrize(
    ("name", "is_plain"),
    [
        ("price", True),
        ("größe", True),
        ("_x1", True),
        ("1x", False),
        ("a-b", False),
        ("AND", False),
        ("", False),
    ],
)
def test_an_odd_name_needs_quotes(name: str, is_plain: bool) -> None:
    assert is_plain_name(name) is is_plain
