"""The worst that subscriptions can do to a match, in steps, which do not depend on the machine.

The figures in the names' wake are what docs/architecture.md may state: a bound here is the
measured count with some room, so that a change of the structure shows and a change of a line does not.
"""

import string
from collections.abc import Callable, Iterable
from itertools import product
from random import Random

import pytest

from ramify.criteria import parse_criteria
from ramify.index.grams import GRAM_SIZES
from ramify.router import Router
from tests.steps import count_steps

WORDS = [f"w{number}" for number in range(14)]
MANY = 10_000
PRICE = parse_criteria("price > 5")
LONG = 65_000


def router_of(patterns: Iterable[str], dialect: str = "mqtt") -> Router:
    router = Router()
    for pattern in patterns:
        router.subscribe(pattern, "someone", dialect=dialect)
    return router


def router_where(conditions: Iterable[str]) -> Router:
    router = Router()
    for where in conditions:
        router.subscribe("bets/+", "someone", where=where)
    return router


def wildcard_combinations(words: list[str]) -> Iterable[str]:
    for wild in product((False, True), repeat=len(words)):
        yield "/".join("+" if is_wild else word for is_wild, word in zip(wild, words, strict=True))


# ── levels ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def combined() -> Router:
    return router_of(wildcard_combinations(WORDS))


def test_every_wildcard_combination_of_14_levels_costs_a_few_steps_per_match(combined: Router) -> None:
    router = combined
    topic = "/".join(WORDS)
    assert len(router.match(topic)) == 2**14
    assert count_steps(lambda: router.match(topic)) < 32 * 2**14


@pytest.mark.parametrize("topic", ["/".join("x" * 14), "/".join(WORDS[:13]), "/".join([*WORDS, "x"])])
def test_every_wildcard_combination_of_14_levels_hardly_costs_a_topic_that_shares_no_words(
    combined: Router, topic: str
) -> None:
    router = combined
    assert len(router.match(topic)) <= 1
    assert count_steps(lambda: router.match(topic)) < 400


def test_combinations_that_fail_at_the_last_level_cost_a_topic_of_their_words_a_few_steps_each() -> None:
    router = router_of(f"{pattern}/never" for pattern in wildcard_combinations(WORDS))
    topic = "/".join([*WORDS, "x"])
    assert router.match(topic) == []
    assert count_steps(lambda: router.match(topic)) < 32 * 2**14


def test_thousands_of_shapes_that_match_nothing_hardly_cost_an_innocent_topic() -> None:
    dice = Random(1)
    patterns = []
    for number in range(5_000):
        levels = [dice.choice(["+", f"n{dice.randint(0, 9)}"]) for _ in range(dice.randint(2, 20))]
        levels[dice.randrange(len(levels))] = f"never{number}"
        patterns.append("/".join(levels))
    router = router_of(patterns)
    for topic in ("plant/7/temp", "plant/7/temp/a/b", "/".join(f"n{number}" for number in range(8))):
        assert router.match(topic) == []
        assert count_steps(lambda topic=topic: router.match(topic)) < 600  # type: ignore[misc]


def test_few_shapes_below_the_limit_cost_a_few_steps_each() -> None:
    router = router_of(f"{'+/' * number}x/#" for number in range(1, 24))
    topic = "/".join("y" * 32)
    router.match(topic)  # and remembers whom topics of this depth ask
    assert count_steps(lambda: router.match(topic)) < 24 * 8


def test_rests_of_thousands_of_depths_cost_a_step_per_level_that_the_topic_has() -> None:
    router = router_of(f"{'+/' * depth}#" for depth in range(1, 2_000))
    assert count_steps(lambda: router.match("a/b/c/d/e")) < 300
    deep = "/".join("a" * 2_000)
    assert len(router.match(deep)) == 1_999
    assert count_steps(lambda: router.match(deep)) < 40 * 2_000


# ── globs ─────────────────────────────────────────────────────────────────────────────────


def test_globs_of_single_letters_cost_a_few_steps_for_each_that_shares_its_letter_with_the_topic() -> None:
    dice = Random(1)
    router = router_of(
        (f"*{'*'.join(dice.choices(string.ascii_lowercase, k=dice.randint(3, 8)))}*" for _ in range(MANY)),
        "glob",
    )
    assert count_steps(lambda: router.match("0123456789")) < 60
    assert count_steps(lambda: router.match(string.ascii_lowercase)) < 32 * MANY
    everything = string.ascii_lowercase * 8
    assert len(router.match(everything)) == MANY
    assert count_steps(lambda: router.match(everything)) < 64 * MANY


# ── a long topic ──────────────────────────────────────────────────────────────────────────

