"""The text form: a delimiter in a key or payload is handled or refused, and never corrupts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.deferred import text, wire
from ramify.deferred.text import TextPush
from ramify.errors import BadMessage

TRICKY = st.text(st.sampled_from(":|0123456789a{}\n é"), max_size=12)
KEYS = st.text(max_size=12) | TRICKY
TYPES = st.text(max_size=6) | TRICKY | st.sampled_from(["str", "json", ""])
PAYLOADS = st.binary(max_size=20) | TRICKY.map(str.encode)
PUSHES = st.builds(TextPush, KEYS, st.integers(-5, 10**16), TYPES, PAYLOADS)


@given(PUSHES)
def test_a_push_is_written_so_that_it_comes_back_or_it_is_refused(push: TextPush) -> None:
    try:
        frame = text.write_push(push)
    except BadMessage:
        is_bad_type = not push.type.isascii() or set(push.type) & set(":| \n") or not push.type.isprintable()
        is_bad_number = not 0 <= push.microseconds < 10**15
        assert not push.key or "|" in push.key or is_bad_type or is_bad_number
    else:
        assert text.read_push(frame) == push


@given(PUSHES)
def test_a_delivery_gives_type_and_payload_back_as_they_came(push: TextPush) -> None:
    try:
        text.write_push(push)
    except BadMessage:
        return
    delivery = text.read_delivery(text.write_delivery(push.key, push.data))
    assert (delivery.key, delivery.type, delivery.data) == (push.key, push.type, push.payload)


@pytest.mark.parametrize(
    ("data", "kind", "content"),
    [
        ("a|b:c", "text", b"a|b:c"),
        (b"\xff|", "bytes", b"\xff|"),
        ({"x": 1}, "msgpack", wire.encode_data({"x": 1})),
        ({"type": "a:b", "payload": b"p"}, "msgpack", wire.encode_data({"type": "a:b", "payload": b"p"})),
        ({"type": "t", "payload": b"p", "more": 1}, "msgpack", None),
        (None, "msgpack", b"\xc0"),
    ],
)
def test_data_of_binary_producers_has_a_type_in_the_text_form(
    data: object, kind: str, content: bytes | None
) -> None:
    encoded = wire.encode_data(data)
    read = text.read_delivery(text.write_delivery("a:b", encoded))
    assert (read.key, read.type, read.data) == ("a:b", kind, encoded if content is None else content)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"", "unreadable"),
        (b"key", "unreadable"),
        (b"key|x", "unreadable"),
        (b"key:5|x", "unreadable"),
        (b"key::str|x", "number"),
        (b"key:-5:str|x", "number"),
        (b"key:+5:str|x", "number"),
        (b"key:5.0:str|x", "number"),
        (b"key:5e3:str|x", "number"),
        (b"key: 5:str|x", "number"),
        (b"key:\xd9\xa3:str|x", "number"),
        (b"key:1_000:str|x", "number"),
        (b"key:9999999999999999:str|x", "number"),
        (b"key:nan:str|x", "number"),
        (b":5:str|x", "key"),
        (b"\xff\xfe:5:str|x", "key"),
        (b"key:5:a b|x", "type"),
        (b"key:5:" + b"t" * 65 + b"|x", "type"),
    ],
)
def test_a_bad_push_is_refused_for_its_reason(frame: bytes, code: str) -> None:
    with pytest.raises(BadMessage) as caught:
        text.read_push(frame)
    assert caught.value.code == code


@given(st.binary(max_size=40))
def test_whatever_comes_in_is_read_or_refused(frame: bytes) -> None:
    for read, made in ((text.read_push, text.TextPush), (text.read_delivery, text.TextDelivery)):
        outcome = _outcome(read, frame)
        assert isinstance(outcome, made) or outcome in ("unreadable", "number", "key", "type")


def _outcome(read: Callable[[bytes], object], frame: bytes) -> object:
    """What was read, or the code of the refusal."""
    try:
        return read(frame)
    except BadMessage as bad:
        return bad.code


@given(st.binary(max_size=40))
def test_what_is_read_is_what_was_said(frame: bytes) -> None:
    try:
        push = text.read_push(frame)
    except BadMessage:
        return
    number = str(push.microseconds)
    head, _, payload = frame.partition(b"|")
    assert payload == push.payload
    assert head.decode().startswith(push.key + ":")
    assert head.decode().endswith(f"{number}:{push.type}")
