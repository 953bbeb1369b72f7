"""What a router promises to those who embed it."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.criteria import term_to_text
from ramify.errors import (
    InvalidCriteria,
    InvalidPattern,
    InvalidSubscription,
    UnknownDialect,
    UnknownSubscription,
)
from ramify.index.shares import POLICIES
from ramify.model import Criteria, Entry, Fields, Match, Pattern, Statistics, Subscription
from ramify.patterns import parse_pattern
from ramify.router import Router
from tests.criteria_strategies import contents, terms, wild_contents
from tests.implementations import ids_found
from tests.leftovers import assert_nothing_is_left, assert_tidy
from tests.strategies import parsed_patterns, topics, topics_of


def subscribers(found: list[Match]) -> list[str]:
    return sorted(match.subscription.subscriber for match in found)


# ── the set ───────────────────────────────────────────────────────────────────────────────


def test_the_example_of_the_readme_holds() -> None:
    router = Router()
    sub = router.subscribe(
        "plant/+/temp", subscriber="alice", dialect="mqtt", where="value > 30", data={"unit": "C"}
    )
    assert [match.subscription for match in router.match("plant/7/temp", {"value": 31})] == [sub]
    assert router.match("plant/7/temp", {"value": 3}) == []
    assert router.search("plant/7/temp", {"value": 31}) == [
        Entry("alice", "plant/+/temp", 1, {sub.id: {"unit": "C"}})
    ]
    assert "30" in router.explain("plant/7/temp", {"value": 3}, sub.id).reason
    assert router.unsubscribe(sub.id) == [sub.id]
    assert_nothing_is_left(router)


def test_a_realm_has_a_name_and_its_own_subscriptions() -> None:
    one, other = Router(realm="one"), Router(realm="other")
    one.subscribe("a", "alice", id="x")
    assert (one.realm, other.realm, Router().realm) == ("one", "other", "default")
    assert other.match("a") == []
    assert "x" not in other


def test_generated_ids_never_collide_with_given_ones() -> None:
    router = Router()
    given_ids = [f"s{number}" for number in (1, 2, 4)]
    for id in given_ids:
        router.subscribe("a", "alice", id=id)
    made = [router.subscribe("a", "bob").id for _ in range(4)]
    assert len({*given_ids, *made}) == len(router) == 7


def test_ids_come_from_the_source_that_was_given() -> None:
    numbers = count(7)
    router = Router(new_id=lambda: f"id-{next(numbers)}")
    router.subscribe("a", "alice", id="id-7")
    assert router.subscribe("a", "alice").id == "id-8"


def test_a_given_id_that_exists_replaces_all_of_that_subscription() -> None:
    router = Router()
    router.subscribe("a", "alice", id="x", group="g", where="v = 1")
    router.subscribe("b", "bob", id="x", data=2)
    assert router.match("a", {"v": 1}) == []
    assert router.search("b") == [Entry("bob", "b", 1, {"x": 2})]
    assert router.unsubscribe(subscriber="alice") == []
    assert router.unsubscribe(pattern="a") == []
    assert router.unsubscribe("x") == ["x"]
    assert_nothing_is_left(router)


def test_many_subscriptions_to_one_pattern_are_one_entry_with_all_their_data() -> None:
    router = Router()
    for number in range(3):
        router.subscribe("a/+", "alice", id=str(number), data=number)
    router.subscribe("a/+", "bob", id="bob's")
    router.unsubscribe("1")
    alice, bob = sorted(router.search("a/b"), key=lambda entry: entry.subscriber)
    assert alice == Entry("alice", "a/+", 2, {"0": 0, "2": 2})
    assert bob == Entry("bob", "a/+", 1, {"bob's": None})


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"id": "1"}, ["1"]),
        ({"id": "9"}, []),
        ({"pattern": "a/+"}, ["1", "2"]),
        ({"subscriber": "alice"}, ["1", "3"]),
        ({"pattern": "a/+", "subscriber": "alice"}, ["1"]),
        ({"id": "2", "subscriber": "alice"}, []),
        ({"id": "2", "pattern": "a/+", "subscriber": "bob"}, ["2"]),
        ({"pattern": "nowhere", "subscriber": "alice"}, []),
        ({"id": ""}, []),
        ({"pattern": ""}, []),
    ],
)
def test_unsubscribe_removes_what_has_all_that_is_said(wanted: dict[str, str], expected: list[str]) -> None:
    router = Router()
    router.subscribe("a/+", "alice", id="1")
    router.subscribe("a/+", "bob", id="2")
    router.subscribe("a/#", "alice", id="3")
    assert sorted(router.unsubscribe(**wanted)) == expected
    assert sorted(each.id for each in router) == sorted({"1", "2", "3"} - set(expected))


def test_unsubscribe_wants_to_know_what_to_remove() -> None:
    with pytest.raises(InvalidSubscription, match="say which"):
        Router().unsubscribe()


def test_an_unknown_id_is_refused_by_name() -> None:
    router = Router()
    for ask in (router.get, router.plan, lambda id: router.explain("a", {}, id)):
        with pytest.raises(UnknownSubscription, match="'x'"):
            ask("x")
    assert router.unsubscribe("x") == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"pattern": "a/#/b"}, InvalidPattern),
        ({"pattern": "a", "where": "v >"}, InvalidCriteria),
        ({"pattern": "a", "dialect": "smoke signals"}, UnknownDialect),
        ({"pattern": "a", "match": "prefix"}, InvalidSubscription),
        ({"pattern": "$share/g/a", "group": "h"}, InvalidSubscription),
    ],
)
def test_what_cannot_be_read_changes_nothing(wrong: dict[str, str], error: type[Exception]) -> None:
    router = Router()
    with pytest.raises(error):
        router.subscribe(subscriber="alice", **wrong)
    assert_nothing_is_left(router)


def test_a_pattern_and_criteria_that_are_already_read_are_taken_as_they_are() -> None:
    router = Router()
    sub = router.subscribe(parse_pattern("a.b", "wamp", match="prefix"), "alice")
    assert sub.pattern.match == "prefix"
    assert ids_found(router, "a.bc") == {sub.id}


def test_a_list_of_matches_is_the_callers_own() -> None:
    router = Router(cache=1)
    for number in range(3):
        router.subscribe("a", "alice", id=str(number))
    router.match("a").clear()
    assert len(router.match("a")) == 3


# ── share groups ──────────────────────────────────────────────────────────────────────────


def grouped_router(policy: str) -> Router:
    router = Router(share_policy=policy)
    for name in ("alice", "bob", "carol"):
        router.subscribe("$share/g/a/+", name, id=name)
    return router


def test_round_robin_takes_each_member_in_turn() -> None:
    router = grouped_router("round-robin")
    found = Counter(subscribers(router.match("a/b"))[0] for _ in range(9))
    assert found == {"alice": 3, "bob": 3, "carol": 3}


def test_random_takes_every_member_about_equally_often() -> None:
    router = grouped_router("random")
    found = Counter(subscribers(router.match("a/b"))[0] for _ in range(600))
    assert all(120 < times < 280 for times in found.values())
    assert len(found) == 3


def test_sticky_stays_with_a_member_until_it_leaves() -> None:
    router = grouped_router("sticky")
    first = {subscribers(router.match(f"a/{n}"))[0] for n in range(5)}
    assert len(first) == 1
    router.unsubscribe(subscriber=first.pop())
    second = {subscribers(router.match(f"a/{n}"))[0] for n in range(5)}
    assert len(second) == 1


def test_a_topic_keeps_its_member_and_topics_are_spread() -> None:
    router = grouped_router("topic")
    first = [subscribers(router.match(f"a/{n}"))[0] for n in range(30)]
    assert first == [subscribers(router.match(f"a/{n}"))[0] for n in range(30)]
    assert set(first) == {"alice", "bob", "carol"}


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(InvalidSubscription, match="round-robin"):
        Router(share_policy="by height")


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_chooses_only_members_whose_criteria_hold(policy: str) -> None:
    router = Router(share_policy=policy)
    router.subscribe("a", "alice", group="g", where="v = 1")
    router.subscribe("+", "bob", group="g", where="v = 2")
    assert {subscribers(router.match("a", {"v": 1}))[0] for _ in range(4)} == {"alice"}
    assert {subscribers(router.match("a", {"v": 2}))[0] for _ in range(4)} == {"bob"}
    assert router.match("a", {"v": 3}) == []


def test_a_group_in_the_pattern_is_one_with_its_pattern_only_and_a_named_one_spans_patterns() -> None:
    router = Router()
    for pattern in ("$share/g/a", "$share/g/+", "$share/h/a"):
        router.subscribe(pattern, pattern)
    assert len(router.match("a")) == 3
    for pattern in ("a", "+"):
        router.subscribe(pattern, pattern, group="g")
    assert len(router.match("a")) == 4
    assert len(router.match("a", collapse_groups=False)) == 5


def test_a_group_that_returns_starts_anew() -> None:
    router = grouped_router("round-robin")
    router.match("a/b")
    router.unsubscribe(pattern="$share/g/a/+")
    assert_nothing_is_left(router)
    for name in ("alice", "bob"):
        router.subscribe("$share/g/a/+", name)
    assert subscribers(router.match("a/b")) == ["alice"]


# ── the cache ─────────────────────────────────────────────────────────────────────────────


def test_the_hit_rate_tells_how_often_a_topic_came_again() -> None:
    router = Router(cache=10)
    router.subscribe("a/+", "alice")
    assert router.cache is not None
    assert router.cache.hit_rate == 0
    for topic in ("a/1", "a/2", "a/1", "a/1"):
        router.match(topic)
    assert router.cache.hit_rate == 0.5


def test_a_cached_topic_sees_every_later_change() -> None:
    router = Router(cache=10)
    assert ids_found(router, "a/b") == set()
    for pattern, where in (("a/b", ""), ("a/+", ""), ("a/b", "v = 1"), ("a/+", "v = 1"), ("a/+", "v > 0")):
        sub = router.subscribe(pattern, "alice", where=where)
        assert sub.id in ids_found(router, "a/b", {"v": 1})
    for sub in list(router):
        assert sub.id in ids_found(router, "a/b", {"v": 1})
        router.unsubscribe(sub.id)
        assert sub.id not in ids_found(router, "a/b", {"v": 1})


def test_a_change_of_one_topic_leaves_the_others_in_the_cache() -> None:
    router = Router(cache=10)
    router.subscribe("a/+", "alice")
    router.match("a/1")
    router.subscribe("a/2", "bob")
    router.match("a/1")
    assert router.cache is not None
    assert router.cache.hits == 1


def test_replanning_reaches_cached_topics() -> None:
    router = Router(cache=10)
    router.subscribe("a", "alice", where="x = 1 and y = 1")
    router.match("a", {"x": 1, "y": 1})
    router.replan(Statistics(10))
    assert router.cache is not None
    assert not router.cache._answers


# ── planning ──────────────────────────────────────────────────────────────────────────────

X_IS_RARE = Statistics(1_000, {"x": {1: 2}, "y": {1: 900}}, {"a/b": 30, "c": 70})
Y_IS_RARE = Statistics(1_000, {"x": {1: 900}, "y": {1: 2}})


def test_statistics_choose_the_rare_value_for_the_key() -> None:
    router = Router(statistics=X_IS_RARE)
    sub = router.subscribe("a/+", "alice", where="y = 1 and x = 1")
    plan = router.plan(sub)
    assert plan.keys == ("x = 1",)
    assert plan.residual == "y = 1"
    assert plan.share == pytest.approx(0.3 * 0.002)


def test_replanning_moves_subscriptions_and_keeps_them_all() -> None:
    router = Router(statistics=X_IS_RARE)
    sub = router.subscribe("a/+", "alice", where="y = 1 and x = 1")
    others = [router.subscribe(p, "bob", dialect="glob").id for p in ("a*", "*", "a/b")]
    router.replan(Y_IS_RARE)
    assert router.plan(sub.id).keys == ("y = 1",)
    assert ids_found(router, "a/b", {"x": 1, "y": 1}) == {sub.id, *others}
    for id in (sub.id, *others):
        router.unsubscribe(id)
    assert_nothing_is_left(router)


def test_without_statistics_the_value_that_fewer_ask_for_is_the_key() -> None:
    router = Router()
    for number in range(10):
        router.subscribe("a", "alice", where=f"sport = 'tennis' and customer = {number}")
    sub = router.subscribe("a", "alice", where="sport = 'tennis' and customer = 11")
    assert router.plan(sub).keys == ("customer = 11",)


@pytest.mark.parametrize(
    ("pattern", "dialect", "probe"),
    [
        ("a/b", "mqtt", "the topic is 'a/b'"),
        ("a/+/c", "mqtt", "split at '/', 3 levels, look at 1, 3"),
        ("a/#", "mqtt", "split at '/', 1 levels, look at 1, then zero or more more"),
        ("abc*", "glob", "starts with 'abc'"),
        ("*abc", "glob", "ends with 'abc'"),
        ("*abc*d*", "glob", "has the gram 'abc'"),
        ("*", "glob", "every topic"),
        ("/".join("+" * 40), "mqtt", "trie over levels split at '/'"),
    ],
)
def test_a_plan_says_how_a_topic_finds_the_subscription(pattern: str, dialect: str, probe: str) -> None:
    router = Router()
    plan = router.plan(router.subscribe(pattern, "alice", dialect=dialect))
    assert (plan.probe, plan.keys, plan.residual, plan.share) == (probe, (), "", 1.0)


def test_a_plan_of_criteria_that_never_hold_expects_no_event() -> None:
    router = Router()
    plan = router.plan(router.subscribe("a", "alice", where="x = 1 and x = 2 or x > 3 and x < 2"))
    assert plan.keys == ()
    assert plan.share == 0


# ── explaining ────────────────────────────────────────────────────────────────────────────


@given(st.data(), parsed_patterns(), terms(), contents() | wild_contents())
def test_an_explanation_agrees_with_the_match(
    data: st.DataObject, pattern: Pattern, term: object, fields: Fields
) -> None:
    topic = data.draw(topics() | topics_of(pattern))
    router = Router()
    criteria = Criteria(term_to_text(term), term)  # type: ignore[arg-type]
    router.add(Subscription("x", "alice", pattern, criteria, group=pattern.group))
    explanation = router.explain(topic, fields, "x")
    assert explanation.is_match is bool(router.match(topic, fields))
    assert explanation.reason
    assert str(explanation).startswith("match: " if explanation.is_match else "no match: ")


def test_an_explanation_names_the_level_the_comparison_or_the_group() -> None:
    router = Router()
    sub = router.subscribe("$share/g/a/+/c", "alice", where="v > 3")
    assert "level 3" in router.explain("a/b/d", {}, sub.id).reason
    assert "v is 3" in router.explain("a/b/c", {"v": 3}, sub.id).reason
    assert "'g'" in router.explain("a/b/c", {"v": 4}, sub.id).reason
    assert router.explain("a/b/c", None, sub.id).is_match is False


# ── odd values ────────────────────────────────────────────────────────────────────────────

BIG = 10**30


@pytest.mark.parametrize(
    ("where", "fields", "expected"),
    [
        ("v = 1", {"v": True}, False),
        ("v = true", {"v": 1}, False),
        ("v = true", {"v": True}, True),
        ("v in (1, true)", {"v": True}, True),
        ("v = 1", {"v": 1.0}, True),
        ("v = 1", {"v": "1"}, False),
        ("v = 0", {"v": -0.0}, True),
        (f"v = {BIG}", {"v": BIG}, True),
        (f"v = {BIG}", {"v": BIG + 1}, False),
        (f"v > {BIG} and v < {BIG + 2}", {"v": BIG + 1}, True),
        (f"v > {BIG} and v < {BIG + 2}", {"v": BIG}, False),
        (f"v > {10**400} and v < {10**400 + 2}", {"v": 10**400 + 1}, True),
        (f"v < {10**400} and v > 5", {"v": 10**399}, True),
        ("v > 9007199254740992 and v < 9007199254740994", {"v": 2**53 + 1}, True),
        ("v >= 5 and v <= 5", {"v": 5}, True),
        ("v > 1e300 and v < 1e308", {"v": 1e307}, True),
        ("v > -1.7e308 and v < 1.7e308", {"v": 1e308}, True),
        ("v > -1.7e308 and v < 1.7e308", {"v": float("inf")}, False),
        ("v > 0 and v < 5e-324", {"v": 0}, False),
        ("v >= 0 and v <= 5e-324", {"v": 5e-324}, True),
        ("v > -1 and v < 1", {"v": float("nan")}, False),
        ("v > 1", {"v": float("nan")}, False),
        ("v > 1", {"v": float("inf")}, True),
        ("v <= 1", {"v": 10**5000}, False),
        ("v > 'a' and v < 'c'", {"v": "b"}, True),
        ("v > 'a'", {"v": 5}, False),
        ("v = 1", {"v": [1]}, False),
        ("v = 1", None, False),
        ("not exists(v)", None, True),
    ],
)
def test_odd_values_are_found_as_they_are_judged(where: str, fields: Fields | None, expected: bool) -> None:
    router = Router()
    sub = router.subscribe("a", "alice", where=where)
    for number in range(40):  # so that it stands in a crowd
        router.subscribe("a", "bob", where=f"{where} and other = {number}")
    assert ids_found(router, "a", fields) == ({sub.id} if expected else set())


def test_values_that_have_no_order_do_not_hang_or_hide_others() -> None:
    from ramify.model import All, Comparison, Operator

    router = Router()
    kept = [router.subscribe("a", "alice", where=where).id for where in ("v > 1", "v > 3", "v = 4")]
    for odd in (float("nan"), float("inf")):
        low, high = Comparison(("v",), Operator.GT, 1), Comparison(("v",), Operator.LT, odd)
        for term in (high, Comparison(("v",), Operator.EQ, odd), All((low, high))):
            router.subscribe("a", "bob", where=Criteria("made by hand", term))
    assert set(kept) <= ids_found(router, "a", {"v": 4})
    assert set(kept[:2]) <= ids_found(router, "a", {"v": float("inf")})
    assert ids_found(router, "a", {}) == set()


def test_a_crowd_that_leaves_takes_its_tables_with_it() -> None:
    router = Router()
    router.subscribe("a", "alice", where="customer = 0 and x = 1")
    for customer in range(5):
        for number in range(40):
            router.subscribe("a", "bob", where=f"customer = {customer} and x > {number} and y = {number}")
    assert_tidy(router)
    router.unsubscribe(subscriber="bob")
    assert_tidy(router)
    assert len(ids_found(router, "a", {"customer": 0, "x": 1})) == 1


def test_a_router_tells_on_which_topics_fields_have_a_say() -> None:
    router = Router()
    router.subscribe("a/#", "ann")
    id = router.subscribe("a/+", "bob", where="k = 1").id
    assert [router.asks_content(topic) for topic in ("a/b", "a", "a/b/c")] == [True, False, False]
    router.unsubscribe(id)
    assert not router.asks_content("a/b")
