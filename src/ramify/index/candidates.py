"""One clause of one subscription's criteria, on its way to being proven by an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ramify.criteria import Clause, compile_term
from ramify.criteria.plan import FilingKey, IntervalKey
from ramify.model import All, Fields, Match, Term

if TYPE_CHECKING:
    from ramify.index.content import Content


class Candidate:
    """A clause, filed in one place of a content index."""

    __slots__ = ("bound", "home", "key", "match", "node", "open", "rest", "siblings", "slot", "test")

    def __init__(
        self, match: Match, open_literals: Clause, rest: tuple[Term, ...], siblings: list[Candidate]
    ) -> None:
        self.match = match
        self.open = open_literals
        """The literals that could still choose a place for it."""
        self.rest = rest
        """The literals that being found does not prove: they are tested."""
        self.siblings = siblings
        """Every candidate of the same subscription, this one among them."""
        self.test: Callable[[Fields], bool] | None = self._compile_and_test if rest else None
        # Where it is filed, said by the node that files it.
        self.node: Content | None = None
        self.key: FilingKey | None = None
        self.home: Any = None
        self.slot: Any = None
        self.bound: Any = None
        siblings.append(self)

    def beneath(self, key: FilingKey) -> Candidate:
        """The same clause for events that meet this key of it."""
        proven = None if isinstance(key, IntervalKey) else key.literal
        still_open = tuple([literal for literal in self.open if getattr(literal, "path", None) != key.path])
        rest = tuple([literal for literal in self.rest if literal is not proven])
        return Candidate(self.match, still_open, rest, self.siblings)

    def _compile_and_test(self, fields: Fields) -> bool:
        """Compile when the first event comes: many subscriptions never see one."""
        self.test = compile_term(All(self.rest))
        return self.test(fields)
