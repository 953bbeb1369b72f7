from __future__ import annotations

from typing import Any

import pytest

from ramify.criteria.kinds import Kind, are_equal, have_order, kind_of
from tests.criteria_strategies import ODD


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, Kind.NUMBER),
        (1.0, Kind.NUMBER),
        ("1", Kind.TEXT),
        (True, Kind.BOOLEAN),
        (None, Kind.OTHER),
        ([], Kind.OTHER),
        (b"1", Kind.OTHER),
    ],
)
def test_the_exact_type_is_the_kind(value: Any, kind: Kind) -> None:
    assert kind_of(value) is kind


def test_a_subclass_has_no_kind_since_it_may_compare_as_it_likes() -> None:
    class Odd(str):
        __slots__ = ()

    assert kind_of(Odd("a")) is Kind.OTHER


def test_true_is_not_one() -> None:
    assert not are_equal(True, 1)
    assert not have_order(True, 1)


def test_booleans_equal_but_have_no_order() -> None:
    assert are_equal(True, True)
    assert not have_order(True, False)


def test_no_value_makes_a_kind_raise() -> None:
    for value in ODD:
        assert kind_of(value) in Kind
        assert are_equal(value, "a") is False
