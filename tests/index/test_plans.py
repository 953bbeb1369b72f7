"""A plan tells where a subscription is filed, and what is left to test there."""

import pytest

from ramify.model import Statistics
from ramify.router import Router

HALF = Statistics(100, {"x": {1: 50, 2: 10}, "price": {1: 30, 5: 20}}, {"a": 25, "b": 75})


@pytest.mark.parametrize(
    ("where", "keys", "residual"),
    [
        ("", (), ""),
        ("x = 1", ("x = 1",), ""),
        ("x = 1 and y != 2", ("x = 1",), "y != 2"),
        ("x = 1 or y = 2", ("x = 1", "y = 2"), ""),
        ("price > 1 and price < 3", ("price between 1 and 3",), "price > 1 and price < 3"),
        ("price > 1", ("price > 1",), ""),
        ("x != 1", (), "x != 1"),
    ],
)
def test_a_plan_names_keys_and_rest(where: str, keys: tuple[str, ...], residual: str) -> None:
    router = Router()
    plan = router.plan(router.subscribe("a", "someone", where=where))
    assert (plan.keys, plan.residual) == (keys, residual)


@pytest.mark.parametrize(
    ("where", "share"),
    [
        ("", 0.25),
        ("x = 1", 0.125),
        ("x in (1, 2)", 0.15),
        ("x = 1 or x = 2", 0.15),
        ("price >= 5", 0.05),
        ("price > 0 and price < 2", 0.075),
        ("x != 1", 0.25),
        ("x = 1 and x = 2 or x = 3 and x = 4", 0),
    ],
)
def test_the_share_is_that_of_recorded_events(where: str, share: float) -> None:
    router = Router(statistics=HALF)
    assert router.plan(router.subscribe("a", "someone", where=where)).share == pytest.approx(share)


def test_a_crowded_subscription_names_every_key_on_the_way() -> None:
    router = Router(statistics=Statistics(100, {"x": {1: 1, 2: 1}, "y": {100: 90}}))
    for number in range(60):
        sub = router.subscribe("a", "someone", where=f"x in (1, 2) and y > {number}")
    assert router.plan(sub).keys == ("x in (1, 2) and y > 59",)
    assert "topic: the topic is 'a'" in str(router.plan(sub))
