"""MQTT patterns are read as the standard says."""

import pytest

from ramify.errors import InvalidPattern
from ramify.model import Exact, Form, Levels, Rest
from ramify.patterns import mqtt
from tests.cases import load
from tests.cases.load import BytesCase, ShareCase, ValidCase

READ = [
    ("a/b", Exact("a/b")),
    ("$share", Exact("$share")),
    ("+", Levels(mqtt.RULES, (None,))),
    ("#", Levels(mqtt.RULES, (), Rest.ANY)),
    ("a/#", Levels(mqtt.RULES, ("a",), Rest.ANY)),
    ("/+/", Levels(mqtt.RULES, ("", None, ""))),
    ("+/a/#", Levels(mqtt.RULES, (None, "a"), Rest.ANY)),
    ("*/+", Levels(mqtt.RULES, ("*", None))),
]

REFUSED = [
    # [MQTT-4.7.1-1] '#' stands alone or behind a '/', and is last.
    ("a#", 2, "'#' must fill its level"),
    ("a/#/b", 3, "'#' stands only as the last level"),
    ("#/#", 1, "'#' stands only as the last level"),
    ("+/#b", 3, "'#' must fill its level"),
    # [MQTT-4.7.1-2] '+' fills its level.
    ("a/b+", 4, "'+' must fill its level"),
    ("++", 1, "'+' must fill its level"),
    ("+#", 1, "'+' must fill its level"),
    # [MQTT-4.8.2-1] [MQTT-4.8.2-2] A share has a group without wildcards, and a pattern.
    ("$share/", 8, "a share needs the name of its group"),
    ("$share//a", 8, "a share needs the name of its group"),
    ("$share/g+/a", 9, "'+' cannot stand in the name of a share's group"),
    ("$share/g", 9, "a share needs '/' and a pattern behind its group"),
    ("$share/g/", 10, "a pattern has at least one character"),
    ("$share/g/a/#/b", 12, "'#' stands only as the last level"),
]


@pytest.mark.parametrize(("text", "form"), READ)
def test_a_text_becomes_its_form(text: str, form: Form) -> None:
    assert mqtt.parse(text).form == form


@pytest.mark.parametrize(("text", "column", "reason"), REFUSED)
def test_a_misplaced_sign_is_named_with_its_column(text: str, column: int, reason: str) -> None:
    with pytest.raises(InvalidPattern) as refused:
        mqtt.parse(text)
    assert (refused.value.text, refused.value.column, refused.value.reason) == (text, column, reason)


@pytest.mark.parametrize("case", load.mqtt_share(), ids=lambda case: case.pattern)
def test_a_share_means_the_pattern_behind_its_group(case: ShareCase) -> None:
    pattern = mqtt.parse(case.pattern)
    assert pattern.text == case.pattern
    assert pattern.group == case.group
    assert pattern.form == mqtt.parse(case.real_pattern).form


def test_version_3_1_1_reads_a_share_as_an_ordinary_pattern() -> None:
    pattern = mqtt.parse("$share/g/+", shares=False)
    assert (pattern.group, pattern.form) == (None, Levels(mqtt.RULES, ("$share", "g", None)))


@pytest.mark.parametrize("case", load.mqtt_valid(), ids=lambda case: case.pattern)
def test_version_5_takes_what_the_table_takes(case: ValidCase) -> None:
    assert is_taken(case.pattern) is case.valid


@pytest.mark.parametrize("case", load.mqtt_valid(), ids=lambda case: case.pattern)
def test_version_3_1_1_takes_what_the_table_takes(case: ValidCase) -> None:
    assert is_taken(case.pattern, shares=False) is case.valid_v311


@pytest.mark.parametrize("case", load.mqtt_valid_repeat(), ids=lambda case: case.ref)
def test_length_is_limited_by_bytes_and_levels_are_not(case: ValidCase) -> None:
    assert is_taken(case.pattern) is case.valid


@pytest.mark.parametrize("case", load.mqtt_valid_hex(), ids=lambda case: case.ref)
def test_bytes_are_taken_only_if_they_are_utf_8_that_may_stand_in_a_pattern(case: BytesCase) -> None:
    # Whoever reads the wire may decode strictly or let surrogates through: both must refuse.
    assert is_taken(case.pattern.decode(errors="surrogateescape")) is case.valid


def is_taken(text: str, *, shares: bool = True) -> bool:
    try:
        mqtt.parse(text, shares=shares)
    except InvalidPattern:
        return False
    return True
