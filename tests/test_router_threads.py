"""Many readers beside one writer: who stays subscribed is found by every match, exactly once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from threading import Barrier, Event
from time import monotonic

import pytest

from ramify.model import Statistics
from ramify.router import Router

READERS = 3
TOPIC = "plant/7/temp"
FIELDS = {"value": 5, "side": "back", "name": "b"}
STAYING = [
    ("mqtt", "plant/7/temp", ""),
    ("mqtt", "plant/+/temp", ""),
    ("mqtt", "plant/#", "value > 3"),
    ("mqtt", "+/7/#", "value > 3 or side = 'back'"),
    ("mqtt", "+/+/+", "value = 5"),
    ("mqtt", "+/+/+", "value > 4 and value < 6"),
    ("mqtt", "+/+/+", "value > 4"),
    ("mqtt", "+/+/+", "value <= 5"),
    ("mqtt", "+/+/+", "side = 'back' and name = 'b'"),
    ("mqtt", "+/+/+", "name != 'c'"),
    ("path", "*/7/*", ""),
    ("glob", "plant*", ""),
    ("glob", "*temp", "name like 'b%'"),
    ("glob", "*/7/*", ""),
    ("glob", "*", ""),
]
GOING = [
    *STAYING,
    *(("mqtt", f"plant/{'+/' * (n % 2)}{'x/' * (n // 2)}#", "") for n in range(6)),
    ("mqtt", "+/+/temp", ""),
    ("mqtt", "plant/7/temp/#", ""),
    ("mqtt", "+/+/+", "value > 3"),
    ("mqtt", "+/+/+", "value < 9"),
    ("mqtt", "+/+/+", "value > 1 and value < 6 or side = 'back' or name = 'b'"),
    ("mqtt", "+/+/+", "side in ('back', 'lay') and value = 5"),
    ("nats", "*", "value = 5 or side = 'back'"),
    ("glob", "*a*t*7*", ""),
    ("glob", "pl*mp", ""),
]
SECONDS = 1.5
FEWEST_MATCHES = 30


@pytest.fixture(autouse=True)
def eager_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def few_are_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, low in {
        "segments.MANY_SHAPES": 3,
        "content.CROWDED_KEY": 3,
        "buckets.CROWD": 4,
        "bounds.BLOCK": 2,
        "lengths.MANY_LENGTHS": 2,
    }.items():
        monkeypatch.setattr(f"ramify.index.{limit}", low)


def subscribe_all(router: Router, rows: list[tuple[str, str, str]], name: str) -> None:
    for number, (dialect, pattern, where) in enumerate(rows):
        router.subscribe(pattern, name, dialect=dialect, where=where, id=f"{name} {number}")


def come_and_go(router: Router, turn: int) -> None:
    subscribe_all(router, GOING, "going")
    subscribe_all(router, GOING[turn % 7 :], "going")
    if turn % 2:
        router.unsubscribe(subscriber="going")
    else:
        for number in range(len(GOING)):
            router.unsubscribe(f"going {number}")


def replan(router: Router, turn: int) -> None:
    router.replan(Statistics(10, {"value": {5: turn % 10}, "side": {"back": 5}}))
    come_and_go(router, turn)


@pytest.mark.parametrize("cache", [0, 4])
@pytest.mark.parametrize("change", [come_and_go, replan], ids=lambda change: str(change.__name__))
def test_who_stays_is_found_exactly_once_whatever_the_writer_does(
    change: Callable[[Router, int], None], cache: int
) -> None:
    router = Router(cache=cache)
    subscribe_all(router, STAYING, "staying")
    expected = sorted(f"staying {number}" for number in range(len(STAYING)))
    is_over, start = Event(), Barrier(READERS + 1)

    def read() -> int:
        start.wait(10)
        for matches in count(1):
            found = [match.subscription.id for match in router.match(TOPIC, FIELDS)]
            assert sorted(id for id in found if id.startswith("staying")) == expected
            if is_over.is_set() and matches >= FEWEST_MATCHES:
                break
        return matches

    with ThreadPoolExecutor(READERS) as pool:
        readers: list[Future[int]] = [pool.submit(read) for _ in range(READERS)]
        start.wait(10)
        deadline = monotonic() + SECONDS / 2
        try:
            for turn in count():
                change(router, turn)
                if monotonic() > deadline or any(reader.done() for reader in readers):
                    break
        finally:
            is_over.set()
        assert all(reader.result(30) >= FEWEST_MATCHES for reader in readers)
    assert sorted(match.subscription.id for match in router.match(TOPIC, FIELDS)) == expected


def test_who_has_left_is_not_found_by_a_match_that_begins_afterwards() -> None:
    router = Router(cache=4)
    left: set[str] = set()
    is_over, start = Event(), Barrier(READERS + 1)

    def read() -> None:
        start.wait(10)
        while not is_over.is_set():
            gone = left.copy()
            found = {match.subscription.id for match in router.match(TOPIC, FIELDS)}
            assert not found & gone

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read) for _ in range(READERS)]
        start.wait(10)
        deadline = monotonic() + SECONDS / 2
        try:
            for turn in count():
                for number, (dialect, pattern, where) in enumerate(GOING):
                    id = f"{turn} {number}"
                    router.subscribe(pattern, "someone", dialect=dialect, where=where, id=id)
                    router.unsubscribe(id)
                    left.add(id)
                if monotonic() > deadline or any(reader.done() for reader in readers):
                    break
        finally:
            is_over.set()
        for reader in readers:
            reader.result(30)


def test_writers_wait_for_each_other() -> None:
    router = Router()

    def write(name: str) -> None:
        for turn in range(10):
            subscribe_all(router, GOING[:10], f"{name} {turn}")
            router.unsubscribe(subscriber=f"{name} {turn}")

    with ThreadPoolExecutor(READERS) as pool:
        for writer in [pool.submit(write, name) for name in "abc"]:
            writer.result(30)
    assert len(router) == 0
    assert router.match(TOPIC, FIELDS) == []
