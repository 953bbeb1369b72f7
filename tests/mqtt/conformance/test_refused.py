"""What the standard forbids is refused with its reason code, and the error names the clause.

One row a rule: the clause, the version that is spoken (none before CONNECT), the bytes, the code.
"""

from __future__ import annotations

import pytest

from ramify.mqtt import Decoder, Version
from tests.mqtt.conformance.raw import V5, V311, connect, extra, hexed, packet, refusal_of, text

A = text("a")
ID = hexed("0001")
NONE = b"\0"
REASON = hexed("1F 0001 61")
PAIR = hexed("26 0001 61 0001 62")

Row = tuple[str, Version | None, bytes, int]

TEXTS: list[Row] = [
    # [MQTT-1.5.4-1] Surrogates, overlong forms, bytes that begin nothing, and cut characters are no UTF-8.
    ("MQTT-1.5.4-1", V5, packet(0x30, text(hexed("EDA080")), NONE), 0x81),
    ("MQTT-1.5.4-1", V311, packet(0x30, text(hexed("EDA080"))), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0x30, text(hexed("C080")), NONE), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0x30, text(hexed("61FF")), NONE), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0x30, text(hexed("C3")), NONE), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0x30, text(hexed("F4908080")), NONE), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0x82, ID, NONE, text(hexed("EDBFBF")), NONE), 0x81),
    ("MQTT-1.5.4-1", V5, packet(0xA2, ID, NONE, text(hexed("FF"))), 0x81),
    ("MQTT-1.5.4-1", None, connect(5, 2, text(hexed("EDA080"))), 0x81),
    ("MQTT-1.5.4-1", None, connect(4, 0x82, A, text(hexed("FE"))), 0x81),
    # [MQTT-1.5.4-2] NUL stands in no text.
    ("MQTT-1.5.4-2", V5, packet(0x30, text("a\0b"), NONE), 0x81),
    ("MQTT-1.5.4-2", V5, packet(0x82, ID, NONE, text("a\0"), NONE), 0x81),
    ("MQTT-1.5.4-2", None, connect(5, 2, text("\0")), 0x81),
    ("MQTT-1.5.4-2", None, connect(4, 2, text("\0")), 0x81),
    # [MQTT-1.5.5-1] Integers take as few bytes as they need, in MQTT 5.
    ("MQTT-1.5.5-1", V5, hexed("30 8400 0001 61 00"), 0x81),
    ("MQTT-1.5.5-1", V5, packet(0x30, A, hexed("8000")), 0x81),
    ("MQTT-1.5.5-1", V5, packet(0x82, ID, hexed("03 0B 8100"), A, NONE), 0x81),
    ("MQTT-1.5.5-1", V5, packet(0x82, ID, hexed("06 0B FFFFFFFF 01"), A, NONE), 0x81),
    ("MQTT-1.5.5-1", None, hexed("10 8E00 0004 4D515454 05 02 0000 00 0001 63"), 0x81),
    # [MQTT-1.5.7-1] Both texts of a user property are UTF-8.
    ("MQTT-1.5.4-1", V5, packet(0x30, A, extra(hexed("26 0001 FF 0001 61"))), 0x81),
    ("MQTT-1.5.4-2", V5, packet(0x30, A, extra(hexed("26 0001 61 0001 00"))), 0x81),
]

HEADERS: list[Row] = [
    ("", V5, hexed("30 FFFFFFFF"), 0x81),
    ("", V311, hexed("30 80808080 01"), 0x81),
    ("", V5, hexed("30 FFFFFF7F"), 0x95),
    # [MQTT-2.1.3-1] Reserved flags have their value, and the types 0 and (in 3.1.1) 15 mean nothing.
    ("MQTT-2.1.3-1", V5, hexed("00 00"), 0x81),
    ("MQTT-2.1.3-1", V5, hexed("C1 00"), 0x81),
    ("MQTT-2.1.3-1", V5, hexed("D8 00"), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x42, ID), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x51, ID), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x74, ID), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x91, ID, NONE, NONE), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0xB2, ID, NONE, NONE), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x21, NONE, NONE, NONE), 0x81),
    ("", V311, hexed("F0 00"), 0x81),
    # [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] [MQTT-3.14.1-1] [MQTT-3.15.1-1]
    ("MQTT-2.1.3-1", V5, packet(0x60, ID), 0x81),
    ("MQTT-2.1.3-1", V311, packet(0x6A, ID), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0x80, ID, NONE, A, NONE), 0x81),
    ("MQTT-2.1.3-1", V311, packet(0x8A, ID, A, NONE), 0x81),
    ("MQTT-2.1.3-1", V5, packet(0xA0, ID, NONE, A), 0x81),
    ("MQTT-2.1.3-1", V5, hexed("E1 00"), 0x81),
    ("MQTT-2.1.3-1", V5, hexed("F2 00"), 0x81),
    # Bytes behind the end.
    ("", V5, hexed("C0 01 00"), 0x81),
    ("", V311, hexed("D0 01 00"), 0x81),
    ("", V311, packet(0x40, ID, NONE), 0x81),
    ("", V5, packet(0x40, ID, NONE, NONE, NONE), 0x81),
    ("", V311, packet(0xB0, ID, NONE), 0x81),
    ("", V311, hexed("E0 01 00"), 0x81),
    ("", V5, hexed("E0 03 00 00 00"), 0x81),
]

