"""Redis Streams: walk along one, read a range of it, append to it.

Reading packs entries into one text within Redis, which Python takes apart six times faster than
Redis's own form; where scripts are not allowed, or values are not UTF-8, it is read plainly.
Each step takes at most `STEP` entries and stops after about `STEP_BYTES`, so that no step holds up
the others that use the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis
from msgspec import MsgspecError
from msgspec.msgpack import decode
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from ramify.connectors.addresses import Address
from ramify.connectors.source_options import BEGINNING
from ramify.errors import InvalidEndpoint, Unanswered

STEP, STEP_BYTES = 1_000, 4 << 20
RETRIES, TIMEOUT = 5, 10.0

_WALK = """
local from, left, count, bytes, found = ARGV[1], tonumber(ARGV[3]), 0, 0, {}
while left > 0 and bytes < tonumber(ARGV[4]) do
  local taken = redis.call('XRANGE', KEYS[1], from, ARGV[2], 'COUNT', math.min(left, 100))
  if #taken == 0 then break end
  for _, entry in ipairs(taken) do
    for _, value in ipairs(entry[2]) do bytes = bytes + #value end
    count = count + 1
    if ARGV[5] == '1' then found[count] = entry end
  end
  from, left = '(' .. taken[#taken][1], left - #taken
end
return {count, string.sub(from, 2), ARGV[5] == '1' and cmsgpack.pack(found) or ''}
"""

Entry = tuple[str, dict[Any, Any]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Entries of a stream that follow each other: behind one id, up to another and with it."""

    behind: str
    last: str
    count: int


class RedisStreams:
    """A connection to the streams of one server."""

    def __init__(self, address: Address) -> None:
        self.address = address
        retry = Retry(ExponentialBackoff(cap=1.0, base=0.05), RETRIES)
        self._redis: Any = redis.Redis(
            host=address.host,
            port=address.port,
            db=address.database,
            username=address.username,
            password=address.password,
            ssl=address.is_secure,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            retry=retry,
        )
        self._walk = self._redis.register_script(_WALK)
        self._is_plain = False

    def last_id(self, stream: str) -> str:
        """The id of the last entry, or the beginning if there is none."""
        with _named(self.address, stream):
            found = self._redis.xrevrange(stream, count=1)
        return str(found[0][0].decode()) if found else BEGINNING

    def stretches(self, stream: str, behind: str, up_to: str, limit: int | None) -> Iterator[Stretch]:
        """Walk from one id to another, or over so many entries; the entries stay where they are."""
        left = limit
        while left is None or left > 0:
            step = STEP if left is None else min(STEP, left)
            found = self._step(stream, behind, up_to, step)
            if not found.count:
                return
            yield found
            behind, left = found.last, None if left is None else left - found.count

    def entries(self, stream: str, behind: str, last: str) -> Iterator[list[Entry]]:
        """All entries of a stretch, a step at a time."""
        while entries := self._entries(stream, behind, last):
            yield entries
            behind = entries[-1][0]

    def append(self, commands: Sequence[bytes]) -> None:
        """Send packed commands together, and wait until each is answered."""
        with _named(self.address, None):
            connection = self._redis.connection_pool.get_connection()
            try:
                connection.retry.call_with_retry(
                    lambda: _answered(connection, commands), lambda _: connection.disconnect()
                )
            finally:
                self._redis.connection_pool.release(connection)

    def close(self) -> None:
        """Let go of the server."""
        self._redis.close()

    def _step(self, stream: str, behind: str, up_to: str, step: int) -> Stretch:
        walked = self._walked(stream, behind, up_to, step, with_entries=False)
        if walked is not None:
            return Stretch(behind, walked[1].decode(), walked[0])
        entries = self._plainly(stream, behind, up_to, step)
        return Stretch(behind, entries[-1][0] if entries else behind, len(entries))

    def _entries(self, stream: str, behind: str, last: str) -> list[Entry]:
        walked = self._walked(stream, behind, last, STEP, with_entries=True)
        if walked is not None:
            try:
                return [(at, dict(zip(said[::2], said[1::2], strict=True))) for at, said in decode(walked[2])]
            except (MsgspecError, UnicodeDecodeError):
                self._is_plain = True
        return self._plainly(stream, behind, last, STEP)

    def _walked(
        self, stream: str, behind: str, last: str, step: int, *, with_entries: bool
    ) -> tuple[int, bytes, bytes] | None:
        """A step in one call, or nothing where scripts are not allowed."""
        arguments: list[str | int] = [f"({behind}", last, step, STEP_BYTES, "1" if with_entries else "0"]
        with _named(self.address, stream):
            try:
                return None if self._is_plain else tuple(self._walk([stream], arguments))
            except redis.ResponseError as refusal:
                if "WRONGTYPE" in str(refusal):
                    raise
                self._is_plain = True
                return None

    def _plainly(self, stream: str, behind: str, last: str, step: int) -> list[Entry]:
        with _named(self.address, stream):
            # Fewer at a time: here nothing looks at their size before they come.
            found = self._redis.xrange(stream, f"({behind}", last, count=min(step, 200))
        return [(at.decode(), said) for at, said in found]


def packed(parts: Sequence[bytes]) -> bytes:
    """A command as Redis takes it."""
    return b"*%d\r\n" % len(parts) + b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])


def _answered(connection: Any, commands: Sequence[bytes]) -> None:
    """Send all, then read all answers: some may be there twice if this is tried again."""
    connection.send_packed_command([b"".join(commands)])
    refusals = []
    for _ in commands:
        try:
            connection.read_response()
        except redis.ResponseError as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


@contextmanager
def _named(address: Address, stream: str | None) -> Iterator[None]:
    """Errors of Redis with the place where they happened, and after all retries."""
    where = str(address) if stream is None else f"{address} {stream}"
    try:
        yield
    except redis.AuthenticationError as refusal:
        raise InvalidEndpoint(str(address), f"we are not let in: {refusal}") from None
    except (redis.ConnectionError, redis.TimeoutError) as failure:
        raise Unanswered(str(address), f"Redis does not answer after {RETRIES} retries: {failure}") from None
    except redis.ResponseError as refusal:
        raise InvalidEndpoint(where, f"Redis refuses: {refusal}") from None
