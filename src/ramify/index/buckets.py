"""What an index keeps under one key: one item bare, a few in a list, many in an ordered set.

Most keys hold one subscription, and a container for each of them would double the memory and
add a cache miss to every match. Some keys hold a million, and then removing one must not scan
the rest. So what is held grows with its company: the item itself, a list, and from `CROWD`
items on a dict whose keys are the items in order of arrival. Both containers are poured into
an answer with one `+=`, which no other thread can interrupt.

Items are compared by identity and are never lists or dicts themselves. `None` is nothing held.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CROWD = 32

Held = Any
"""An item, a list of items, or a dict with items for keys."""


def joined(held: Held, item: object) -> Held:
    """What is held once an item has come."""
    if held is None:
        return item
    if type(held) is dict:
        held[item] = None
        return held
    if type(held) is not list:
        return [held, item]
    if len(held) < CROWD:
        held.append(item)
        return held
    return {**dict.fromkeys(held), item: None}


def parted(held: Held, item: object) -> Held:
    """What is held once an item has gone."""
    if type(held) is dict:
        del held[item]
        return held if len(held) > CROWD // 2 else list(held)
    if type(held) is not list:
        return None
    held.remove(item)
    return held if len(held) > 1 else held[0]


def put(table: dict[Any, Held], key: Any, item: object) -> None:
    """Add an item under a key."""
    held = table.get(key)
    if held is None:
        table[key] = item
    else:
        table[key] = joined(held, item)


def drop(table: dict[Any, Held], key: Any, item: object) -> None:
    """Remove an item that was put under this key; the key goes with its last item."""
    held = parted(table[key], item)
    if held is None:
        del table[key]
    else:
        table[key] = held


def items_of(held: Held) -> Iterable[Any]:
    """Everything that is held."""
    if held is None:
        return ()
    return held if type(held) is list or type(held) is dict else (held,)


def count_of(held: Held) -> int:
    """How many items are held."""
    if held is None:
        return 0
    return len(held) if type(held) is list or type(held) is dict else 1