IDS: list[Row] = [
    # [MQTT-2.2.1-3] [MQTT-2.2.1-5] [MQTT-2.2.1-6] No packet has the id 0.
    ("MQTT-2.2.1-3", V5, packet(0x32, A, hexed("0000 00")), 0x82),
    ("MQTT-2.2.1-3", V311, packet(0x34, A, hexed("0000")), 0x82),
    ("MQTT-2.2.1-3", V5, packet(0x82, hexed("0000 00"), A, NONE), 0x82),
    ("MQTT-2.2.1-3", V311, packet(0xA2, hexed("0000"), A), 0x82),
    ("MQTT-2.2.1-5", V5, packet(0x40, hexed("0000")), 0x82),
    ("MQTT-2.2.1-5", V311, packet(0x62, hexed("0000")), 0x82),
    ("MQTT-2.2.1-6", V5, packet(0x90, hexed("0000 00 00")), 0x82),
    ("MQTT-2.2.1-6", V5, packet(0xB0, hexed("0000 00 00")), 0x82),
]

CONNECTS: list[Row] = [
    # [MQTT-3.1.0-1] CONNECT comes first, [MQTT-3.1.0-2] and once.
    ("MQTT-3.1.0-1", None, hexed("C0 00"), 0x82),
    ("MQTT-3.1.0-1", None, packet(0x30, A), 0x82),
    ("MQTT-3.1.0-1", None, hexed("30 20 00"), 0x82),
    ("MQTT-3.1.0-2", None, connect() + connect(), 0x82),
    ("MQTT-3.1.0-2", None, connect(4) + connect(5), 0x82),
    # [MQTT-3.1.2-1] [MQTT-3.1.2-2] The name and level of the protocol.
    ("MQTT-3.1.2-1", None, connect(5, name="MQIsdp"), 0x84),
    ("MQTT-3.1.2-1", None, connect(4, name="mqtt"), 0x84),
    ("MQTT-3.1.2-1", None, connect(4, name=hexed("FF")), 0x84),
    ("MQTT-3.1.2-2", None, connect(3), 0x84),
    ("MQTT-3.1.2-2", None, connect(6), 0x84),
    ("MQTT-3.1.2-2", None, connect(0x84), 0x84),
    # [MQTT-3.1.2-3] The reserved flag.
    ("MQTT-3.1.2-3", None, connect(5, 3), 0x81),
    ("MQTT-3.1.2-3", None, connect(4, 3), 0x81),
    # [MQTT-3.1.2-11] [MQTT-3.1.2-13] Nothing is said of a will that is not there.
    ("MQTT-3.1.2-11", None, connect(5, 0x0A), 0x81),
    ("MQTT-3.1.2-13", None, connect(4, 0x22), 0x81),
    # [MQTT-3.1.2-12] A will has no QoS 3.
    ("MQTT-3.1.2-12", None, connect(5, 0x1E, A, NONE, A, A), 0x81),
    ("MQTT-3.1.2-12", None, connect(4, 0x1A), 0x81),
    # [MQTT-3.1.2-22] In 3.1.1 there is no password without a user name.
    ("MQTT-3.1.2-22", None, connect(4, 0x42, A, A), 0x81),
    # [MQTT-3.1.2-16] to [MQTT-3.1.2-19] Fields are there as the flags say.
    ("", None, connect(5, 0x82, A), 0x81),
    ("", None, connect(5, 0xC2, A, A), 0x81),
    ("", None, connect(5, 0x02, A, A), 0x81),
    ("", None, connect(4, 0x06, A), 0x81),
    # [MQTT-3.1.3-3] [MQTT-3.1.3-4] A client id is there, be it empty, and it is a text.
    ("MQTT-1.5.4-1", None, connect(4, 2, text(hexed("C0AF"))), 0x81),
    ("", None, packet(0x10, text("MQTT"), hexed("05 02 0000 00")), 0x81),
    # [MQTT-3.1.3-8] In 3.1.1 the empty client id has a clean session only.
    ("MQTT-3.1.3-8", None, connect(4, 0, text("")), 0x85),
    # [MQTT-3.1.3-11] [MQTT-4.7.0-1] A will's topic can be published on.
    ("MQTT-4.7.0-1", None, connect(5, 6, A, NONE, text("a/+"), A), 0x90),
    ("MQTT-4.7.3-1", None, connect(4, 6, A, text(""), A), 0x90),
    ("MQTT-1.5.4-1", None, connect(4, 6, A, text(hexed("FF")), A), 0x81),
    ("MQTT-3.3.2-14", None, connect(5, 6, A, extra(hexed("08 0001 23")), A, A), 0x82),
    # Data without a method.
    ("", None, connect(properties=hexed("16 0001 61")), 0x82),
    # [MQTT-3.2.2-1] [MQTT-3.2.2-6] [MQTT-3.2.2-8] CONNACK.
    ("MQTT-3.2.2-1", V5, packet(0x20, hexed("02 00 00")), 0x81),
    ("MQTT-3.2.2-6", V5, packet(0x20, hexed("01 87 00")), 0x82),
    ("MQTT-3.2.2-6", V311, packet(0x20, hexed("01 05")), 0x82),
    ("MQTT-3.2.2-8", V5, packet(0x20, hexed("00 01 00")), 0x82),
    ("", V311, packet(0x20, hexed("00 06")), 0x82),
]

