"""The rule of order: changes are made durable, then the answer is given and the effects are carried out.

    reply ──no changes, nobody waits──→ answer, effects
      └──→ waiting ──commit of all that waits──→ answers, effects, in the order of the commands

Replies that come while a commit runs wait for the next one, together: a group commit. Whoever has
nothing to write waits too, so that no client sees its answers in another order than it asked.
Only events of quality 0 may pass, because they are owed no order among others; and only if none
of their own kind is waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ramify.broker import Effect, Reply
from ramify.broker.changes import Change
from ramify.net.storing import Store

Say = Callable[[Any, Any], None]
"""Gives an answer to whoever asked, with what it is about."""

_Waiting = tuple[Reply[Any], Say | None, Any]


class Turns:
    """Carries replies out in their order, those with changes behind a commit."""

    __slots__ = ("_carry_out", "_changes", "_commit", "_fail", "_is_carrying", "_plain", "_store", "_waiting")

    def __init__(
        self,
        store: Store | None,
        carry_out: Callable[[tuple[Effect, ...]], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self._store, self._carry_out, self._fail = store, carry_out, fail
        self._waiting: list[_Waiting] = []
        self._changes: list[Change] = []
        self._plain = 0
        """How many of those that wait must not be passed by events of quality 0."""
        self._commit: asyncio.Task[None] | None = None
        self._is_carrying = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be made durable."""
        return self._commit is None and not self._waiting

    def take(
        self, reply: Reply[Any], say: Say | None = None, about: Any = None, *, is_plain: bool = True
    ) -> None:
        """Carry a reply out now, or when what it rests on is durable."""
        if self._store is None or not (reply.changes or self._waiting or self._commit or self._is_carrying):
            self._give(reply, say, about)
            return
        self._waiting.append((reply, say, about))
        self._changes += reply.changes
        self._plain += is_plain

    def take_plain(self, reply: Reply[Any]) -> None:
        """Carry out what became of an event of quality 0, which is not answered."""
        if reply.changes or self._plain:
            self.take(reply)
        elif reply.effects:
            self._carry_out(reply.effects)

    def end(self) -> None:
        """End a turn of the loop: begin to write what has gathered, unless that is being done."""
        while self._commit is None and not self._is_carrying and self._waiting:
            self._begin()

    def _begin(self) -> None:
        batch, self._waiting = self._waiting, []
        changes, self._changes = self._changes, []
        plain, self._plain = self._plain, 0
        if not changes:
            self._give_all(batch)
            return
        self._plain = plain
        self._commit = asyncio.get_running_loop().create_task(self._write(changes))
        self._commit.add_done_callback(lambda commit: self._end_commit(commit, batch, plain))

    async def _write(self, changes: Sequence[Change]) -> None:
        if self._store is not None:
            await self._store.commit(changes)

    def _end_commit(self, commit: asyncio.Task[None], batch: list[_Waiting], plain: int) -> None:
        self._commit = None
        if commit.cancelled():
            return
        failure = commit.exception()
        if failure is not None:
            self._fail(failure)  # Nothing of it is answered: it is not safe.
            return
        self._plain -= plain
        self._give_all(batch)
        self.end()

    def _give_all(self, batch: list[_Waiting]) -> None:
        self._is_carrying = True
        try:
            for reply, say, about in batch:
                self._give(reply, say, about)
        finally:
            self._is_carrying = False

    def _give(self, reply: Reply[Any], say: Say | None, about: Any) -> None:
        if say is not None:
            say(reply.answer, about)
        if reply.effects:
            self._carry_out(reply.effects)
