"""A router, whatever is done to it in whatever order, finds what the plain meaning finds."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from ramify.criteria import term_to_text
from ramify.index import bounds, buckets, content, lengths, segments
from ramify.index.shares import POLICIES, group_of
from ramify.model import ALWAYS, Criteria, Fields, Pattern, Statistics, Subscription
from ramify.patterns import explain_mismatch, parse_pattern
from ramify.router import Router
from tests import criteria_strategies, strategies
from tests.implementations import wants
from tests.leftovers import assert_nothing_is_left, assert_tidy

SUBSCRIBERS = ["alice", "bob", "carol"]
IDS = ["one", "two", "three", "s1", "s2"]
PATTERNS = [
    *(
        parse_pattern(text, "mqtt")
        for text in ["a/b", "a/+", "+/b", "+/+", "#", "a/#", "$share/g/a/+", "+/b/#"]
    ),
    *(parse_pattern(text, "wamp") for text in ["a.b", "a._", "_.b", "a.*", "..b", "_._"]),
    *(parse_pattern(text, "nats") for text in ["a.*", "*.b", "a.>", ">"]),
    *(parse_pattern(text, "path") for text in ["a/*", "*/b", "*/*/b", "*"]),
    *(
        parse_pattern(text, "glob")
        for text in ["a*", "*b", "a*b", "*/*", "*a*b*", "*", "a/*", "*.b", "*a*/*"]
    ),
]
TOPICS = ["a/b", "a.b", "a/b/b", "a.b.b", "a", "b", "a/", "a.", ".b", "$a/b", "ab", "a/b.b"]
"""So few patterns and topics that they meet all the time."""

CROWDED_VALUES = [0, 1, 1.5, 2, True, "a", "b"]

topics = st.one_of(
    st.sampled_from(TOPICS),
    st.sampled_from(TOPICS),
    strategies.topics(),
    strategies.parsed_patterns().flatmap(strategies.topics_of),
)
crowded_fields = st.fixed_dictionaries({name: st.sampled_from(CROWDED_VALUES) for name in "abc"})
contents = st.one_of(
    crowded_fields, crowded_fields, criteria_strategies.contents(), criteria_strategies.wild_contents()
)
patterns = st.sampled_from(PATTERNS) | strategies.parsed_patterns()
criteria = st.just(ALWAYS) | criteria_strategies.terms().map(lambda term: Criteria(term_to_text(term), term))


def crowd_criteria(dice: Random) -> str:
    """A condition of the kinds that are filed, or none; like many others in its crowd."""
    names = dice.sample("abc", dice.randint(0, 3))
    joint = dice.choice([" and ", " and ", " or "])
    return joint.join(_crowd_comparison(name, dice) for name in names)


def _crowd_comparison(name: str, dice: Random) -> str:
    one, other = dice.choices(["0", "1", "1.5", "2"], k=2)
    forms = [
        "= {}",
        "= {}",
        "= true",
        "= 'a'",
        "> {}",
        "<= {}",
        "between {} and {}",
        "in ({}, {}, 'b')",
        "!= {}",
    ]
    return f"{name} {dice.choice(forms).format(one, other)}"


class RouterMachine(RuleBasedStateMachine):
    """Does the same to a router and to a dict, and compares what they say."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, Subscription] = {}
        self.router = Router()

    @initialize(cache=st.sampled_from([0, 1, 64]), policy=st.sampled_from(sorted(POLICIES)))
    def start(self, cache: int, policy: str) -> None:
        self.router = Router(cache=cache, share_policy=policy)
        self.subscribe_a_crowd(PATTERNS[1], cache, 10)
        if cache != 1:
            self.subscribe_to_every_pattern(cache)

    # ── changes ───────────────────────────────────────────────────────────────────────────

    @rule(
        target=ids,
        pattern=patterns,
        subscriber=st.sampled_from(SUBSCRIBERS),
        where=criteria,
        id=st.none() | st.sampled_from(IDS),
        group=st.sampled_from([None, None, "g", "h"]),
        data=st.integers(),
    )
    def subscribe(
        self, pattern: Pattern, subscriber: str, where: Criteria, id: str | None, group: str | None, data: int
    ) -> str:
        subscription = self.router.subscribe(
            pattern.text,
            subscriber,
            dialect=pattern.dialect,
            match=pattern.match,
            where=where,
            id=id,
            group=pattern.group or group,
            data=data,
        )
        assert id is not None or subscription.id not in self.held
        assert subscription.pattern == pattern
        self.held[subscription.id] = subscription
        return subscription.id

    @rule(pattern=st.sampled_from(PATTERNS), seed=st.integers(0, 2**32), size=st.integers(5, 40))
    def subscribe_a_crowd(self, pattern: Pattern, seed: int, size: int) -> None:
        dice = Random(seed)
        for _ in range(size):
            where = crowd_criteria(dice)
            subscription = self.router.subscribe(pattern, dice.choice(SUBSCRIBERS), where=where, data=where)
            self.held[subscription.id] = subscription

    @rule(seed=st.integers(0, 2**32))
    def subscribe_to_every_pattern(self, seed: int) -> None:
        dice = Random(seed)
        for pattern in dice.sample(PATTERNS, len(PATTERNS)):
            where = dice.choice(["", crowd_criteria(dice)])
            subscription = self.router.subscribe(pattern, dice.choice(SUBSCRIBERS), where=where)
            self.held[subscription.id] = subscription

    @precondition(lambda self: len(self.held) > 5)
    @rule(seed=st.integers(0, 2**32))
    def unsubscribe_a_crowd(self, seed: int) -> None:
        dice = Random(seed)
        for id in dice.sample(sorted(self.held), dice.randint(1, len(self.held))):
            self._removed(self.router.unsubscribe(id), [id])

    @rule(id=consumes(ids))
    def unsubscribe_by_id(self, id: str) -> None:
        self._removed(self.router.unsubscribe(id), [id] if id in self.held else [])

    @precondition(lambda self: self.held)
    @rule(data=st.data(), by=st.sampled_from(["id", "both", "pattern", "subscriber", "both", "all"]))
    def unsubscribe_some(self, data: st.DataObject, by: str) -> None:
        like = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        wanted: dict[str, str] = {}
        if by in ("pattern", "both", "all"):
            wanted["pattern"] = like.pattern.text
        if by in ("subscriber", "both", "all"):
            wanted["subscriber"] = like.subscriber
        if by in ("id", "all"):
            wanted["id"] = like.id
        expected = [each.id for each in self.held.values() if _has(each, **wanted)]
        self._removed(self.router.unsubscribe(**wanted), expected)

    @rule(data=st.data())
    def replan(self, data: st.DataObject) -> None:
        counts = st.dictionaries(criteria_strategies.scalars(), st.integers(1, 50))
        values = data.draw(st.dictionaries(st.sampled_from(["a", "b", "c"]), counts))
        self.router.replan(Statistics(100, values))

    def _removed(self, removed: list[str], expected: list[str]) -> None:
        assert sorted(removed) == sorted(expected)
        for id in removed:
            del self.held[id]

    # ── questions ─────────────────────────────────────────────────────────────────────────

    @rule(topic=topics, content=st.none() | contents)
    def match(self, topic: str, content: Fields | None) -> None:
        found = self.router.match(topic, content, collapse_groups=False)
        assert Counter(match.subscription.id for match in found) == Counter(self._wanting(topic, content))
        assert all(match.subscription is self.held[match.subscription.id] for match in found)

    @rule(seed=st.integers(0, 2**32))
    def match_every_topic(self, seed: int) -> None:
        dice = Random(seed)
        for topic in TOPICS:
            self.match(topic, {name: dice.choice(CROWDED_VALUES) for name in "abc"})

    @rule(topic=topics, content=contents)
    def match_one_of_each_group(self, topic: str, content: Fields) -> None:
        wanting = {id: group_of(self.held[id]) for id in self._wanting(topic, content)}
        found = [match.subscription.id for match in self.router.match(topic, content)]
        assert set(found) <= set(wanting)
        assert {id for id in found if wanting[id] is None} == {id for id in wanting if wanting[id] is None}
        chosen = Counter(wanting[id] for id in found if wanting[id] is not None)
        assert chosen == Counter({group for group in wanting.values() if group is not None})

    @rule(topic=topics, content=contents)
    def search(self, topic: str, content: Fields) -> None:
        expected: dict[tuple[str, Pattern], dict[str, Any]] = {}
        for id in self._wanting(topic, content):
            each = self.held[id]
            expected.setdefault((each.subscriber, each.pattern), {})[id] = each.data
        found = self.router.search(topic, content, collapse_groups=False)
        assert len(found) == len(expected)
        for entry in found:
            (pattern,) = {self.held[id].pattern for id in entry.data}
            assert pattern.text == entry.pattern
            assert entry.data == expected[entry.subscriber, pattern]
            assert entry.ref_count == len(entry.data)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), topic=topics, content=contents)
    def explain(self, data: st.DataObject, topic: str, content: Fields) -> None:
        subscription = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        explanation = self.router.explain(topic, content, subscription.id)
        assert explanation.is_match is wants(subscription, topic, content)
        assert explanation.reason
        assert (explain_mismatch(subscription.pattern, topic) or explanation.reason) == explanation.reason

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def plan(self, data: st.DataObject) -> None:
        plan = self.router.plan(data.draw(st.sampled_from(sorted(self.held))))
        assert plan.probe
        assert 0 <= plan.share <= 1

    @invariant()
    def holds_as_many(self) -> None:
        assert len(self.router) == len(self.held)
        assert {each.id for each in self.router} == set(self.held)

    def teardown(self) -> None:
        assert_tidy(self.router)
        self.match_every_topic(len(self.held))
        for id in list(self.held):
            self._removed(self.router.unsubscribe(id), [id])
            if len(self.held) % 8 == 0:
                self.match_every_topic(len(self.held))
                assert_tidy(self.router)
        assert_nothing_is_left(self.router)

    def _wanting(self, topic: str, content: Fields | None) -> list[str]:
        return [id for id, each in self.held.items() if wants(each, topic, content or {})]


