"""A served queue promises nothing that its journal has not committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.deferred import GroupCommit, JournaledQueue, wire
from ramify.errors import JournalInUse
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))


def test_nothing_is_answered_before_it_is_committed_and_answers_keep_their_order(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path, group=UNBOUNDED) as queue:
        played = Played(journal=queue)
        frames = [
            wire.encode(wire.Pushes(wire.VERSION, 1, [wire.Push("k", delay=0.0)])),
            b"\x93bad",
            wire.encode(wire.Pushes(wire.VERSION, 2, [wire.Push("l", delay=0.0)])),
        ]
        assert [played.produce(frame) for frame in frames] == [[], [], []]
        commit = queue.begin_commit()
        assert commit is not None
        played.produce(wire.encode(wire.Pushes(wire.VERSION, 3, [wire.Push("m", delay=0.0)])))
        assert played.server.unanswered == 4
        commit.run()
        assert played.produce(b"\x93bad") == []
        queue.end_commit(commit)
        answers = [wire.read_to_producer(sent.frame) for sent in played.server.outgoing(0.0)]
        assert [type(answer) for answer in answers] == [wire.Pushed, wire.Failed, wire.Pushed]
        assert played.server.unanswered == 2


def test_one_commit_is_under_way_at_a_time(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path, group=UNBOUNDED) as queue:
        assert queue.begin_commit() is None
        queue.push("k", b"", 0.0)
        commit = queue.begin_commit()
        assert commit is not None
        queue.push("l", b"", 0.0)
        for attempt in (queue.begin_commit, queue.commit):
            with pytest.raises(JournalInUse, match="a commit is under way"):
                attempt()
        commit.run()
        queue.end_commit(commit)
        assert (queue.appended, queue.committed, queue.commit()) == (2, 1, 2)


def test_a_ticket_from_before_a_restart_is_good_with_its_key(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path, group=UNBOUNDED) as queue:
        played = Played(journal=queue)
        played.server.from_producer((b"p",), wire.encode(_pushes("k")), 1000.0)
        played.take("a")
        queue.commit()
        (item,) = [i for s in played.server.outgoing(1000.0) if s.peer == (b"a",) for i in _items(s.frame)]
    with JournaledQueue(tmp_path, group=UNBOUNDED) as queue:
        played = Played(journal=queue)
        assert played.server.held_bytes == 1
        played.ack("a", item)
        queue.commit()
        assert played.told() == {"a": [wire.Acked(wire.VERSION, 1, [])]}
        assert (played.server.waiting, played.server.held_bytes) == (0, 0)


def _pushes(*keys: str) -> wire.Pushes:
    return wire.Pushes(wire.VERSION, 1, [wire.Push(key, delay=0.0) for key in keys])


def _items(frame: bytes) -> list[wire.Delivery]:
    message = wire.read_to_consumer(frame)
    assert isinstance(message, wire.Deliver)
    return message.items
