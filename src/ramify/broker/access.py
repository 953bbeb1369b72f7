"""Who may publish and receive what: rules in order, of which the first that fits decides.

In a rule's pattern `%u` stands for the name of the user and `%c` for that of the client. A name
with a wildcard or a separator in it fits no such rule, so nobody is called `#` to any effect.

A topic is judged by the first rule whose pattern matches it. A subscription's pattern is judged
by the first rule that covers all of it: one that denies refuses it, one that allows grants
it. What a rule denies in the midst of what a later one allows is left out on delivery.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ramify.model import Dialect, Pattern
from ramify.patterns import covers, parse_pattern, pattern_matches

_SIGNS = frozenset("+#*>/.$\0")


class Action(StrEnum):
    """What a client does with a topic."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"


class Rule(Struct, frozen=True):
    """One line of the rules; without an action or a user it is for all."""

    pattern: str
    is_allowed: bool = True
    action: Action | None = None
    user: str | None = None
    dialect: str = Dialect.MQTT

    def __post_init__(self) -> None:
        # A pattern that cannot be read is refused here, and not when the first client connects.
        parse_pattern(self.pattern.replace("%u", "u").replace("%c", "c"), self.dialect)


class Rights:
    """What one client may do; answers about topics are remembered."""

    __slots__ = ("_default", "_known", "_rules", "are_unlimited")

    MOST_KNOWN = 1_000

    def __init__(self, rules: tuple[tuple[Action | None, Pattern, bool], ...], default: bool) -> None:
        self._rules = rules
        self._default = default
        self._known: dict[tuple[Action, str], bool] = {}
        self.are_unlimited = default and not rules
        """Whether everything is allowed."""

    def allow(self, action: Action, topic: str) -> bool:
        """Whether the client may publish to this topic, or receive what others publish to it."""
        if self.are_unlimited:
            return True
        known = self._known.get((action, topic))
        if known is None:
            known = self._judge(action, topic)
            if len(self._known) >= self.MOST_KNOWN:
                self._known.clear()
            self._known[action, topic] = known
        return known

    def allow_pattern(self, pattern: Pattern) -> bool:
        """Whether the client may subscribe to this."""
        for wanted, rule, is_allowed in self._rules:
            if wanted in (None, Action.SUBSCRIBE) and covers(rule, pattern):
                return is_allowed
        return self._default

    def _judge(self, action: Action, topic: str) -> bool:
        for wanted, rule, is_allowed in self._rules:
            if wanted in (None, action) and pattern_matches(rule, topic):
                return is_allowed
        return self._default


class Access(Struct, frozen=True):
    """All the rules; whatever none of them fits is denied, unless said otherwise."""

    rules: tuple[Rule, ...] = ()
    is_open: bool = False

    def rights_of(self, user: str | None, client: str) -> Rights:
        """What one client may do."""
        fitting = [
            (rule.action, parse_pattern(text, rule.dialect), rule.is_allowed)
            for rule in self.rules
            if rule.user in (None, user) and (text := _filled_in(rule.pattern, user, client)) is not None
        ]
        return Rights(tuple(fitting), self.is_open)


OPEN = Access(is_open=True)
"""Everyone may do everything."""


def _filled_in(pattern: str, user: str | None, client: str) -> str | None:
    """The pattern with names in it; `None` where a name cannot stand in a pattern."""
    for sign, name in (("%u", user), ("%c", client)):
        if sign in pattern:
            if not name or not _SIGNS.isdisjoint(name):
                return None
            pattern = pattern.replace(sign, name)
    return pattern
