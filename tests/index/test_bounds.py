"""Bounds are kept in order, and a bisection finds those that hold."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.index import bounds as module
from ramify.index.bounds import Bounds
from ramify.index.candidates import Candidate
from ramify.model import Match, Operator, Subscription
from ramify.patterns import parse_pattern

MATCH = Match(Subscription("x", "someone", parse_pattern("a")))
HOLDS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


@pytest.fixture(autouse=True, params=[1, 2, 256])
def _block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", request.param)


def candidate(bound: Any) -> Candidate:
    made = Candidate(MATCH, (), (), [])
    made.bound = bound
    return made


@pytest.mark.parametrize("sign", HOLDS)
def test_exactly_the_bounds_that_hold_are_found_while_others_come_and_go(sign: Operator) -> None:
    @given(st.lists(st.integers(0, 12) | st.floats(0, 12), max_size=40), st.integers(0, 3))
    def check(values: list[float], every: int) -> None:
        bounds, held = Bounds(sign), [candidate(value) for value in values]
        for each in held:
            bounds.add(each)
        for gone in held[:: every + 2]:
            bounds.remove(gone)
            held.remove(gone)
        for value in (*range(-1, 14), 2.5):
            found = bounds.holding(value)
            assert {id(each) for each in found} == {
                id(each) for each in held if HOLDS[sign](value, each.bound)
            }
        assert bool(bounds) is bool(held)

    check()


def test_equal_bounds_leave_in_any_order() -> None:
    bounds, held = Bounds(Operator.GE), [candidate(5) for _ in range(50)]
    for each in held:
        bounds.add(each)
    for each in held[::-2] + held[::2]:
        bounds.remove(each)
    assert not bounds


def test_a_reader_keeps_its_snapshot_when_a_writer_moves_on() -> None:
    bounds, held = Bounds(Operator.GE), [candidate(number) for number in range(10)]
    for each in held:
        bounds.add(each)
    before = bounds._blocks
    bounds.remove(held[3])
    assert [each.bound for block in before[1] for each in block] == list(range(10))


def test_texts_have_an_order_too() -> None:
    bounds = Bounds(Operator.LT)
    for text in ("b", "a", "c"):
        bounds.add(candidate(text))
    assert [each.bound for each in bounds.holding("a")] == ["b", "c"]
