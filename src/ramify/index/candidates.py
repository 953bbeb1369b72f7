"""One clause of one subscription's criteria, on its way to being proven by an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ramify.criteria import Clause, Literal, compile_term, resolve
from ramify.criteria.plan import FilingKey, IntervalKey
from ramify.model import All, Fields, Match, Term

if TYPE_CHECKING:
    from ramify.index.content import Content

Test = Callable[[Fields], bool]


class Candidate:
    """A clause, filed in one place of a content index."""

    __slots__ = ("bound", "home", "key", "match", "node", "open", "rest", "siblings", "slot", "spans", "test")

    def __init__(
        self,
        match: Match,
        open_literals: Clause,
        rest: tuple[Term, ...],
        siblings: list[Candidate],
        spans: tuple[IntervalKey, ...] = (),
    ) -> None:
        self.match = match
        self.open = open_literals
        """The literals that could still choose a place for it."""
        self.rest = rest
        """The literals that being found does not prove: they are tested."""
        self.spans = spans
        """The stretches of numbers that it was found near, and must be within."""
        self.siblings = siblings
        """Every candidate of the same subscription, this one among them."""
        self.test: Test | None = self._test_spans if spans else self._compile_and_test if rest else None
        # Where it is filed, said by the node that files it.
        self.node: Content | None = None
        self.key: FilingKey | None = None
        self.home: Any = None
        self.slot: Any = None
        self.bound: Any = None
        siblings.append(self)

    @property
    def tested(self) -> tuple[Term, ...]:
        """All that is tested on an event that finds it."""
        within = [term for key in self.spans for term in key.span.comparisons(key.path)]
        return (*within, *self.rest)

    def beneath(self, key: FilingKey) -> Candidate:
        """The same clause for events that meet this key of it."""
        proven: tuple[Literal | None, ...]
        if isinstance(key, IntervalKey):
            proven, spans = key.literals, (*self.spans, key)
        else:
            proven, spans = (key.literal,), self.spans
        still_open = tuple([literal for literal in self.open if getattr(literal, "path", None) != key.path])
        rest = tuple([literal for literal in self.rest if not any(literal is each for each in proven)])
        return Candidate(self.match, still_open, rest, self.siblings, spans)

    def _test_spans(self, fields: Fields) -> bool:
        """Compare numbers without compiling anything: an event near many spans meets most of them once."""
        for key in self.spans:
            value, span = resolve(fields, key.path), key.span
            kind = type(value)
            if kind is not int and kind is not float:
                return False
            low, high = span.low, span.high
            if not (low < value or (low == value and span.low_included)):
                return False
            if not (value < high or (value == high and span.high_included)):
                return False
        if not self.rest:
            return True
        holds = compile_term(All(self.tested))
        self.test = holds
        return holds(fields)

    def _compile_and_test(self, fields: Fields) -> bool:
        """Compile when the first event comes: many subscriptions never see one."""
        self.test = compile_term(All(self.rest))
        return self.test(fields)