def _has(
    subscription: Subscription,
    id: str | None = None,
    pattern: str | None = None,
    subscriber: str | None = None,
) -> bool:
    return (
        id in (None, subscription.id)
        and pattern in (None, subscription.pattern.text)
        and subscriber in (None, subscription.subscriber)
    )


TestRouter = RouterMachine.TestCase
TestRouter.settings = settings(max_examples=40, stateful_step_count=25)


class CrowdedRouterMachine(RouterMachine):
    """The same where two are a crowd: everything is split and moved all the time."""


TestCrowdedRouter = CrowdedRouterMachine.TestCase
TestCrowdedRouter.settings = settings(max_examples=70, stateful_step_count=25)


@pytest.fixture(autouse=True)
def low_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.cls is not TestCrowdedRouter:
        return
    monkeypatch.setattr(segments, "MANY_SHAPES", 2)
    monkeypatch.setattr(segments, "DEEP", 3)
    monkeypatch.setattr(segments, "_DEEP_CLASS", 4)
    monkeypatch.setattr(content, "CROWDED_KEY", 2)
    monkeypatch.setattr(content, "MOST_PLACES", 6)
    monkeypatch.setattr(buckets, "CROWD", 4)
    monkeypatch.setattr(bounds, "BLOCK", 1)
    monkeypatch.setattr(lengths, "MANY_LENGTHS", 1)
