"""A router does what the scripted stores did, step by step."""

from collections import Counter
from collections.abc import Callable

import pytest

from ramify.router import Router
from tests.cases import load
from tests.cases.load import StoreScript, StoreStep, TrieOp, TrieScript

ROUTERS: dict[str, Callable[[], Router]] = {"plain": Router, "cached": lambda: Router(cache=3)}

every_router = pytest.mark.parametrize("make", ROUTERS.values(), ids=ROUTERS.keys())

REMOVALS: dict[str, Callable[[Router, StoreStep], list[str]]] = {
    "remove_id": lambda router, step: router.unsubscribe(str(step.ref)),
    "remove_pattern": lambda router, step: router.unsubscribe(pattern=step.pattern),
    "remove_subscriber": lambda router, step: router.unsubscribe(subscriber=step.subscriber),
    "remove_pattern_of": lambda router, step: router.unsubscribe(
        pattern=step.pattern, subscriber=step.subscriber
    ),
    "search": lambda router, step: [id for entry in router.search(step.topic) for id in entry.data],
}


@every_router
@pytest.mark.parametrize("script", load.store_scripts(), ids=range(len(load.store_scripts())))
def test_a_router_of_globs_finds_and_removes_what_the_scripts_do(
    make: Callable[[], Router], script: StoreScript
) -> None:
    router = make()
    for step in script.steps:
        if step.op == "add":
            router.subscribe(step.pattern, step.subscriber, dialect="glob", id=str(step.ref))
        else:
            assert sorted(map(int, REMOVALS[step.op](router, step))) == list(step.expected)


@every_router
@pytest.mark.parametrize("script", load.mqtt_trie_scripts(), ids=str)
def test_a_router_of_mqtt_patterns_does_what_the_scripts_do(
    make: Callable[[], Router], script: TrieScript
) -> None:
    router = make()
    for op in script.ops:
        OPERATIONS[op.name](router, op)


def _add(router: Router, op: TrieOp) -> None:
    pattern, session = op.arguments
    router.subscribe(pattern, session, id=f"{session} {pattern}")


def _remove(router: Router, op: TrieOp) -> None:
    pattern, session, is_found = op.arguments
    assert router.unsubscribe(pattern=pattern, subscriber=session) == [f"{session} {pattern}"] * is_found


def _remove_session(router: Router, op: TrieOp) -> None:
    (session,) = op.arguments
    router.unsubscribe(subscriber=session)


def _match(router: Router, op: TrieOp) -> None:
    topic, expected = op.arguments
    found = [
        (match.subscription.subscriber, match.subscription.pattern.text) for match in router.match(topic)
    ]
    assert sorted(found) == sorted((session, pattern) for session, pattern in expected)


def _match_size(router: Router, op: TrieOp) -> None:
    topic, size = op.arguments
    assert len(router.match(topic)) == size


def _match_counts(router: Router, op: TrieOp) -> None:
    topic, times, expected = op.arguments
    found = (match.subscription.subscriber for _ in range(times) for match in router.match(topic))
    assert Counter(found) == expected


def _empty(router: Router, op: TrieOp) -> None:
    (is_empty,) = op.arguments
    assert (len(router) == 0) is is_empty


OPERATIONS: dict[str, Callable[[Router, TrieOp], None]] = {
    "add": _add,
    "remove": _remove,
    "remove_session": _remove_session,
    "match": _match,
    "match_size": _match_size,
    "match_counts": _match_counts,
    "empty": _empty,
}
