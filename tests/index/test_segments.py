"""Level patterns are found by probes or a trie, whichever they are in, and move between them unseen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.index import segments as module
from ramify.index.segments import DEEP, MANY_SHAPES, SegmentIndex
from ramify.model import LevelRules, Levels, Rest
from ramify.patterns import mqtt, nats, path
from ramify.patterns.reference import levels_match

RULES = [mqtt.RULES, nats.RULES, path.RULES]

words = st.sampled_from(["a", "b", "", "$a"])
forms = st.tuples(st.lists(st.none() | words, max_size=4), st.sampled_from(Rest)).filter(
    lambda parts: parts[0] or parts[1] is not Rest.NONE
)


class Item:
    def __init__(self, form: Levels) -> None:
        self.form = form


def found(index: SegmentIndex, topic: str) -> list[Any]:
    out: list[Any] = []
    index.find(topic, out, Item)
    return sorted(out, key=id)


def filled(*texts: str) -> tuple[SegmentIndex, list[Item]]:
    index, items = SegmentIndex(mqtt.RULES), []
    for text in texts:
        form = mqtt.parse(text).form
        assert isinstance(form, Levels)
        items.append(Item(form))
        index.add(form, items[-1])
    return index, items


@pytest.mark.parametrize("limit", [0, 2, 24])
@pytest.mark.parametrize("rules", RULES)
def test_exactly_the_patterns_that_match_are_found(
    rules: LevelRules, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY_SHAPES", limit)

    @given(st.lists(forms, max_size=12), st.lists(words, min_size=1, max_size=5), st.data())
    def check(
        parts: list[tuple[list[str | None], Rest]], topic_words: list[str], data: st.DataObject
    ) -> None:
        index = SegmentIndex(rules)
        items = [Item(Levels(rules, tuple(levels), rest)) for levels, rest in parts]
        for item in items:
            index.add(item.form, item)
        for gone in data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []:
            index.remove(gone.form, gone)
            items.remove(gone)
        topic = rules.separator.join(topic_words)
        assert found(index, topic) == sorted((i for i in items if levels_match(i.form, topic)), key=id)
        assert index.is_empty is not bool(items)

    check()


def test_a_class_of_too_many_shapes_moves_into_a_trie_and_other_classes_stay() -> None:
    texts = [f"{'+/' * (n % 16)}a/{'b/' * (n // 16)}#" for n in range(MANY_SHAPES + 1)]
    index, items = filled("+/x", *texts)
    assert index.describe(items[1].form).startswith("trie")
    assert index.describe(items[0].form) == "split at '/', 2 levels, look at 2"
    assert found(index, "a/x") == sorted(items[:2], key=id)
    for item in items[1:]:
        index.remove(item.form, item)
    assert not index._layout.tries


def test_classes_that_move_one_after_the_other_are_all_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_SHAPES", 1)
    index, items = filled("+/b", "a/+", "+/b/#", "a/+/#", "+/+")
    assert len(index._layout.tries) == 2
    assert found(index, "a/b") == sorted(items, key=id)


def test_a_deep_pattern_starts_in_a_trie() -> None:
    deep = "/".join("+" * (DEEP + 1))
    index, (item, rest) = filled(deep, f"{deep}/#")
    assert index.describe(item.form).startswith("trie")
    topic = "/".join("a" * (DEEP + 1))
    assert found(index, topic) == sorted([item, rest], key=id)
    assert found(index, f"{topic}/a") == [rest]
    assert found(index, "a") == []


def test_a_reader_in_the_old_layout_still_finds_what_was_there() -> None:
    texts = [f"{'+/' * n}#" for n in range(1, MANY_SHAPES + 1)]
    index, items = filled(*texts)
    topic = "/".join("a" * MANY_SHAPES)
    old = index._layout
    form = mqtt.parse("b/#").form
    assert isinstance(form, Levels)
    index.add(form, Item(form))
    index._layout, new = old, index._layout
    assert found(index, topic) == sorted(items, key=id)
    index._layout = new
    assert found(index, topic) == sorted(items, key=id)


def test_a_trie_that_has_just_gone_does_not_fail_a_reader() -> None:
    layout = filled("/".join("+" * 40))[0]._layout
    layout.tries.clear()
    assert layout.tries_for(40) == ()
