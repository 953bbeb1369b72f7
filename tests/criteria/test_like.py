from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.criteria.like import EscapeError, read_like, write_like


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Foo", ("Foo",)),
        ("Foo%", ("Foo", "")),
        ("%", ("", "")),
        ("%%%", ("", "")),
        ("%a%%b%", ("", "a", "b", "")),
        (r"100\%", ("100%",)),
        (r"\\%", ("\\", "")),
        ("a_c", ("a_c",)),
        ("", ("",)),
    ],
)
def test_a_percent_sign_cuts_unless_escaped(text: str, pieces: tuple[str, ...]) -> None:
    assert read_like(text) == pieces


@pytest.mark.parametrize(("text", "position"), [("\\", 0), ("ab\\n", 2), (r"\\\a", 2)])
def test_a_lone_backslash_is_refused_where_it_stands(text: str, position: int) -> None:
    with pytest.raises(EscapeError) as caught:
        read_like(text)
    assert caught.value.position == position


@given(
    st.text(alphabet="ab%\\_'"), st.lists(st.text(alphabet="ab%\\_'", min_size=1)), st.text(alphabet="ab%\\")
)
def test_writing_and_reading_gives_the_pieces_back(first: str, inner: list[str], last: str) -> None:
    pieces = (first, *inner, last)
    assert read_like(write_like(pieces)) == pieces
