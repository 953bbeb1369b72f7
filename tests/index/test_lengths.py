"""Texts in tables by length, and only so many lengths."""

from ramify.index.lengths import MANY_LENGTHS, LengthTables


def test_lookups_are_ascending_and_only_of_lengths_in_use() -> None:
    tables, item = LengthTables(), object()
    for text in ("abc", "a", "abcde", "xyz"):
        tables.add(text, item)
    assert [length for length, _ in tables.lookups] == [1, 3, 5]
    tables.remove("a", item)
    tables.remove("abc", item)
    assert [length for length, _ in tables.lookups] == [3, 5]
    assert dict(tables.lookups)[3]("xyz") is item


def test_a_new_length_is_refused_past_the_limit_and_a_known_one_is_not() -> None:
    tables = LengthTables()
    for length in range(1, MANY_LENGTHS + 1):
        assert tables.takes(length)
        tables.add("a" * length, object())
    assert tables.takes(1)
    assert not tables.takes(MANY_LENGTHS + 1)
