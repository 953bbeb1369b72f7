"""A glob that must be verified is looked at only by topics that have its rarest bit."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ramify.index.grams import GramIndex
from ramify.model import Glob
from ramify.patterns.reference import pieces_match

letters = st.text("ab/", max_size=10)
globs = (
    st.tuples(letters, st.lists(letters.filter(bool), max_size=3), letters)
    .map(lambda parts: Glob((parts[0], *parts[1], parts[2])))
    .filter(lambda glob: any(glob.pieces))
)


class Item:
    def __init__(self, glob: Glob) -> None:
        self.glob = glob


def found(index: GramIndex, topic: str) -> list[Any]:
    out: list[Any] = []
    index.find(topic, out, Item)
    return sorted(out, key=id)


@given(st.lists(globs, max_size=12), st.text("ab/", max_size=24), st.data())
def test_exactly_the_globs_that_match_are_found(forms: list[Glob], topic: str, data: st.DataObject) -> None:
    index, items = GramIndex(), [Item(form) for form in forms]
    for item in items:
        index.add(item.glob, item)
    for gone in data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []:
        index.remove(gone.glob, gone)
        items.remove(gone)
    assert found(index, topic) == sorted((i for i in items if pieces_match(i.glob.pieces, topic)), key=id)


def test_the_rarer_gram_is_chosen() -> None:
    index = GramIndex()
    for number in range(20):
        form = Glob(("", f"same{number:04}", ""))
        index.add(form, Item(form))
    assert {len(index.describe(form)) for form in index._candidates} == {len("has the gram 'same0000'")}
    assert all(type(held).__name__ == "_Candidate" for held in index._grams[8].values())


def test_an_emptied_table_costs_a_topic_nothing() -> None:
    index = GramIndex()
    forms = [Glob(("", "a", "")), Glob(("", "abcdefgh", ""))]
    items = [Item(form) for form in forms]
    for item in items:
        index.add(item.glob, item)
    index.remove(forms[1], items[1])
    assert found(index, "xax") == [items[0]]
    assert not any(index._grams[8].values())


def test_globs_that_share_common_pieces_are_told_apart_by_their_rare_ones() -> None:
    index = GramIndex()
    for number in range(2_000):
        glob = Glob(("", f"/plant-{number % 7}/", f"device-{number:05}", ""))
        index.add(glob, Item(glob))
    sharing = [
        len(index._sharing_a_key(f"/plant-3/x/device-{number:05}/temp")) for number in range(1_000, 1_100)
    ]
    assert sum(sharing) / len(sharing) < 20
