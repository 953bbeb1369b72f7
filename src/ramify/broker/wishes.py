"""From what a client asks for to what it means, or to the reason why it cannot be granted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ramify.broker.coalescing import debounce_policy
from ramify.broker.effects import Granted
from ramify.broker.outcomes import Outcome
from ramify.broker.values import Limits, Wish
from ramify.criteria import parse_criteria
from ramify.deferred import Policy
from ramify.errors import CallerError, InvalidCriteria, InvalidPattern
from ramify.model import ALWAYS, Criteria, Dialect, Exact, Form, Glob, Pattern
from ramify.patterns import mqtt, parse_pattern
from ramify.patterns.groups import agreed_group


@dataclass(frozen=True, slots=True)
class Meaning:
    """A wish, read."""

    pattern: Pattern
    criteria: Criteria
    group: str | None
    policy: Policy | None
    """How its deliveries wait for each other, if they do."""


def read_wish(wish: Wish, limits: Limits) -> Meaning | Granted:
    """What a wish means, or the refusal."""
    for is_broken, outcome, reason in BEFORE_READING:
        if is_broken(wish, limits):
            return Granted(outcome, reason=reason)
    try:
        meaning = _read(wish, limits)
    except InvalidPattern as error:
        return Granted(Outcome.INVALID_PATTERN, reason=str(error))
    except InvalidCriteria as error:
        return Granted(Outcome.INVALID_CRITERIA, reason=str(error))
    except CallerError as error:
        return Granted(Outcome.INVALID_OPTION, reason=str(error))
    if _depth(meaning.pattern.form) > limits.levels:
        return Granted(Outcome.QUOTA_EXCEEDED, reason=f"a pattern has at most {limits.levels} levels")
    if wish.no_local and meaning.group is not None:
        # [MQTT-3.8.3-4]
        return Granted(Outcome.INVALID_OPTION, reason="a share has no publisher of its own to leave out")
    return meaning


def _read(wish: Wish, limits: Limits) -> Meaning:
    if wish.dialect == Dialect.MQTT:
        pattern = mqtt.parse(wish.pattern, shares=wish.knows_shares)
    else:
        pattern = parse_pattern(wish.pattern, wish.dialect)
    criteria = parse_criteria(wish.where) if wish.where else ALWAYS
    policy = None if wish.debounce is None else debounce_policy(wish.debounce, limits)
    return Meaning(pattern, criteria, agreed_group(pattern, wish.group), policy)


def _depth(form: Form) -> int:
    if isinstance(form, Exact):
        return form.text.count("/") + 1
    return len(form.pieces) if isinstance(form, Glob) else len(form.levels)


BEFORE_READING: tuple[tuple[Callable[[Wish, Limits], bool], Outcome, str], ...] = (
    (lambda w, most: len(w.pattern) > most.pattern_length, Outcome.QUOTA_EXCEEDED, "the pattern is too long"),
    (
        lambda w, most: len(w.where) > most.criteria_length,
        Outcome.QUOTA_EXCEEDED,
        "the criteria are too long",
    ),
    (lambda w, most: w.quality not in (0, 1, 2), Outcome.INVALID_OPTION, "the quality is 0, 1 or 2"),
    (
        lambda w, most: w.retain_handling not in (0, 1, 2),
        Outcome.INVALID_OPTION,
        "the handling of retained events is 0, 1 or 2",
    ),
)
