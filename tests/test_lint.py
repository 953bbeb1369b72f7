"""The linter accuses rightly, stays silent where it is not sure, and ends in good time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.criteria import holds, parse_criteria
from ramify.lint import Kind, Severity, lint
from ramify.lint import pairs as pairs_module
from ramify.model import Subscription
from ramify.patterns import parse_pattern, pattern_matches
from tests.criteria_strategies import contents
from tests.strategies import parsed_patterns, topics


def subscription(
    id: str,
    pattern: str,
    where: str = "",
    subscriber: str = "alice",
    dialect: str = "mqtt",
    group: str | None = None,
) -> Subscription:
    return Subscription(id, subscriber, parse_pattern(pattern, dialect), parse_criteria(where), None, group)


def found(*subscriptions: Subscription) -> list[tuple[Kind, tuple[str, ...]]]:
    return [(finding.kind, finding.ids) for finding in lint(subscriptions)]


PAIRS = [
    # the first, the second, what is found
    (("a/b", ""), ("a/b", ""), [(Kind.DUPLICATE, ("2", "1"))]),
    (("a/b", "x = 1 and y = 2"), ("a/b", "y = 2 and x = 1"), [(Kind.DUPLICATE, ("2", "1"))]),
    (("a/b", "x = 1"), ("a/b", "x = true"), []),
    (("a/b", "x = 1"), ("a/b", "x = 2"), []),
    (("a/b", "x > 1"), ("a/b", "x < 1"), []),
    (("a/b", "x > 1"), ("a/b", "y > 1"), [(Kind.OVERLAPPING, ("2", "1"))]),
    (("a/b", ""), ("a/c", ""), []),
    (("a/#", ""), ("a/b", ""), [(Kind.SHADOWED, ("2", "1"))]),
    (("a/b", ""), ("a/#", ""), [(Kind.SHADOWED, ("1", "2"))]),
    (("a/b", "x = 1"), ("a/b", ""), [(Kind.SHADOWED, ("1", "2"))]),
    (("a/#", ""), ("a/b", "x = 1"), [(Kind.SHADOWED, ("2", "1"))]),
    (("a/#", "x = 1"), ("a/b", "x = 1"), [(Kind.SHADOWED, ("2", "1"))]),
    (("a/#", "x = 1"), ("a/b", ""), [(Kind.OVERLAPPING, ("2", "1"))]),
    (("a/+/c", ""), ("a/b/+", ""), [(Kind.OVERLAPPING, ("2", "1"))]),
    (("a/+/c", ""), ("a/b/d", ""), []),
    (("a/#", ""), ("a", ""), [(Kind.SHADOWED, ("2", "1"))]),
]


@pytest.mark.parametrize(("first", "second", "expected"), PAIRS)
def test_two_of_one_subscriber_are_compared(
    first: tuple[str, str], second: tuple[str, str], expected: list[tuple[Kind, tuple[str, ...]]]
) -> None:
    assert found(subscription("1", *first), subscription("2", *second)) == expected


def test_dialects_that_say_the_same_are_duplicates() -> None:
    assert found(subscription("1", "a/+"), subscription("2", "a/*", dialect="path")) == [
        (Kind.DUPLICATE, ("2", "1"))
    ]


def test_other_subscribers_and_other_groups_are_not_compared() -> None:
    assert found(subscription("1", "a"), subscription("2", "a", subscriber="bob")) == []
    assert found(subscription("1", "a"), subscription("2", "a", group="g")) == []


def test_a_duplicate_with_other_data_is_only_a_note() -> None:
    one = Subscription("1", "alice", parse_pattern("a"), data=1)
    other = Subscription("2", "alice", parse_pattern("a"), data=2)
    assert [finding.severity for finding in lint([one, other])] == [Severity.NOTE]
    assert [finding.severity for finding in lint([one, Subscription("3", "alice", one.pattern, data=1)])] == [
        Severity.WARNING
    ]


def test_criteria_that_never_hold_are_an_error_and_compared_no_further() -> None:
    (finding,) = lint([subscription("1", "a", "x > 2 and x < 1"), subscription("2", "a")])
    assert (finding.kind, finding.severity, finding.ids) == (Kind.UNREACHABLE, Severity.ERROR, ("1",))


@pytest.mark.parametrize(
    ("pattern", "dialect", "where", "severities"),
    [
        ("#", "mqtt", "", [Severity.WARNING]),
        ("*", "glob", "", [Severity.WARNING]),
        (">", "nats", "", [Severity.WARNING]),
        ("*", "wamp", "", [Severity.WARNING]),
        ("+/#", "mqtt", "", [Severity.WARNING]),
        ("#", "mqtt", "x = 1", []),
        ("+/+", "mqtt", "", []),
        ("*ab*", "glob", "", [Severity.WARNING]),
        ("*abc*", "glob", "", []),
        ("a*", "glob", "", []),
        ("a", "mqtt", "exists(x)", [Severity.NOTE]),
        ("a", "mqtt", "x = 1 or exists(y)", [Severity.NOTE]),
        ("a", "mqtt", "x = 1 and exists(y)", []),
        ("a", "mqtt", "x > 1", []),
    ],
)
def test_what_every_event_pays_for_is_costly(
    pattern: str, dialect: str, where: str, severities: list[Severity]
) -> None:
    findings = lint([subscription("1", pattern, where, dialect=dialect)])
    assert [finding.severity for finding in findings] == severities
    assert all(finding.kind is Kind.COSTLY for finding in findings)


def test_the_gravest_findings_come_first() -> None:
    findings = lint([subscription("1", "a", "exists(x)"), subscription("2", "#", subscriber="bob")])
    assert [finding.severity for finding in findings] == [Severity.WARNING, Severity.NOTE]


WHERE = st.sampled_from(
    ["", "a = 1", "a = 2", "a > 1", "b = 'a'", "a = 1 or b = 'a'", "not a = 1", "exists(b)"]
)
SUBSCRIPTIONS = st.lists(
    st.builds(lambda pattern, where: (pattern, parse_criteria(where)), parsed_patterns(), WHERE), max_size=6
).map(lambda parts: [Subscription(str(n), "alice", *part) for n, part in enumerate(parts)])


@given(SUBSCRIPTIONS, topics(), contents())
def test_what_is_shadowed_or_a_copy_gets_nothing_that_the_other_does_not(
    subscriptions: list[Subscription], topic: str, fields: dict[str, object]
) -> None:
    wanting = {
        subscription.id
        for subscription in subscriptions
        if pattern_matches(subscription.pattern, topic) and holds(subscription.criteria, fields)
    }
    for finding in lint(subscriptions):
        *needless, other = finding.ids
        if finding.kind in (Kind.SHADOWED, Kind.DUPLICATE) and wanting & set(needless):
            assert other in wanting


@given(SUBSCRIPTIONS, topics(), contents())
def test_two_that_an_event_reaches_are_never_passed_over(
    subscriptions: list[Subscription], topic: str, fields: dict[str, object]
) -> None:
    wanting = {
        subscription.id
        for subscription in subscriptions
        if pattern_matches(subscription.pattern, topic) and holds(subscription.criteria, fields)
    }
    named = {id for finding in lint(subscriptions) if finding.kind is not Kind.COSTLY for id in finding.ids}
    assert len(wanting) < 2 or wanting & named


def test_customers_on_one_topic_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "overlaps", lambda *pair: pytest.fail("compared"))
    assert lint([subscription(str(n), "orders", f"customer_id = {n}") for n in range(2000)]) == []


def test_pairs_are_bounded_and_the_finding_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[None] = []
    monkeypatch.setattr(pairs_module, "overlaps", lambda *pair: compared.append(None))
    (finding,) = lint([subscription(str(n), f"+/{n}") for n in range(1000)])
    assert finding.kind is Kind.UNFINISHED
    assert len(compared) <= pairs_module.PAIRS_EACH * 1000