PUBLISHES: list[Row] = [
    ("MQTT-3.3.1-2", V5, packet(0x38, A, NONE), 0x81),
    ("MQTT-3.3.1-2", V311, packet(0x39, A), 0x81),
    ("MQTT-3.3.1-4", V5, packet(0x36, A, ID, NONE), 0x81),
    ("MQTT-3.3.1-4", V311, packet(0x3E, A, ID), 0x81),
    # [MQTT-3.3.2-1] A topic is there, and whole.
    ("", V5, hexed("30 00"), 0x81),
    ("", V311, hexed("30 01 00"), 0x81),
    ("", V311, hexed("30 02 0001") + hexed("C000"), 0x81),
    ("", V311, hexed("32 04 0001 61 00"), 0x81),
    ("", V5, packet(0x30, A), 0x81),
    ("", V5, packet(0x32, A, ID), 0x81),
    ("", V5, packet(0x30, A, hexed("05 01")), 0x81),
    # [MQTT-3.3.2-2] A topic has no wildcards.
    ("MQTT-3.3.2-2", V5, packet(0x30, text("a/+"), NONE), 0x90),
    ("MQTT-3.3.2-2", V311, packet(0x32, text("#"), ID), 0x90),
    # [MQTT-3.3.2-8] No alias is 0.
    ("", V5, packet(0x30, A, extra(hexed("23 0000"))), 0x94),
    # [MQTT-3.3.2-14] A response topic has no wildcards.
    ("MQTT-3.3.2-14", V5, packet(0x30, A, extra(hexed("08 0001 2B"))), 0x82),
    # [MQTT-4.7.3-1] A topic has a character, or an alias.
    ("MQTT-4.7.3-1", V5, packet(0x30, text(""), NONE), 0x82),
    ("MQTT-4.7.3-1", V5, packet(0x32, text(""), ID, extra(hexed("01 01"))), 0x82),
    ("MQTT-4.7.3-1", V311, packet(0x30, text("")), 0x90),
    ("MQTT-4.7.3-1", V311, packet(0x32, text(""), ID), 0x90),
]

PROPERTIES: list[Row] = [
    # A property that is not there, that belongs elsewhere, that is cut short, that stands there twice.
    ("", V5, packet(0x30, A, extra(hexed("7F"))), 0x81),
    ("", V5, packet(0x30, A, extra(hexed("11 00000001"))), 0x81),
    ("", V5, packet(0x30, A, extra(hexed("02 0000"))), 0x81),
    ("", V5, packet(0x30, A, extra(hexed("01 00 01 00"))), 0x82),
    ("", V5, packet(0x30, A, extra(hexed("23 0001 23 0001"))), 0x82),
    ("", V5, packet(0x40, ID, NONE, extra(REASON, REASON)), 0x82),
    ("", V5, packet(0x82, ID, extra(hexed("0B 01 0B 02")), A, NONE), 0x82),
    ("", None, connect(properties=hexed("21 0001 21 0001")), 0x82),
    ("", None, connect(properties=hexed("18 00000001")), 0x81),
    # Values that are not allowed.
    ("", None, connect(properties=hexed("21 0000")), 0x82),
    ("", None, connect(properties=hexed("27 00000000")), 0x82),
    ("", None, connect(properties=hexed("17 02")), 0x82),
    ("", None, connect(properties=hexed("19 02")), 0x82),
    ("", V5, packet(0x30, A, extra(hexed("01 02"))), 0x82),
    ("", V5, packet(0x30, A, extra(hexed("0B 00"))), 0x82),
    ("", V5, packet(0x82, ID, extra(hexed("0B 00")), A, NONE), 0x82),
    ("", V5, packet(0x20, hexed("00 00"), extra(hexed("24 02"))), 0x82),
    ("", V5, packet(0x20, hexed("00 00"), extra(hexed("25 02"))), 0x82),
]

