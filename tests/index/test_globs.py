"""Globs are found by their ends, or by their rarest gram."""

import pytest

from ramify.index.globs import GlobIndex
from ramify.index.lengths import MANY_LENGTHS
from ramify.model import Glob
from ramify.patterns import parse_pattern


class Item(str):
    __slots__ = ()


def glob(text: str) -> Glob:
    form = parse_pattern(text, "glob").form
    assert isinstance(form, Glob)
    return form


def found(index: GlobIndex, topic: str) -> list[str]:
    out: list[Item] = []
    index.find(topic, out, Item)
    return sorted(out)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("*", "every topic"),
        ("abc*", "starts with 'abc'"),
        ("*abc", "ends with 'abc'"),
        ("abcd*x", "starts with 'abcd'"),
        ("*a*", "has the gram 'a'"),
        ("*plants*", "has the gram 'plants'"),
    ],
)
def test_a_glob_says_what_it_is_filed_under(text: str, key: str) -> None:
    index = GlobIndex()
    index.add(glob(text), Item())
    assert index.describe(glob(text)) == key


def test_a_length_too_many_is_filed_elsewhere_and_found_and_removed_all_the_same() -> None:
    index = GlobIndex()
    texts = [f"{'a' * length}*" for length in range(1, MANY_LENGTHS + 9)]
    items = {text: [Item(text), Item(text)] for text in texts}
    for text, both in items.items():
        for item in both:
            index.add(glob(text), item)
    topic = "a" * (MANY_LENGTHS + 20)
    assert len(found(index, topic)) == 2 * len(texts)
    first, last = texts[0], texts[-1]
    for item in items.pop(first):
        index.remove(glob(first), item)  # a length is free again, and the last glob stays where it is
    index.add(glob(last), Item("third"))
    assert found(index, topic).count(last) == 2
    assert "third" in found(index, topic)
    for item in items.pop(last):
        index.remove(glob(last), item)
    assert last not in found(index, topic)


def test_ends_do_not_overlap() -> None:
    index = GlobIndex()
    index.add(glob("aba*bab"), Item("x"))
    assert found(index, "abab") == []
    assert found(index, "ababab") == ["x"]


def test_an_emptied_index_says_so() -> None:
    index, item = GlobIndex(), Item()
    for text in ("*", "a*", "*a", "a*a", "*a*"):
        index.add(glob(text), item)
        assert found(index, "aa") == [item]
        index.remove(glob(text), item)
        assert index.is_empty
        assert found(index, "aa") == []
