"""The messages as bytes: what is written is read back, and nothing that comes in breaks the reader."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from ramify.deferred import wire
from ramify.errors import BadMessage

NUMBERS = st.integers(0, 2**63 - 1)
TIMES = st.none() | st.floats(0, 1e10)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
) | st.binary(max_size=20)
RAW = DATA.map(lambda data: Raw(wire.encode_data(data)))
POLICIES = st.builds(wire.PushPolicy, TIMES, TIMES, st.none() | NUMBERS, st.text(), st.text())
PUSHES = st.builds(
    wire.Pushes,
    st.just(wire.VERSION),
    NUMBERS,
    st.lists(st.builds(wire.Push, st.text(), RAW, TIMES, TIMES, TIMES, st.none() | POLICIES), max_size=4),
)
TO_PRODUCER = st.builds(
    wire.Pushed,
    st.just(wire.VERSION),
    NUMBERS,
    NUMBERS,
    st.lists(st.builds(wire.Refusal, NUMBERS, st.text(), st.text()), max_size=3),
) | st.builds(wire.Failed, st.just(wire.VERSION), st.none() | NUMBERS, st.text(), st.text())
FROM_CONSUMER = (
    st.builds(wire.Take, st.just(wire.VERSION), NUMBERS)
    | st.builds(wire.Ack, st.just(wire.VERSION), st.lists(st.tuples(NUMBERS, st.text()), max_size=4))
    | st.builds(wire.Leave, st.just(wire.VERSION))
)
TO_CONSUMER = st.builds(
    wire.Deliver,
    st.just(wire.VERSION),
    st.lists(st.builds(wire.Delivery, NUMBERS, st.text(), RAW, st.floats(0, 1e10)), max_size=4),
) | st.builds(wire.Acked, st.just(wire.VERSION), NUMBERS, st.lists(NUMBERS, max_size=4))

READERS = [wire.read_pushes, wire.read_to_producer, wire.read_from_consumer, wire.read_to_consumer]


@given(PUSHES)
def test_pushes_come_back_as_they_were_written(message: wire.Pushes) -> None:
    read = wire.read_pushes(wire.encode(message))
    assert read.request == message.request
    assert [(p.key, bytes(p.data), p.delay, p.deadline, p.version, p.policy) for p in read.pushes] == [
        (p.key, bytes(p.data), p.delay, p.deadline, p.version, p.policy) for p in message.pushes
    ]


@given(TO_PRODUCER)
def test_answers_come_back_as_they_were_written(message: wire.ToProducer) -> None:
    assert wire.read_to_producer(wire.encode(message)) == message


@given(FROM_CONSUMER)
def test_what_a_consumer_says_comes_back_as_it_was_written(message: wire.FromConsumer) -> None:
    assert wire.read_from_consumer(wire.encode(message)) == message


@given(TO_CONSUMER)
def test_deliveries_come_back_as_they_were_written(message: wire.ToConsumer) -> None:
    read = wire.read_to_consumer(wire.encode(message))
    assert wire.encode(read) == wire.encode(message)


@given(PUSHES | TO_PRODUCER | FROM_CONSUMER | TO_CONSUMER)
def test_no_binary_message_can_be_taken_for_text(message: wire.Message) -> None:
    assert 0x90 <= wire.encode(message)[0] <= 0x9F


@pytest.mark.parametrize("read", READERS)
@given(frame=st.binary(max_size=60) | DATA.map(wire.encode_data))
def test_whatever_comes_in_is_read_or_refused(read: Any, frame: bytes) -> None:
    assert _outcome(read, frame) in (wire.VERSION, "unreadable", "version")


def _outcome(read: Any, frame: bytes) -> object:
    """The version of the message that was read, or the code of the refusal."""
    try:
        return read(frame).protocol
    except BadMessage as bad:
        return bad.code


@given(PUSHES, st.data())
def test_a_message_cut_short_is_refused(message: wire.Pushes, data: st.DataObject) -> None:
    frame = wire.encode(message)
    with pytest.raises(BadMessage):
        wire.read_pushes(frame[: data.draw(st.integers(0, len(frame) - 1))])


def test_another_version_is_named_with_the_request() -> None:
    with pytest.raises(BadMessage, match="version 2 is not spoken, only 1") as caught:
        wire.read_pushes(msgspec.msgpack.encode([1, 2, 77, "all different"]))
    assert (caught.value.code, caught.value.request) == ("version", 77)


def test_parts_of_the_wrong_type_are_refused_with_the_request() -> None:
    with pytest.raises(BadMessage, match="str") as caught:
        wire.read_pushes(msgspec.msgpack.encode([1, 1, 5, [[12, None]]]))
    assert caught.value.request == 5


def test_elements_of_a_later_revision_are_passed_over() -> None:
    frame = msgspec.msgpack.encode([1, 1, 5, [["k", None, 1.0, None, None, None, "more"]], "and more"])
    assert wire.read_pushes(frame).pushes[0].key == "k"