ACKS: list[Row] = [
    ("MQTT-3.4.2-1", V5, packet(0x40, ID, hexed("92")), 0x82),
    ("MQTT-3.5.2-1", V5, packet(0x50, ID, hexed("01")), 0x82),
    ("MQTT-3.6.2-1", V5, packet(0x62, ID, hexed("80")), 0x82),
    ("MQTT-3.7.2-1", V5, packet(0x70, ID, hexed("10")), 0x82),
    ("MQTT-3.14.2-1", V5, hexed("E0 01 01"), 0x82),
    ("MQTT-3.15.2-1", V5, hexed("F0 02 01 00"), 0x82),
    ("", V5, hexed("F0 02 18 00"), 0x82),
    ("", V5, hexed("F0 01 18"), 0x81),
    ("", V5, hexed("40 01 00"), 0x81),
]

SUBSCRIPTIONS: list[Row] = [
    ("MQTT-3.8.3-2", V5, packet(0x82, ID, NONE), 0x82),
    ("MQTT-3.8.3-2", V311, packet(0x82, ID), 0x82),
    # [MQTT-3.8.3-1] Filters are texts.
    ("MQTT-1.5.4-1", V5, packet(0x82, ID, NONE, text(hexed("FF")), NONE), 0x81),
    ("", V5, packet(0x82, ID, NONE, A), 0x81),
    ("MQTT-3.8.3-4", V5, packet(0x82, ID, NONE, text("$share/g/a"), hexed("04")), 0x82),
    ("MQTT-3.8.3-5", V5, packet(0x82, ID, NONE, A, hexed("40")), 0x81),
    ("MQTT-3.8.3-5", V5, packet(0x82, ID, NONE, A, hexed("80")), 0x81),
    ("MQTT-3-8.3-4", V311, packet(0x82, ID, A, hexed("04")), 0x81),
    ("MQTT-3-8.3-4", V311, packet(0x82, ID, A, hexed("03")), 0x82),
    ("", V5, packet(0x82, ID, NONE, A, hexed("03")), 0x82),
    ("", V5, packet(0x82, ID, NONE, A, hexed("30")), 0x82),
    # [MQTT-3.9.3-2] [MQTT-3.11.3-2] The codes of SUBACK and UNSUBACK.
    ("", V5, packet(0x90, ID, NONE, hexed("03")), 0x82),
    ("", V311, packet(0x90, ID, hexed("87")), 0x82),
    ("", V5, packet(0x90, ID, NONE), 0x82),
    ("", V5, packet(0xB0, ID, NONE, hexed("01")), 0x82),
    ("", V5, packet(0xB0, ID, NONE), 0x82),
    ("MQTT-3.10.3-2", V5, packet(0xA2, ID, NONE), 0x82),
    ("MQTT-3.10.3-2", V311, packet(0xA2, ID), 0x82),
    # [MQTT-3.10.3-1]
    ("MQTT-1.5.4-1", V311, packet(0xA2, ID, text(hexed("FF"))), 0x81),
]

ROWS = TEXTS + HEADERS + IDS + CONNECTS + PUBLISHES + PROPERTIES + ACKS + SUBSCRIPTIONS


@pytest.mark.parametrize(
    ("clause", "version", "data", "code"),
    ROWS,
    ids=lambda part: part.hex() if isinstance(part, bytes) else None,
)
def test_what_is_forbidden_is_refused(clause: str, version: Version | None, data: bytes, code: int) -> None:
    error = refusal_of(data, version)
    assert error is not None
    assert (f"{error.code:02X}", error.clause) == (f"{code:02X}", clause), str(error)


@pytest.mark.parametrize(("clause", "version", "data", "code"), ROWS, ids=lambda part: None)
def test_what_is_forbidden_is_refused_byte_by_byte(
    clause: str, version: Version | None, data: bytes, code: int
) -> None:
    decoder = Decoder(1_000_000, version)
    for at in range(len(data)):
        if decoder.error is None:
            decoder.feed(data[at : at + 1])
    assert decoder.error is not None
    assert decoder.error.code == code
