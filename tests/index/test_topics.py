"""Whatever the dialect, a topic finds the items whose pattern matches."""

from hypothesis import given
from hypothesis import strategies as st

from ramify.index.topics import TopicIndex
from ramify.model import Pattern
from ramify.patterns import parse_pattern, pattern_matches
from tests.strategies import parsed_patterns, topics, topics_of


class Item:
    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern


@given(st.lists(parsed_patterns(), min_size=1, max_size=12), st.data())
def test_exactly_the_patterns_that_match_are_found(patterns: list[Pattern], data: st.DataObject) -> None:
    index, items = TopicIndex(Item), [Item(pattern) for pattern in patterns]
    for item in items:
        index.add(item.pattern.form, item)
    topic = data.draw(topics() | st.sampled_from(patterns).flatmap(topics_of))
    for gone in data.draw(st.lists(st.sampled_from(items), unique=True)):
        index.remove(gone.pattern.form, gone)
        items.remove(gone)
    assert sorted(index.find(topic), key=id) == sorted(
        (item for item in items if pattern_matches(item.pattern, topic)), key=id
    )
    for item in items:
        assert index.describe(item.pattern.form)
        index.remove(item.pattern.form, item)
    assert index._parts == ()
    assert not index._exact


def test_a_topic_asks_only_the_parts_that_hold_anything() -> None:
    index = TopicIndex(Item)
    texts = {"mqtt": "a/+", "nats": "a.*", "glob": "a*"}
    items = [Item(parse_pattern(text, dialect)) for dialect, text in texts.items()]
    for number, item in enumerate(items, 1):
        index.add(item.pattern.form, item)
        assert len(index._parts) == number
    index.remove(items[1].pattern.form, items[1])
    assert len(index._parts) == 2
