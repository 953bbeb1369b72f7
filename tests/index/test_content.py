"""An event's fields find the matches whose criteria hold, wherever the planner filed them."""

from __future__ import annotations

import pytest

from ramify.criteria import clauses, filing_clauses, parse_criteria
from ramify.index import content as module
from ramify.index.candidates import Candidate
from ramify.index.content import CROWDED_KEY, Content
from ramify.model import Fields, Match, Statistics, Subscription
from ramify.patterns import parse_pattern

PATTERN = parse_pattern("a")
X_IS_RARE = Statistics(100, {"x": {0: 1, 1: 1}, "y": {100: 90}})


def add(content: Content, where: str) -> tuple[Match, list[Candidate]]:
    criteria = parse_criteria(where)
    match = Match(Subscription(where, "someone", PATTERN, criteria))
    alternatives = clauses(criteria.term)
    if alternatives is None:
        return match, content.add_whole(match, criteria.term)
    return match, content.add(match, alternatives)


def found(content: Content, fields: Fields) -> list[str]:
    out: list[Match] = []
    content.find(fields, out)
    return sorted(match.subscription.id for match in out)


@pytest.mark.parametrize(
    ("where", "hit", "miss"),
    [
        ("x = 1", {"x": 1}, {"x": 2}),
        ("x in (1, 'a')", {"x": "a"}, {"x": "b"}),
        ("x > 1 and x < 3", {"x": 2}, {"x": 3}),
        ("x > 1", {"x": 2}, {"x": 1}),
        ("x >= 1", {"x": 1}, {"x": 0}),
        ("x < 1", {"x": 0}, {"x": 1}),
        ("x <= 'b'", {"x": "b"}, {"x": "c"}),
        ("x like 'ab%'", {"x": "abc"}, {"x": "b"}),
        ("x != 1", {"x": 2}, {"x": 1}),
        ("m.x = 1", {"m": {"x": 1}}, {"x": 1}),
        ("x = 1 and y > 2", {"x": 1, "y": 3}, {"x": 1, "y": 2}),
        ("not exists(x)", {}, {"x": 1}),
    ],
)
def test_each_kind_of_key_finds_its_events_and_no_others(where: str, hit: Fields, miss: Fields) -> None:
    content = Content()
    _, candidates = add(content, where)
    assert found(content, hit) == [where]
    assert found(content, miss) == []
    content.remove(candidates)
    assert content.is_empty
    assert found(content, hit) == []


def test_an_event_that_meets_two_clauses_finds_the_match_twice_and_the_content_says_so() -> None:
    content = Content()
    add(content, "x = 1")
    repeats = [content.may_repeat]
    add(content, "x = 1 or y = 1")
    repeats.append(content.may_repeat)
    assert repeats == [False, True]
    assert found(content, {"x": 1, "y": 1}) == ["x = 1", "x = 1 or y = 1", "x = 1 or y = 1"]


def test_criteria_of_too_many_clauses_are_tested_whole() -> None:
    content = Content()
    where = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(6))
    _, candidates = add(content, where)
    assert found(content, {f"a{n}": 1 for n in range(6)}) == [where]
    content.remove(candidates)
    assert content.is_empty


def test_a_crowded_key_is_filed_by_what_its_members_do_not_share() -> None:
    content = Content()
    rows = [add(content, f"x = 1 and y = {number % 7} and z = {number}")[1] for number in range(200)]
    fields = {"x": 1, "y": 3, "z": 73}
    assert found(content, fields) == ["x = 1 and y = 3 and z = 73"]
    assert content.filed() == 200
    for candidates in rows:
        content.remove(candidates)
    assert content.is_empty
    assert not content._equal


def test_a_split_that_is_emptied_comes_off_while_others_stay() -> None:
    content = Content(X_IS_RARE)
    add(content, "x = 0")
    rows = [add(content, f"x = 1 and y > {number}")[1] for number in range(CROWDED_KEY + 5)]
    assert any(isinstance(held, Content) for held in content._equal[("x",)].values())
    for candidates in rows:
        content.remove(candidates)
    assert list(content._equal[("x",)]) == [0]
    assert content.filed() == 1


def test_a_field_that_nobody_asks_for_any_more_is_not_looked_up() -> None:
    content = Content()
    add(content, "x = 0")
    for where in ("y = 1", "y > 1 and y < 3", "y > 1"):
        _, candidates = add(content, where)
        content.remove(candidates)
    assert len(content._equal_lookups) == 1
    assert not content._cell_lookups
    assert not content._bound_lists


def test_members_without_another_key_stay_where_the_others_are_split() -> None:
    content = Content()
    expected = [f"x = 1 and y = {number}" for number in range(CROWDED_KEY)]
    for where in ("x = 1", "x = 1 and y != 5", *expected, "x = 1 and y != 6"):
        add(content, where)
    assert found(content, {"x": 1, "y": 4}) == [
        "x = 1",
        "x = 1 and y != 5",
        "x = 1 and y != 6",
        "x = 1 and y = 4",
    ]


def test_a_subscription_does_not_multiply_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PLACES", 20)
    monkeypatch.setattr(module, "CROWDED_KEY", 1)
    content = Content()
    where = "x in (1, 2, 3, 4, 5, 6) and y in (1, 2, 3, 4, 5, 6) and z in (1, 2, 3, 4, 5, 6)"
    rows = [add(content, where)[1] for _ in range(5)]
    assert all(len(candidates) <= 20 for candidates in rows)
    for x, y, z in ((1, 1, 1), (6, 6, 6), (3, 2, 5)):
        assert found(content, {"x": x, "y": y, "z": z}) == [where] * 5
    assert found(content, {"x": 1, "y": 7, "z": 1}) == []


def test_a_stretch_that_holds_no_number_is_filed_nowhere() -> None:
    content = Content()
    criteria = parse_criteria("price > 5 and price < 3")
    alternatives = filing_clauses(criteria.term)
    assert alternatives is not None
    assert content.add(Match(Subscription("never", "someone", PATTERN, criteria)), alternatives) == []
    assert content.is_empty
    assert not content._cells


def test_a_crowd_that_can_never_hold_leaves_no_place_behind() -> None:
    content = Content()
    criteria = parse_criteria("site = 'a' and price > 5 and price < 3")
    alternatives = filing_clauses(criteria.term)
    assert alternatives is not None
    for _ in range(2 * CROWDED_KEY):
        content.add(Match(Subscription("never", "someone", PATTERN, criteria)), alternatives)
    assert content.is_empty
    assert not content._equal
