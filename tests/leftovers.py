"""Looks behind the scenes: that an index keeps nothing that it does not need."""

from __future__ import annotations

from typing import Any

from ramify.index.bounds import Bounds
from ramify.index.buckets import items_of
from ramify.index.content import Content
from ramify.index.globs import GlobIndex
from ramify.index.segments import SegmentIndex
from ramify.index.topics import TopicIndex
from ramify.index.trie import Trie, _Node
from ramify.router import Router


def assert_nothing_is_left(router: Router) -> None:
    """Every table of an emptied router is empty."""
    assert len(router) == 0
    assert not router._registry._by_subscriber
    assert not router._registry._by_pattern
    assert not router._groups
    assert not vars(router._policy).get("_turns")
    assert not vars(router._policy).get("_chosen")
    assert not router._index._contents
    assert not router._index._candidates
    for topics in (router._index._plain, router._index._conditional):
        _assert_no_topic_is_left(topics)


def assert_tidy(router: Router) -> None:
    """Nothing empty hangs about in a router that is in use, and all counts are right."""
    for content in router._index._contents.values():
        assert not content.is_empty
        _assert_content_is_tidy(content)
    for topics in (router._index._plain, router._index._conditional):
        assert all(not part.is_empty for part in topics._parts)
        for segments in topics._segments.values():
            assert all(segments._layout.shapes.values())
            assert all(
                shape.table for shapes in segments._layout.shapes.values() for shape in shapes.values()
            )
            for trie in segments._layout.tries.values():
                _assert_trie_is_tidy(trie)


def _assert_no_topic_is_left(topics: TopicIndex[Any]) -> None:
    assert not topics._exact
    assert topics._parts == ()
    assert all(_is_bare(segments) for segments in topics._segments.values())
    _assert_no_glob_is_left(topics._globs)


def _is_bare(segments: SegmentIndex) -> bool:
    return segments.is_empty and not segments._layout.shapes and not segments._layout.tries


def _assert_no_glob_is_left(globs: GlobIndex) -> None:
    assert globs.is_empty
    assert globs._every is None
    assert not globs._prefixes._tables
    assert not globs._suffixes._tables
    assert not globs._others._candidates
    for tables in (globs._others._grams, globs._others._heads, globs._others._tails):
        assert not any(tables.values())


def _assert_trie_is_tidy(trie: Trie) -> None:
    nodes: list[_Node] = [trie._root]
    while nodes:
        node = nodes.pop()
        assert not node.is_empty
        nodes += node.children.values()
        nodes += [] if node.wild is None else [node.wild]


def _assert_content_is_tidy(content: Content) -> None:
    size = len(list(items_of(content._always))) + len(list(items_of(content._tested)))
    for table in (*content._equal.values(), *content._cells.values()):
        assert table
        size += sum(_size_of(held) for held in table.values())
    for bounds in content._bounds.values():
        assert bounds
        size += _checked_bounds(bounds)
    assert content.filed() == size


def _size_of(held: Any) -> int:
    if isinstance(held, Content):
        assert not held.is_empty
        _assert_content_is_tidy(held)
        return held.filed()
    return len(list(items_of(held)))


def _checked_bounds(bounds: Bounds) -> int:
    starts, blocks = bounds._blocks
    assert all(blocks)
    assert starts == tuple(block[0].bound for block in blocks)
    places = [(candidate.bound, candidate.slot) for block in blocks for candidate in block]
    assert places == sorted(places)
    return len(places)
