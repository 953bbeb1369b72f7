"""How many may come in how short a time."""

from __future__ import annotations

from ramify.net.arrivals import MOST_ADDRESSES, Arrivals


def test_as_many_come_at_once_as_come_in_a_second() -> None:
    arrivals = Arrivals(3.0)
    assert [arrivals.admit("a", 0.0) for _ in range(5)] == [True, True, True, False, False]
    assert arrivals.admit("b", 0.0)
    assert [arrivals.admit("a", 0.4) for _ in range(2)] == [True, False]
    assert [arrivals.admit("a", 60.0) for _ in range(4)] == [True, True, True, False]


def test_a_rate_of_zero_limits_nobody() -> None:
    arrivals = Arrivals(0.0)
    assert all(arrivals.admit("a", 0.0) for _ in range(1000))


def test_addresses_are_forgotten_before_they_are_too_many() -> None:
    arrivals = Arrivals(1.0)
    for number in range(3 * MOST_ADDRESSES):
        assert arrivals.admit(str(number), 0.0)
    assert len(arrivals._buckets) <= MOST_ADDRESSES + 1
    assert not arrivals.admit(str(3 * MOST_ADDRESSES - 1), 0.0)
