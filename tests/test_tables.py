"""Every implementation agrees with every table of truth."""

import pytest

from ramify.criteria import parse_criteria
from ramify.model import Subscription
from ramify.patterns import parse_pattern
from tests.cases import load
from tests.cases.load import GlobCase, MatchCase, ShareCase
from tests.criteria.cases import CRITERIA_CASES, CriteriaCase
from tests.implementations import IMPLEMENTATIONS, Answer, subscribed

pytestmark = pytest.mark.parametrize("answer", IMPLEMENTATIONS, ids=lambda answer: answer.__name__)


@pytest.mark.parametrize("case", load.glob_match(), ids=str)
def test_globs_match_as_the_table_says(answer: Answer, case: GlobCase) -> None:
    found = answer(subscribed(*case.patterns, dialect="glob"), case.topic, {})
    assert found == set(map(str, case.expected))


@pytest.mark.parametrize("case", load.mqtt_match(), ids=str)
def test_mqtt_matches_as_the_table_says(answer: Answer, case: MatchCase) -> None:
    assert bool(answer(subscribed(case.pattern), case.topic, {})) is case.match


@pytest.mark.parametrize("case", load.mqtt_share(), ids=str)
def test_shares_match_as_the_table_says(answer: Answer, case: ShareCase) -> None:
    (subscription,) = subscribed(case.pattern)
    assert subscription.group == case.group
    assert bool(answer([subscription], case.topic, {})) is case.match


@pytest.mark.parametrize("case", load.wamp_match(), ids=str)
def test_wamp_matches_as_the_table_says(answer: Answer, case: MatchCase) -> None:
    assert bool(answer(subscribed(case.pattern, dialect="wamp"), case.topic, {})) is case.match


@pytest.mark.parametrize("case", CRITERIA_CASES, ids=str)
def test_criteria_hold_as_the_table_says(answer: Answer, case: CriteriaCase) -> None:
    where = parse_criteria(case.criteria)
    assert bool(answer(subscribed("a/+", where=where), "a/b", case.fields)) is case.expected


def test_all_patterns_of_a_table_beside_each_other_match_as_each_does_alone(answer: Answer) -> None:
    cases = load.mqtt_match()
    subscriptions = subscribed(*(case.pattern for case in cases))
    for case in cases:
        found = answer(subscriptions, case.topic, {})
        expected = {
            str(number) for number, other in enumerate(cases) if other.pattern == case.pattern and case.match
        }
        assert {id for id in found if cases[int(id)].pattern == case.pattern} == expected


def test_all_criteria_of_a_table_beside_each_other_hold_as_each_does_alone(answer: Answer) -> None:
    pattern = parse_pattern("a")
    subscriptions = [
        Subscription(str(number), "someone", pattern, parse_criteria(case.criteria))
        for number, case in enumerate(CRITERIA_CASES)
    ]
    for number, case in list(enumerate(CRITERIA_CASES))[::5]:
        assert (str(number) in answer(subscriptions, "a", case.fields)) is case.expected
