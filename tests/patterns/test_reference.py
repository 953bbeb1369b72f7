"""The reference agrees with every table of truth, and with a second opinion."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.model import Dialect, Exact, Glob, Levels, Pattern, Rest
from ramify.patterns import matches, parse_pattern, pattern_matches
from tests.cases import load
from tests.cases.load import GlobCase, MatchCase, ShareCase, StoreScript, StoreStep
from tests.strategies import dialects, parsed_patterns, pattern_and_topic, topics, topics_of

EXAMPLES = [
    # [MQTT-4.7.2-1] A leading wildcard does not see internal topics.
    ("mqtt", "#", "$SYS/a", False),
    ("mqtt", "+/a", "$SYS/a", False),
    ("mqtt", "$share/g/#", "$SYS/a", False),
    ("mqtt", "$SYS/#", "$SYS/a", True),
    ("mqtt", "#", "", True),
    ("path", "/1/*", "/1/a", True),
    ("path", "/1/*", "/1/", True),
    ("path", "/1/*", "/1/a/2", False),
    ("path", "/1/*", "/1", False),
    ("path", "*/a", "$s/a", True),
    ("glob", "*", "", True),
    ("nats", "a.*", "a.b", True),
    ("nats", "a.*", "a.", False),
    ("nats", "a.>", "a", False),
    ("nats", "a.>", "a.b.c", True),
    ("nats", "a.>", "a.", True),
    ("nats", ">", "a", True),
    ("wamp", "*", "a", True),
    ("wamp", "a..c", "a.b.c", True),
    ("wamp", "a..c", "a..c", False),
    ("wamp", "a._", "a.", False),
]

MATCH_OPTION = [
    ("a.b", "exact", "a.b", True),
    ("a..b", "exact", "a..b", True),
    ("a..b", "exact", "a.x.b", False),
    ("a.b", "prefix", "a.bcd.e", True),
    ("a.b", "prefix", "a", False),
    ("", "prefix", "anything", True),
    ("a._", "wildcard", "a.b", False),
    ("a.", "wildcard", "a.b", True),
]


CHOSEN: dict[str, Callable[[StoreStep, StoreStep], bool]] = {
    "remove_id": lambda step, added: added.ref == step.ref,
    "remove_pattern": lambda step, added: added.pattern == step.pattern,
    "remove_subscriber": lambda step, added: added.subscriber == step.subscriber,
    "remove_pattern_of": lambda step, added: (
        (added.pattern, added.subscriber) == (step.pattern, step.subscriber)
    ),
    "search": lambda step, added: matches("glob", added.pattern, step.topic),
}
"""Which of the held subscriptions a step of a script removes or finds."""


@pytest.mark.parametrize("case", load.glob_match(), ids=str)
def test_globs_match_as_the_table_says(case: GlobCase) -> None:
    found = {number for number, text in enumerate(case.patterns) if matches("glob", text, case.topic)}
    assert found == case.expected


@pytest.mark.parametrize("case", load.mqtt_match(), ids=str)
def test_mqtt_matches_as_the_table_says(case: MatchCase) -> None:
    assert matches("mqtt", case.pattern, case.topic) is case.match


@pytest.mark.parametrize("case", load.mqtt_share(), ids=str)
def test_shares_match_as_the_table_says(case: ShareCase) -> None:
    assert matches("mqtt", case.pattern, case.topic) is case.match


@pytest.mark.parametrize("case", load.wamp_match(), ids=str)
def test_wamp_matches_as_the_table_says(case: MatchCase) -> None:
    assert matches("wamp", case.pattern, case.topic) is case.match


@pytest.mark.parametrize("script", load.store_scripts(), ids=range(len(load.store_scripts())))
def test_a_list_of_globs_finds_what_the_scripts_find(script: StoreScript) -> None:
    held: dict[int, StoreStep] = {}
    for step in script.steps:
        if step.op == "add" and step.ref is not None:
            held[step.ref] = step
            continue
        found = sorted(ref for ref, added in held.items() if CHOSEN[step.op](step, added))
        assert found == list(step.expected)
        if step.op != "search":
            held = {ref: added for ref, added in held.items() if ref not in found}


def test_the_mqtt_scripts_match_the_patterns_they_name() -> None:
    for script in load.mqtt_trie_scripts():
        for op in script.ops:
            if op.name == "match":
                topic, expected = op.arguments
                assert all(matches("mqtt", pattern, topic) for _, pattern in expected)


@pytest.mark.parametrize(("dialect", "pattern", "topic", "expected"), EXAMPLES)
def test_each_dialect_keeps_its_own_rules(dialect: str, pattern: str, topic: str, expected: bool) -> None:
    assert matches(dialect, pattern, topic) is expected


@pytest.mark.parametrize(("pattern", "match", "topic", "expected"), MATCH_OPTION)
def test_wamp_matches_as_its_option_says(pattern: str, match: str, topic: str, expected: bool) -> None:
    assert matches(Dialect.WAMP, pattern, topic, match=match) is expected


def test_a_pattern_that_is_already_read_is_taken_as_it_is() -> None:
    assert matches("wamp", parse_pattern("a*", "glob"), "ab")


@given(st.data(), dialects())
def test_a_regular_expression_comes_to_the_same_answer(data: st.DataObject, dialect: Dialect) -> None:
    text, topic = data.draw(pattern_and_topic(dialect))
    pattern = parse_pattern(text, dialect)
    assert pattern_matches(pattern, topic) is (re.fullmatch(expression(pattern), topic, re.S) is not None)


@given(st.data(), parsed_patterns())
def test_a_pattern_matches_its_own_topics_unless_they_are_hidden_or_empty_where_they_must_not(
    data: st.DataObject, pattern: Pattern
) -> None:
    topic = data.draw(topics_of(pattern))
    is_hidden = topic.startswith("$") and pattern.dialect is Dialect.MQTT
    has_empty = "" in topic.split(".") and pattern.dialect in (Dialect.WAMP, Dialect.NATS)
    assert pattern_matches(pattern, topic) or is_hidden or has_empty


@given(topics())
def test_a_star_matches_every_topic(topic: str) -> None:
    assert matches("glob", "*", topic)
    assert matches("nats", ">", topic)
    assert matches("wamp", "*", topic)
    assert matches("mqtt", "#", topic) is not topic.startswith("$")


def test_a_glob_of_many_stars_is_judged_in_linear_time() -> None:
    assert not matches("glob", "*a" * 5_000 + "b", "a" * 60_000)


def expression(pattern: Pattern) -> str:
    """A second opinion on what a form means."""
    form = pattern.form
    if isinstance(form, Exact):
        return re.escape(form.text)
    if isinstance(form, Glob):
        return ".*".join(map(re.escape, form.pieces))
    return level_expression(form)


def level_expression(form: Levels) -> str:
    separator = re.escape(form.rules.separator)
    one = f"[^{separator}]" + ("*" if form.rules.wildcard_takes_empty else "+")
    named = separator.join(one if level is None else re.escape(level) for level in form.levels)
    behind = f"{separator}.*" if form.levels else ".*"
    rest = {Rest.NONE: "", Rest.ANY: f"({behind})?", Rest.SOME: behind}[form.rest]
    begins_with_wildcard = (form.levels or (None,))[0] is None
    return ("(?![$])" if form.rules.hides_internal and begins_with_wildcard else "") + named + rest
