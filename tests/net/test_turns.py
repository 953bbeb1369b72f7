"""The rule of order: nothing is answered or delivered before what it rests on is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import pytest

from ramify.broker import Effect, Release, Reply
from ramify.broker.changes import Change, Row, TicketNoted
from ramify.net.turns import Turns


class HeldStore:
    """A store whose commits end when the test says so."""

    def __init__(self) -> None:
        self.commits: list[tuple[Sequence[Change], asyncio.Future[None]]] = []

    def load(self) -> Iterable[Row]:
        return ()

    async def commit(self, changes: Sequence[Change]) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.commits.append((changes, done))
        await done

    async def close(self) -> None:
        pass


class Played:
    """Turns, and all that came of them in order."""

    def __init__(self) -> None:
        self.store = HeldStore()
        self.seen: list[Any] = []
        self.failures: list[BaseException] = []
        self.turns = Turns(self.store, self._carry_out, self.failures.append)

    def _carry_out(self, effects: tuple[Effect, ...]) -> None:
        self.seen += [effect.ticket for effect in effects if isinstance(effect, Release)]

    def take(self, name: str, *, ticket: int = 0, is_durable: bool = False, is_plain: bool = True) -> None:
        effects = (Release("c", ticket),) if ticket else ()
        changes = (TicketNoted("c", ticket),) if is_durable else ()
        self.turns.take(
            Reply(name, effects, changes), lambda answer, about: self.seen.append(answer), is_plain=is_plain
        )

    async def end(self) -> None:
        self.turns.end()
        await settled()

    async def finish(self, place: int, error: Exception | None = None) -> None:
        done = self.store.commits[place][1]
        done.set_result(None) if error is None else done.set_exception(error)
        await settled()


async def settled() -> None:
    """Let everything that can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


def played(play: Callable[[Played], Awaitable[None]]) -> None:
    async def run() -> None:
        await play(Played())

    asyncio.run(run())


def test_what_changes_nothing_is_answered_at_once() -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1)
        assert it.seen == ["a", 1]

    played(play)


def test_answer_and_effects_wait_for_the_commit() -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1, is_durable=True)
        await it.end()
        assert it.seen == []
        assert not it.turns.is_idle
        await it.finish(0)
        assert it.seen == ["a", 1]
        assert it.turns.is_idle

    played(play)


def test_replies_of_one_turn_and_those_that_come_meanwhile_share_commits() -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1, is_durable=True)
        it.take("b", ticket=2, is_durable=True)
        await it.end()
        it.take("c", ticket=3, is_durable=True)
        it.take("d", ticket=4)
        it.take("e", ticket=5, is_durable=True)
        await it.end()
        assert [len(changes) for changes, _ in it.store.commits] == [2]
        await it.finish(0)
        assert it.seen == ["a", 1, "b", 2]
        assert [len(changes) for changes, _ in it.store.commits] == [2, 2]
        await it.finish(1)
        assert it.seen == ["a", 1, "b", 2, "c", 3, "d", 4, "e", 5]

    played(play)


def test_whoever_has_nothing_to_write_does_not_overtake() -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1, is_durable=True)
        it.take("b", ticket=2)
        await it.end()
        it.take("c", ticket=3)
        assert it.seen == []
        await it.finish(0)
        await it.end()
        assert it.seen == ["a", 1, "b", 2, "c", 3]

    played(play)


@pytest.mark.parametrize(("waiting_is_plain", "seen"), [(False, [9]), (True, [])])
def test_quality_0_passes_unless_its_own_kind_waits(waiting_is_plain: bool, seen: list[int]) -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1, is_durable=True, is_plain=waiting_is_plain)
        await it.end()
        it.turns.take_plain(Reply(None, (Release("c", 9),)))
        assert it.seen == seen
        await it.finish(0)
        assert sorted(map(str, it.seen)) == ["1", "9", "a"]
        it.seen.clear()
        it.turns.take_plain(Reply(None, (Release("c", 10),)))
        assert it.seen == [10]

    played(play)


def test_what_an_answer_sets_off_comes_behind_all_that_waited() -> None:
    async def play(it: Played) -> None:
        def say(answer: Any, about: Any) -> None:
            it.seen.append(answer)
            it.take("later", ticket=3)

        it.turns.take(Reply("a", (), (TicketNoted("c", 1),)), say)
        it.take("b", ticket=2)
        await it.end()
        await it.finish(0)
        assert it.seen == ["a", "b", 2, "later", 3]

    played(play)


def test_a_failed_commit_is_told_and_nothing_of_it_is_answered() -> None:
    async def play(it: Played) -> None:
        it.take("a", ticket=1, is_durable=True)
        await it.end()
        failure = OSError("the disk is full")
        await it.finish(0, failure)
        assert it.failures == [failure]
        assert it.seen == []

    played(play)


def test_without_a_store_nothing_waits() -> None:
    seen: list[Any] = []
    turns = Turns(None, lambda effects: seen.append(len(effects)), lambda failure: None)
    turns.take(
        Reply("a", (Release("c", 1),), (TicketNoted("c", 1),)), lambda answer, about: seen.append(answer)
    )
    assert seen == ["a", 1]
