"""What criteria see of a payload."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.broker import Event, Extras
from ramify.broker import interests as interests_module
from ramify.broker.fields import fields_of
from tests.broker.played import Played

PACKED = msgspec.msgpack.encode({"a": 1, "b": {"c": "x"}})


@pytest.mark.parametrize(
    ("payload", "content_type", "expected"),
    [
        (b'{"a": 1, "b": {"c": null}}', None, {"a": 1, "b": {"c": None}}),
        (b' {"a": 1} ', "application/json", {"a": 1}),
        (b"", None, {}),
        (b"[1, 2]", None, None),
        (b"17", None, None),
        (b"null", None, None),
        (b"not json", None, None),
        (b'{"a": NaN}', None, None),
        (b'{"a": "\xff"}', None, None),
        (b"[" * 100_000, None, None),
        (PACKED, "application/msgpack", {"a": 1, "b": {"c": "x"}}),
        (PACKED, "Application/X-MsgPack; v=1", {"a": 1, "b": {"c": "x"}}),
        (PACKED, None, None),
        (b"\x81", "application/msgpack", None),
        (b"\x81\xc0\x01", "application/msgpack", {None: 1}),
    ],
)
def test_the_fields_of_a_payload(payload: bytes, content_type: str | None, expected: Any) -> None:
    extras = None if content_type is None else Extras(content_type=content_type)
    assert fields_of(Event("t", payload, extras=extras)) == expected


@given(st.binary(max_size=60), st.sampled_from([None, "application/msgpack"]))
def test_no_payload_upsets_the_broker(payload: bytes, content_type: str | None) -> None:
    fields = fields_of(Event("t", payload, extras=Extras(content_type=content_type)))
    assert fields is None or isinstance(fields, dict)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    read: list[Event] = []

    def counted(event: Event) -> dict[str, Any] | None:
        read.append(event)
        return fields_of(event)

    monkeypatch.setattr(interests_module, "fields_of", counted)
    return read


def test_a_payload_is_read_once_and_only_where_criteria_ask(reads: list[Event]) -> None:
    played = Played()
    for client in ("ann", "bob", "cid"):
        played.connect(client)
    played.subscribe("ann", "a/#")
    played.subscribe("bob", "a/+", where="k = 1")
    played.subscribe("cid", "a/b", where="k > 0")
    played.publish("ann", "a/b", b'{"k": 1}')
    assert len(reads) == 1
    played.publish("ann", "a", b'{"k": 1}')
    played.publish("ann", "a/b/c", b'{"k": 1}')
    assert len(reads) == 1
    assert [len(played.take(client)) for client in ("ann", "bob", "cid")] == [3, 1, 1]


def test_an_unreadable_payload_reaches_only_those_without_criteria() -> None:
    played = Played()
    for client in ("ann", "bob"):
        played.connect(client)
    played.subscribe("ann", "t")
    played.subscribe("bob", "t", where="not exists(k)")
    for payload in (b"\x00\xff", b"[1]", b""):
        played.publish("ann", "t", payload)
    assert len(played.take("ann")) == 3
    assert played.payloads("bob") == [b""]  # an event without content is not unreadable
    assert played.broker.counters.unreadable == 2
