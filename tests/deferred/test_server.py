"""What a served queue answers; the time is whatever the test says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Raw

from ramify.deferred import COUNT, SUM, Edge, GroupCommit, JournaledQueue, Policy, listed, wire
from ramify.deferred.serving import Limits
from ramify.errors import InvalidPush, JournalInUse
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))

# ── giving out ────────────────────────────────────────────────────────────────────────────


def test_an_item_goes_out_at_its_deadline_and_not_before() -> None:
    played = Played()
    played.take("a")
    assert played.push("k", {"x": 1}, 5.0) == "accepted"
    assert played.keys() == {}
    played.now = 1004.999
    assert played.keys() == {}
    assert played.server.next_wake() == 1005.0, "asked once after a first look, the wake is exact"
    played.now = 1005.0
    (item,) = played.delivered()["a"]
    assert (item.key, wire.decode_data(item.data), item.deadline) == ("k", {"x": 1}, 1005.0)


def test_pushing_often_delivers_once() -> None:
    played = Played()
    played.take("a")
    for number in range(5):
        played.push("k", number, 5.0)
        played.now += 1.0
    played.now = 1009.0
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == 4
    assert played.keys() == {}


def test_items_are_spread_evenly_and_no_consumer_gets_more_than_its_window() -> None:
    played = Played()
    played.take("a", 3)
    played.take("b", 100)
    for number in range(20):
        played.push(str(number), None, 0.0)
    got = played.keys()
    assert (len(got["a"]), len(got["b"])) == (3, 17)


def test_no_more_is_in_flight_than_allowed_until_something_is_done() -> None:
    played = Played(limits=Limits(in_flight=2))
    played.take("a")
    for key in "xyz":
        played.push(key, None, 0.0)
    first = played.delivered()["a"]
    assert [item.key for item in first] == ["x", "y"]
    assert played.keys() == {}
    assert played.server.next_wake() >= 1010.0, "it does not spin on what nobody may take"
    played.ack("a", first[0])
    assert played.keys() == {"a": ["z"]}


# ── acknowledging ─────────────────────────────────────────────────────────────────────────


def test_what_is_acknowledged_never_comes_back() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.ack("a", item)
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 1, [])]}
    played.now += 100
    played.take("b")
    assert played.keys() == {}
    assert (played.server.in_flight, played.server.held_bytes) == (0, 0)


def test_an_acknowledgement_needs_the_ticket_with_its_key() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.consume("a", wire.Ack(wire.VERSION, [(item.ticket, "other"), (12345, "k")]))
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 0, [item.ticket, 12345])]}
    assert played.server.in_flight == 1
    assert played.server.counts.unknown == 2


def test_items_of_a_consumer_that_falls_silent_go_to_another() -> None:
    played = Played(limits=Limits(silence=10.0))
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.now = 1005.0
    played.take("b")
    played.now = 1009.9
    assert played.keys() == {}
    assert played.server.next_wake() == 1010.0
    played.now = 1010.0
    (again,) = played.delivered()["b"]
    assert (again.ticket, again.key) == (item.ticket, "k")
    counts = played.server.counts
    assert (counts.expired, counts.redelivered) == (1, 1)


def test_a_heartbeat_keeps_a_slow_consumer_alive() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    assert played.keys() == {"a": ["k"]}
    for _ in range(10):
        played.now += 9.0
        played.take("a")
        assert played.keys() == {}


def test_a_consumer_thought_dead_can_still_acknowledge_and_come_back() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.now = 1010.0
    (told,) = played.told()["a"]
    assert isinstance(told, wire.Failed)
    assert told.code == "silent"
    played.ack("a", item)
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 1, [])]}
    played.take("a")
    assert played.keys() == {}


def test_what_a_leaving_or_unreachable_consumer_holds_goes_to_another_at_once() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    assert played.keys() == {"a": ["k"]}
    played.consume("a", wire.Leave(wire.VERSION))
    played.take("b")
    assert played.keys() == {"b": ["k"]}
    played.server.unreachable((b"b",))
    played.take("c")
    assert played.keys() == {"c": ["k"]}


# ── back-pressure ─────────────────────────────────────────────────────────────────────────


def test_a_full_server_refuses_new_keys_and_says_why_but_takes_updates() -> None:
    played = Played(limits=Limits(keys=2))
    assert [played.push(key, None, 9.0) for key in ("a", "b", "c", "a")] == [
        "accepted",
        "accepted",
        "full",
        "accepted",
    ]
    assert (played.server.counts.accepted, played.server.counts.refused) == (3, 1)


def test_bytes_are_bounded_over_waiting_and_in_flight() -> None:
    played = Played(limits=Limits(held=100))
    played.take("c")
    assert played.push("a", b"x" * 60, 0.0) == "accepted"
    (item,) = played.delivered()["c"]
    assert played.push("b", b"x" * 60, 0.0) == "full"
    played.ack("c", item)
    assert played.push("b", b"x" * 60, 0.0) == "accepted"
    assert played.push("b", b"x", 0.0) == "accepted"
    assert played.server.held_bytes == len(wire.encode_data(b"x"))


def test_a_closing_server_refuses_pushes_gives_out_nothing_and_hears_acknowledgements() -> None:
    played = Played()
    played.take("a", 1)
    played.push("k", None, 0.0)
    played.push("l", None, 0.0)
    (item,) = played.delivered()["a"]
    played.server.close()
    assert played.push("m", None, 0.0) == "closing"
    played.ack("a", item)
    assert played.keys() == {}
    assert (played.server.in_flight, played.server.waiting) == (0, 1)


def test_the_number_of_consumers_is_bounded() -> None:
    played = Played(limits=Limits(consumers=1))
    played.take("a")
    played.take("b")
    (told,) = played.told()["b"]
    assert isinstance(told, wire.Failed)
    assert told.code == "full"


# ── bad messages ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("push", "code"),
    [
        (wire.Push("", delay=0.0), "key"),
        (wire.Push("a\0b", delay=0.0), "key"),
        (wire.Push("k" * 1025, delay=0.0), "key"),
        (wire.Push("k"), "invalid"),
        (wire.Push("k", delay=-1.0), "number"),
        (wire.Push("k", delay=float("nan")), "number"),
        (wire.Push("k", delay=float("inf")), "number"),
        (wire.Push("k", delay=1e11), "number"),
        (wire.Push("k", deadline=float("nan")), "number"),
        (wire.Push("k", delay=1.0, deadline=1.0), "number"),
        (wire.Push("k", delay=1.0, version=float("nan")), "number"),
        (wire.Push("k", Raw(wire.encode_data(b"x" * (1 << 20))), 0.0), "size"),
        (wire.Push("k", Raw(b"\xa1\xff"), 0.0), "data"),
        (wire.Push("k", Raw(b"\x91" * 101 + b"\xc0"), 0.0), "data"),
    ],
)
def test_a_bad_push_is_refused_with_a_reason_and_the_others_of_its_request_are_accepted(
    push: wire.Push, code: str
) -> None:
    played = Played()
    (answer,) = played.say_pushes([wire.Push("good", delay=0.0), push, wire.Push("too", delay=0.0)])
    assert answer.accepted == 2
    assert [(refusal.index, refusal.code) for refusal in answer.refused] == [(1, code)]
    assert played.server.waiting == 2


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x93",
        b"hello",
        b"\xff" * 50,
        msgspec.msgpack.encode([1, 1]),
        b"\x91" * 100_000,
        b"x" * (5 << 20),
    ],
)
def test_a_bad_message_gets_an_error_and_is_counted_and_the_server_goes_on(frame: bytes) -> None:
    played = Played()
    (answer,) = played.produce(frame)
    assert answer.startswith(b"error:") or isinstance(wire.read_to_producer(answer), wire.Failed)
    played.consume("a", frame)
    assert len(played.sent()["a"]) == 1
    assert played.server.counts.bad == 2
    assert played.push("k", None, 0.0) == "accepted"


def test_too_many_pushes_in_one_message_are_refused_whole() -> None:
    played = Played(limits=Limits(per_message=2))
    frame = wire.encode(wire.Pushes(wire.VERSION, 7, [wire.Push("k", delay=0.0)] * 3))
    failed = wire.read_to_producer(played.produce(frame)[0])
    assert isinstance(failed, wire.Failed)
    assert (failed.request, failed.code, played.server.waiting) == (7, "size", 0)


def test_frames_that_are_no_envelope_are_refused() -> None:
    played = Played()
    played.server.from_producer((b"p", b"x", b""), b"", 0.0)
    (sent,) = played.server.outgoing(0.0)
    assert isinstance(wire.read_to_producer(sent.frame), wire.Failed)


# ── policies ──────────────────────────────────────────────────────────────────────────────


def test_the_policy_of_the_server_merges_what_was_pushed() -> None:
    for merge, merged in ((SUM, 6), (COUNT, 3), (listed(2), [2, 3])):
        played = Played(Policy(quiet=5, merge=merge))
        played.take("a")
        assert [played.push("k", number) for number in (1, 2, 3)] == ["accepted"] * 3
        played.now += 5
        (item,) = played.delivered()["a"]
        assert wire.decode_data(item.data) == merged
        played.ack("a", item)
        assert played.server.held_bytes == 0


def test_data_that_cannot_be_merged_is_refused_and_changes_nothing() -> None:
    played = Played(Policy(quiet=5, merge=SUM))
    played.take("a")
    assert [played.push("k", data) for data in (2**63, "text", 2**63)] == ["accepted", "invalid", "invalid"]
    played.now += 5
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == 2**63


def test_a_leading_edge_fires_at_once_and_absorbs_the_rest() -> None:
    played = Played(Policy(quiet=5, edge=Edge.LEADING))
    played.take("a")
    played.push("k", 1)
    (item,) = played.delivered()["a"]
    played.push("k", 2)
    played.ack("a", item)
    played.now += 4.9
    played.take("a")
    assert played.keys() == {}
    assert played.server.held_bytes == 0


def test_an_older_version_never_overwrites_a_newer_one() -> None:
    played = Played()
    played.take("a")
    played.push("k", "new", 1.0, version=2.0)
    played.push("k", "older", 1.0, version=1.0)
    played.now += 1.0
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == "new"


# ── the text form ─────────────────────────────────────────────────────────────────────────


def test_text_goes_in_and_comes_out_as_it_was() -> None:
    played = Played(text=True)
    assert played.produce(b"a:b:1500000:str|x|y:z") == [b"accepted"]
    played.consume("t", b"next")
    assert played.sent() == {}
    played.now += 1.5
    assert played.sent() == {"t": [b"a:b:str|5:x|y:z"]}
    played.consume("t", b"next")
    assert played.server.counts.done == 1
    assert played.sent() == {}


def test_a_text_consumer_gets_one_item_for_each_next_and_dies_of_silence() -> None:
    played = Played(text=True)
    played.produce(b"k:0:|1")
    played.produce(b"l:0:|2")
    played.consume("t", b"next")
    assert played.sent() == {"t": [b"k:|1:1"]}
    played.now += 9
    played.consume("t", b"alive")
    played.now += 9
    assert played.sent() == {}
    played.now += 1
    (silent,) = played.sent()["t"]
    assert silent.startswith(b"error:silent:")
    played.consume("u", b"next")
    assert played.sent() == {"u": [b"k:|1:1"]}
    played.consume("u", b"bye")
    assert (played.server.consumers, played.server.counts.done) == (0, 1)


def test_a_text_consumer_may_wait_for_long_and_then_has_its_time() -> None:
    played = Played(text=True)
    played.consume("t", b"next")
    played.now += 500
    played.produce(b"k:0:|1")
    assert played.sent() == {"t": [b"k:|1:1"]}
    played.now += 9
    assert played.sent() == {}


def test_text_is_refused_unless_it_was_asked_for() -> None:
    played = Played()
    (answer,) = played.produce(b"key:0:str|x")
    assert answer.startswith(b"error:unreadable:")
    assert b"--text" in answer


@pytest.mark.parametrize("frame", [b"key:-1:str|x", b"key:1e5:str|x", b"key:|x", b"key", b"\xe9:1:s|x"])
def test_bad_text_gets_an_error_reply(frame: bytes) -> None:
    played = Played(text=True)
    (answer,) = played.produce(frame)
    assert answer.startswith(b"error:")
    assert played.server.counts.bad == 1


def test_a_refusal_in_text_says_why() -> None:
    played = Played(text=True, limits=Limits(keys=1))
    played.produce(b"a:0:|")
    assert played.produce(b"b:0:|") == [b"refused:full:1 keys wait, and that is the limit; try again later"]


def test_keys_that_the_text_form_cannot_carry_are_refused_where_it_is_spoken() -> None:
    assert Played().push("a|b", None, 0.0) == "accepted"
    assert Played(text=True).push("a|b", None, 0.0) == "key"


def test_a_journal_with_such_a_key_is_not_served_as_text(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path) as queue:
        queue.push("a|b", b"\xc0", 0.0)
        with pytest.raises(InvalidPush, match="cannot carry"):
            Played(text=True, journal=queue)


def test_text_and_binary_share_one_queue() -> None:
    played = Played(text=True)
    played.produce(b"k:0:str|x")
    played.take("a")
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == {"type": "str", "payload": b"x"}
    played.push("l", [1, 2], 0.0)
    played.consume("t", b"next")
    played.consume("a", wire.Leave(wire.VERSION))
    assert played.sent()["t"] == [b"k:str|1:x"]


# ── the journal ───────────────────────────────────────────────────────────────────────────


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
