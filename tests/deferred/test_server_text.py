"""A served queue speaks the plain text form where that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.deferred import GroupCommit, JournaledQueue, wire
from ramify.deferred.serving import Limits
from ramify.errors import InvalidPush
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))


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
