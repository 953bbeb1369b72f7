"""What a served queue does not take: too much, and what makes no sense."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from ramify.deferred import GroupCommit, wire
from ramify.deferred.serving import Limits
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))


# ── back-pressure ───────────────────────────────────────────────────────────────────────


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


# ── bad messages ────────────────────────────────────────────────────────────────────────


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
