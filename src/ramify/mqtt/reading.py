"""The data types of MQTT, read from bytes: integers, texts, binary data, properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.errors import BadPacket
from ramify.mqtt.properties import KINDS, Kind, PropertiesT, Property, none_of, rows_of
from ramify.mqtt.reasons import malformed, protocol_error


def text_of(raw: bytes) -> str:
    """The text that UTF-8 stands for; a byte-order mark is part of it. [MQTT-1.5.4-3]"""
    try:
        text = raw.decode()
    except UnicodeDecodeError as refusal:
        # Python's decoder refuses surrogates and overlong forms as the standard does.
        raise malformed(f"a text is not UTF-8: {refusal.reason}", "MQTT-1.5.4-1") from None
    if "\0" in text:
        raise malformed("a text holds NUL", "MQTT-1.5.4-2")
    return text


# ── reading: each function gives a value and where the next one starts ────────────────────


def _cut_short() -> BadPacket:
    return malformed("the packet ends within a value")


def read_byte(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """One byte."""
    if at >= stop:
        raise _cut_short()
    return data[at], at + 1


def read_two_bytes(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """A big-endian integer of two bytes."""
    end = at + 2
    if end > stop:
        raise _cut_short()
    return data[at] << 8 | data[at + 1], end


def read_four_bytes(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """A big-endian integer of four bytes."""
    end = at + 4
    if end > stop:
        raise _cut_short()
    return int.from_bytes(data[at:end], "big"), end


def read_varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """An integer of one to four bytes with seven bits each, lowest first."""
    value = 0
    for shift in (0, 7, 14, 21):
        byte, at = read_byte(data, at, stop)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if not byte and shift:
                raise malformed("an integer takes more bytes than it needs", "MQTT-1.5.5-1")
            return value, at
    raise malformed("an integer goes on after four bytes", "MQTT-1.5.5-1")


def read_binary(data: bytes, at: int, stop: int) -> tuple[bytes, int]:
    """Bytes behind their number."""
    start = at + 2
    if start > stop:
        raise _cut_short()
    end = start + (data[at] << 8 | data[at + 1])
    if end > stop:
        raise _cut_short()
    return data[start:end], end


def read_text(data: bytes, at: int, stop: int) -> tuple[str, int]:
    """A text behind the number of its bytes."""
    raw, at = read_binary(data, at, stop)
    return text_of(raw), at


def read_pair(data: bytes, at: int, stop: int) -> tuple[tuple[str, str], int]:
    """Two texts. [MQTT-1.5.7-1]"""
    name, at = read_text(data, at, stop)
    value, at = read_text(data, at, stop)
    return (name, value), at


def read_properties(data: bytes, at: int, stop: int, kind: type[PropertiesT]) -> tuple[PropertiesT, int]:
    """The properties of a packet, or of a will, behind the number of their bytes."""
    if at < stop and not data[at]:
        return none_of(kind), at + 1
    size, at = read_varint(data, at, stop)
    end = at + size
    if end > stop:
        raise _cut_short()
    rows = _ROWS[kind]
    values: dict[str, Any] = {}
    while at < end:
        # No identifier takes more than a byte, so that of a longer one the first byte is not found.
        found = rows.get(data[at])
        if found is None:
            raise malformed(f"the property 0x{data[at]:02X} does not belong to this packet")
        row, read = found
        value, at = read(data, at + 1, end)
        _keep(values, row, value)
    for name in _REPEATED[kind]:
        if name in values:
            values[name] = tuple(values[name])
    return kind(**values), at


def _keep(values: dict[str, Any], row: Property, value: Any) -> None:
    if row.least is not None or row.most is not None:
        value = _checked(value, row)
    name = row.name
    if row.repeats:
        values.setdefault(name, []).append(value)
    elif name in values:
        raise protocol_error(f"{name} stands in the packet twice")
    else:
        values[name] = value


def _checked(value: int, row: Property) -> int | bool:
    too_low = row.least is not None and value < row.least
    if too_low or (row.most is not None and value > row.most):
        raise BadPacket(row.refusal, f"{row.name} is {value}")
    return value == 1 if row.kind is Kind.FLAG else value


_READ: dict[Kind, Callable[[bytes, int, int], tuple[Any, int]]] = {
    Kind.BYTE: read_byte,
    Kind.FLAG: read_byte,
    Kind.TWO_BYTES: read_two_bytes,
    Kind.FOUR_BYTES: read_four_bytes,
    Kind.VARINT: read_varint,
    Kind.TEXT: read_text,
    Kind.BINARY: read_binary,
    Kind.PAIR: read_pair,
}
_ROWS = {kind: {row.id: (row, _READ[row.kind]) for row in rows_of(kind)} for kind in KINDS}
_REPEATED = {kind: [row.name for row in rows_of(kind) if row.repeats] for kind in KINDS}


class Reader:
    """Takes the values of a packet one after another."""

    __slots__ = ("_at", "_data", "_end")

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    @property
    def is_done(self) -> bool:
        """Whether all bytes are taken."""
        return self._at >= self._end

    def rest(self) -> bytes:
        """All bytes that are left."""
        at, self._at = self._at, self._end
        return self._data[at : self._end]

    def byte(self) -> int:
        """One byte."""
        value, self._at = read_byte(self._data, self._at, self._end)
        return value

    def two_bytes(self) -> int:
        """A big-endian integer of two bytes."""
        value, self._at = read_two_bytes(self._data, self._at, self._end)
        return value

    def binary(self) -> bytes:
        """Bytes behind their number."""
        value, self._at = read_binary(self._data, self._at, self._end)
        return value

    def text(self) -> str:
        """A text behind the number of its bytes."""
        return text_of(self.binary())

    def properties(self, kind: type[PropertiesT]) -> PropertiesT:
        """The properties of a packet, or of a will."""
        value, self._at = read_properties(self._data, self._at, self._end, kind)
        return value

    def packet_id(self, clause: str = "MQTT-2.2.1-3") -> int:
        """A packet's number, which is not 0."""
        number = self.two_bytes()
        if not number:
            raise protocol_error("a packet id is not 0", clause)
        return number

    def finish(self) -> None:
        """Refuse bytes behind the last value."""
        if self._at < self._end:
            raise malformed(f"{self._end - self._at} bytes follow the end of the packet")
