"""What is held under a key grows with its company, and shrinks with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.index.buckets import CROWD, Held, count_of, drop, items_of, joined, parted, put


class Item:
    pass


def filled(number: int) -> tuple[Held, list[Item]]:
    held, items = None, [Item() for _ in range(number)]
    for item in items:
        held = joined(held, item)
    return held, items


@pytest.mark.parametrize(
    ("number", "kind"), [(0, type(None)), (1, Item), (2, list), (CROWD, list), (CROWD + 1, dict), (100, dict)]
)
def test_what_is_held_suits_how_many_there_are(number: int, kind: type) -> None:
    held, items = filled(number)
    assert type(held) is kind
    assert list(items_of(held)) == items
    assert count_of(held) == number


def test_a_crowd_that_shrinks_becomes_a_list_only_when_it_is_half() -> None:
    held, items = filled(CROWD + 1)
    while len(items) > CROWD // 2 + 1:
        held = parted(held, items.pop())
        assert type(held) is dict
    held = parted(held, items.pop())
    assert type(held) is list
    assert held == items


def test_a_reader_keeps_what_it_took_when_the_kind_of_container_changes() -> None:
    held, items = filled(CROWD)
    more = joined(held, Item())
    assert held == items
    assert count_of(more) == CROWD + 1


@given(st.lists(st.booleans(), max_size=150))
def test_items_come_and_go_in_order_of_arrival(comings: list[bool]) -> None:
    table: dict[str, Held] = {}
    expected: list[Item] = []
    for is_coming in comings:
        if is_coming or not expected:
            expected.append(Item())
            put(table, "key", expected[-1])
        else:
            drop(table, "key", expected.pop(len(expected) // 2))
        assert list(items_of(table.get("key"))) == expected
    assert ("key" in table) is bool(expected)