LONG_TOPICS = {
    "levels": "a/" * (LONG // 2),
    "components": "a." * (LONG // 2),
    "empty levels": "/" * LONG,
    "one letter": "x" * LONG,
    "the alphabet": string.ascii_lowercase * (LONG // 26),
}

LEVEL_KINDS: dict[str, Callable[[int], str]] = {
    "one level": lambda number: f"a/+/{number}",
    "rest": lambda number: f"a/{number}/#",
    "deep": lambda number: "a/" * 40 + f"+/{number}",
}

PER_CHARACTER = len(GRAM_SIZES) * LONG

GLOB_KINDS: dict[str, tuple[Callable[[int], str], int]] = {
    "prefix": (lambda number: f"a{number}*", 100),
    "suffix": (lambda number: f"*{number}a", 100),
    "infix": (lambda number: f"*{number}*", PER_CHARACTER),
    "both ends": (lambda number: f"a{number}*{number}a", PER_CHARACTER),
    "several stars": (lambda number: f"*a{number}*b{number}*", PER_CHARACTER),
    "repeated letters": (
        lambda number: f"*{'a' * (number % 50 + 1)}{'b' * (number // 50 + 1)}*",
        len(GRAM_SIZES) * LONG,
    ),
}


@pytest.mark.parametrize("kind", LEVEL_KINDS)
def test_a_long_topic_costs_level_patterns_no_more_steps_than_a_short_one(kind: str) -> None:
    router = router_of(LEVEL_KINDS[kind](number) for number in range(MANY))
    for topic in LONG_TOPICS.values():
        assert count_steps(lambda topic=topic: router.match(topic)) < 1_000  # type: ignore[misc]


@pytest.mark.parametrize("kind", GLOB_KINDS)
def test_a_long_topic_costs_globs_a_few_steps_per_character(kind: str) -> None:
    make, bound = GLOB_KINDS[kind]
    router = router_of({make(number) for number in range(MANY)}, "glob")
    for topic in LONG_TOPICS.values():
        assert count_steps(lambda topic=topic: router.match(topic)) < bound + 100  # type: ignore[misc]


# ── content ───────────────────────────────────────────────────────────────────────────────


def test_a_match_takes_the_same_steps_whether_a_thousand_or_twenty_thousand_customers_wait() -> None:
    few, many = (router_where(f"customer_id = {n}" for n in range(size)) for size in (1_000, 20_000))
    fields = {"customer_id": 77}
    for router in (few, many):
        assert len(router.match("bets/1", fields)) == 1  # and remembers whom such topics ask
    steps = count_steps(lambda: few.match("bets/1", fields))
    assert count_steps(lambda: many.match("bets/1", fields)) == steps < 100


def test_a_shared_equality_costs_no_steps_for_those_who_differ_in_another_field() -> None:
    router = router_where(f"sport = 'tennis' and customer_id = {n}" for n in range(5_000))
    fields = {"customer_id": 77, "sport": "tennis"}
    assert len(router.match("bets/1", fields)) == 1
    assert count_steps(lambda: router.match("bets/1", fields)) < 200


def test_ranges_cost_steps_for_those_near_the_value_however_many_there_are() -> None:
    few, many = (
        router_where(f"price > {n} and price < {n + 2}" for n in range(size)) for size in (1_000, 20_000)
    )
    fields = {"price": 500.5}
    for router in (few, many):
        assert len(router.match("bets/1", fields)) == 2  # and compiles what it tests
    steps = count_steps(lambda: few.match("bets/1", fields))
    assert count_steps(lambda: many.match("bets/1", fields)) == steps < 250


def test_ranges_of_all_widths_cost_a_few_steps_per_match_and_width() -> None:
    dice = Random(1)
    lows = [(dice.uniform(0, 1_000), 10 ** dice.uniform(-4, 2)) for _ in range(8_000)]
    router = router_where(f"price > {low} and price < {low + width}" for low, width in lows)
    fields = {"price": 500.5}
    matches = len(router.match("bets/1", fields))
    assert matches > 20
    assert count_steps(lambda: router.match("bets/1", fields)) < 60 * matches + 300


def test_one_sided_bounds_cost_a_few_steps_per_match() -> None:
    router = router_where(f"price > {n}" for n in range(5_000))
    fields = {"price": 500.5}
    assert len(router.match("bets/1", fields)) == 501
    assert count_steps(lambda: router.match("bets/1", fields)) < 5 * 501


def test_one_of_ten_thousand_equal_bounds_leaves_in_few_steps() -> None:
    router = Router()
    for number in range(MANY):
        router.subscribe("a", "someone", where=PRICE, id=str(number))
    assert count_steps(lambda: router.unsubscribe("5000")) < 300


def test_one_of_ten_thousand_on_a_pattern_leaves_in_few_steps() -> None:
    router = Router()
    for number in range(MANY):
        router.subscribe("a/+", f"subscriber {number}")
    assert count_steps(lambda: router.unsubscribe(pattern="a/+", subscriber="subscriber 7")) < 150


def test_a_subscription_stands_in_a_bounded_number_of_places() -> None:
    values = ", ".join(map(str, range(60)))
    router = Router()
    for _ in range(40):
        sub = router.subscribe(
            "a", "someone", where=f"x in ({values}) and y in ({values}) and z in ({values})"
        )
    places = router._index.candidates_of(router._registry.match_of(sub.id))
    assert 60 <= len(places) <= 1_024
    assert len(router.match("a", {"x": 1, "y": 59, "z": 30})) == 40
