"""Server: what a served queue answers, without sockets and without a clock.

Messages come in with the time; what is to be sent is collected with `outgoing`. An answer that
promises something waits there until the queue has committed it, and answers keep their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from math import inf

from ramify.deferred import text, wire
from ramify.deferred.answers import looks_like_text, write_deliveries, write_failure
from ramify.deferred.consumers import Consumer, Consumers, Peer
from ramify.deferred.encoded import policy_of
from ramify.deferred.items import InFlight, Outcome
from ramify.deferred.policy import Policy
from ramify.deferred.queue import PLAIN
from ramify.deferred.serving import Counts, Limits, Sent, Side
from ramify.deferred.ticketed import Tickets
from ramify.errors import BadMessage, InvalidPolicy, InvalidPush

FARTHEST = 1e10
"""Seconds: no delay is longer and no deadline is later after 1970; that is some 300 years."""


@dataclass(slots=True)
class _Given:
    """An item that was given out; without a consumer, it came back."""

    key: str
    size: int
    consumer: Consumer | None


class _Refused(Exception):
    def __init__(self, code: str, reason: str) -> None:
        self.code, self.reason = code, reason


class Server:
    """A deferred queue with producers and consumers."""

    def __init__(
        self,
        queue: Tickets,
        policy: Policy = PLAIN,
        limits: Limits | None = None,
        *,
        speaks_text: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.counts = Counts()
        self._queue, self._speaks_text = queue, speaks_text
        self._is_plain = policy.is_plain
        self._needs_clock = policy.needs_clock
        self._consumers = Consumers(self.limits.silence)
        self._given = {i.ticket: _Given(i.key, len(i.data), None) for i in queue.returned}
        self._out = 0
        self._held = sum(len(item.data) for item in queue)
        self._answers: deque[tuple[int, Sent]] = deque()
        self._is_closing = False
        if speaks_text:
            for item in queue:
                if "|" in item.key:
                    raise InvalidPush(item.key, "this key waits, and the text form cannot carry its |")

    # ── what is there ─────────────────────────────────────────────────────────────────────

    @property
    def waiting(self) -> int:
        """How many items wait, those that came back included."""
        return len(self._queue)

    @property
    def in_flight(self) -> int:
        """How many items consumers hold."""
        return self._out

    @property
    def held_bytes(self) -> int:
        """How many bytes of data wait or are in flight."""
        return self._held

    @property
    def consumers(self) -> int:
        """How many consumers are there."""
        return len(self._consumers)

    @property
    def unanswered(self) -> int:
        """How many answers wait for a commit."""
        return len(self._answers)

    # ── in ────────────────────────────────────────────────────────────────────────────────

    def from_producer(self, peer: Peer, frame: bytes, now: float) -> None:
        """Take a message of a producer."""
        is_text = looks_like_text(frame)
        try:
            self._check(peer, frame, is_text)
            answer = self._push_text(frame, now) if is_text else self._push_all(frame, now)
        except BadMessage as bad:
            answer = self._failed(bad, is_text)
        self._answer(Side.PRODUCERS, peer, answer)

    def from_consumer(self, peer: Peer, frame: bytes, now: float) -> None:
        """Take a message of a consumer."""
        is_text = looks_like_text(frame)
        hear = self._hear_text if is_text else self._hear
        try:
            self._check(peer, frame, is_text)
            hear(peer, frame, now)
        except BadMessage as bad:
            self._answer(Side.CONSUMERS, peer, self._failed(bad, is_text))

    def unreachable(self, peer: Peer) -> None:
        """Take note that a consumer could not be sent to."""
        self._remove(peer)

    def close(self) -> None:
        """Accept nothing and give out nothing from now on; what is in flight may still be done."""
        self._is_closing = True

    # ── out ───────────────────────────────────────────────────────────────────────────────

    def outgoing(self, now: float) -> list[Sent]:
        """Collect what is to be sent: answers that hold by now, and what is due."""
        self._expire(now)
        return [*self.answers(), *self._deliveries(now)]

    def answers(self) -> list[Sent]:
        """Collect the answers that hold by now."""
        sent = []
        while self._answers and self._answers[0][0] <= self._queue.committed:
            sent.append(self._answers.popleft()[1])
        return sent

    def next_wake(self) -> float:
        """When there will be something to do if nothing comes in; never later, and maybe a little earlier."""
        due = self._queue.next_wake() if self._room() > 0 else None
        expiry = self._consumers.next_expiry()
        return min(inf if due is None else due, inf if expiry is None else expiry)

    # ── producers ─────────────────────────────────────────────────────────────────────────

    def _push_all(self, frame: bytes, now: float) -> bytes:
        request = wire.read_pushes(frame)
        self._check_many(request.pushes, request.request)
        refused = []
        for index, push in enumerate(request.pushes):
            try:
                deadline = self._deadline(push, now)
                self._push(push.key, bytes(push.data), deadline, now, push.version, push.policy)
            except _Refused as refusal:
                refused.append(wire.Refusal(index, refusal.code, refusal.reason))
        accepted = len(request.pushes) - len(refused)
        self.counts.accepted += accepted
        self.counts.refused += len(refused)
        return wire.encode(wire.Pushed(wire.VERSION, request.request, accepted, refused))

    def _push_text(self, frame: bytes, now: float) -> bytes:
        push = text.read_push(frame)
        try:
            self._push(push.key, push.data, now + push.microseconds / text.MICROSECONDS, now)
        except _Refused as refusal:
            self.counts.refused += 1
            return text.write_refusal(refusal.code, refusal.reason)
        self.counts.accepted += 1
        return text.ACCEPTED

    def _push(
        self,
        key: str,
        data: bytes,
        deadline: float | None,
        now: float,
        version: float | None = None,
        said: wire.PushPolicy | None = None,
    ) -> None:
        """Push if the limits allow it, and keep account of the bytes."""
        before = self._queue.get(key)
        size = 0 if before is None else len(before.data)
        self._check_push(key, data, is_new=before is None, growth=len(data) - size)
        clock = now if deadline is None or self._needs_clock or said is not None else None
        try:
            policy = None if said is None else policy_of(said)
            outcome = self._queue.push(key, data, deadline, now=clock, version=version, policy=policy)
        except InvalidPolicy as refusal:
            raise _Refused("policy", str(refusal)) from None
        except InvalidPush as refusal:
            raise _Refused("invalid", refusal.reason) from None
        except wire.UNREADABLE as error:
            raise _Refused("invalid", f"this data cannot be merged: {error}") from None
        self.counts.added += outcome is Outcome.ADDED
        if self._is_plain and version is None and said is None:
            self._held += len(data) - size
        else:
            after = self._queue.get(key)
            self._held += (0 if after is None else len(after.data)) - size

    def _check_push(self, key: str, data: bytes, *, is_new: bool, growth: int) -> None:
        limits = self.limits
        if self._is_closing:
            raise _Refused("closing", "the server is closing; try again later")
        if not 0 < len(key) <= limits.key or "\0" in key:
            raise _Refused("key", f"a key has 1 to {limits.key:,} characters and no NUL")
        if self._speaks_text and "|" in key:
            raise _Refused("key", "a key holds no | where the text form is spoken")
        if len(data) > limits.item:
            raise _Refused("size", f"data has at most {limits.item:,} bytes, not {len(data):,}")
        if is_new and len(self._queue) >= limits.keys:
            raise _Refused("full", f"{limits.keys:,} keys wait, and that is the limit; try again later")
        if growth > 0 and self._held + growth > limits.held:
            raise _Refused("full", f"{limits.held:,} bytes are held at most; try again later")
        _check_data(data)

    def _deadline(self, push: wire.Push, now: float) -> float | None:
        if push.version is not None and not -inf < push.version < inf:
            raise _Refused("number", f"version {push.version} is not a time")
        if push.delay is not None:
            if push.deadline is not None:
                raise _Refused("number", "a push has a delay or a deadline, not both")
            if not 0 <= push.delay <= FARTHEST:
                raise _Refused("number", f"delay {push.delay} is not from 0 to {FARTHEST:.0f} seconds")
            return now + push.delay
        if push.deadline is not None and not 0 <= push.deadline <= FARTHEST:
            raise _Refused("number", f"deadline {push.deadline} is not from 0 to {FARTHEST:.0f} seconds")
        return push.deadline

    # ── consumers ─────────────────────────────────────────────────────────────────────────

    def _hear(self, peer: Peer, frame: bytes, now: float) -> None:
        message = wire.read_from_consumer(frame)
        match message:
            case wire.Take():
                if message.window < 1:
                    raise BadMessage("number", "a window is at least 1")
                self._take(peer, message.window, now)
            case wire.Ack():
                self._check_many(message.done)
                unknown = [ticket for ticket, key in message.done if not self._done(ticket, key)]
                done = len(message.done) - len(unknown)
                self._answer(Side.CONSUMERS, peer, wire.encode(wire.Acked(wire.VERSION, done, unknown)))
            case wire.Leave():
                self._remove(peer)
        if (consumer := self._consumers.get(peer)) is not None:
            consumer.heard = now

    def _hear_text(self, peer: Peer, frame: bytes, now: float) -> None:
        consumer = self._consumers.get(peer)
        if frame == text.ALIVE:
            if consumer is None:
                raise BadMessage("unknown", f"say {text.NEXT.decode()} first")
            consumer.heard = now
        elif frame in (text.NEXT, text.BYE):
            for ticket in () if consumer is None else tuple(consumer.tickets):
                self._done(ticket, self._given[ticket].key)
            if frame == text.BYE:
                self._remove(peer)
            else:
                self._take(peer, 1, now, is_text=True)
        else:
            raise BadMessage("unreadable", "a consumer says next, alive or bye")

    def _take(self, peer: Peer, window: int, now: float, *, is_text: bool = False) -> None:
        consumer = self._consumers.get(peer)
        if consumer is None:
            if len(self._consumers) >= self.limits.consumers:
                raise BadMessage("full", f"{self.limits.consumers:,} consumers are there; try again later")
            self._consumers.add(consumer := Consumer(peer, 0, now, is_text))
        consumer.window, consumer.heard, consumer.is_text = window, now, is_text

    def _done(self, ticket: int, key: str) -> bool:
        given = self._given.get(ticket)
        if given is None:
            # A ticket from before a restart may still be good; the queue knows.
            before = self._queue.get(key)
            is_done = self._queue.done(ticket, key)
            self._held -= len(before.data) if is_done and before is not None else 0
        else:
            is_done = given.key == key and self._queue.done(ticket)
            if is_done:
                del self._given[ticket]
                self._held -= given.size
                if given.consumer is not None:
                    given.consumer.tickets.discard(ticket)
                    self._out -= 1
        self.counts.done += is_done
        self.counts.unknown += not is_done
        return is_done

    def _remove(self, peer: Peer) -> None:
        """Let go of a consumer, and take back what it holds."""
        consumer = self._consumers.remove(peer)
        if consumer is None:
            return
        for ticket in consumer.tickets:
            self._queue.give_back(ticket)
            self._given[ticket].consumer = None
        self._out -= len(consumer.tickets)

    def _expire(self, now: float) -> None:
        for consumer in self._consumers.expired(now):
            self.counts.expired += 1
            self._remove(consumer.peer)
            silent = BadMessage("silent", f"nothing was heard for {self.limits.silence:g} seconds")
            self._answer(Side.CONSUMERS, consumer.peer, write_failure(silent, consumer.is_text))

    # ── deliveries ────────────────────────────────────────────────────────────────────────

    def _room(self) -> int:
        return 0 if self._is_closing else min(self.limits.in_flight - self._out, self._consumers.room())

    def _deliveries(self, now: float) -> Iterator[Sent]:
        room = self._room()
        items = self._queue.drain(now, room) if room > 0 else []
        for consumer, share in self._consumers.share(items):
            self._give(consumer, share)
            if consumer.is_text:
                # It said nothing while it waited; its time begins now.
                consumer.window, consumer.heard = 0, now
            for frame in write_deliveries(share, self.limits.item, consumer.is_text):
                yield Sent(Side.CONSUMERS, consumer.peer, frame)

    def _give(self, consumer: Consumer, items: list[InFlight]) -> None:
        given = self._given
        for item in items:
            self.counts.redelivered += item.ticket in given
            given[item.ticket] = _Given(item.key, len(item.data), consumer)
        consumer.tickets.update(item.ticket for item in items)
        self._out += len(items)
        self.counts.delivered += len(items)

    # ── answers ───────────────────────────────────────────────────────────────────────────

    def _check(self, peer: Peer, frame: bytes, is_text: bool) -> None:
        """Refuse what is no message at all."""
        if not 1 <= len(peer) <= 2 or any(peer[1:]):
            raise BadMessage("frames", "a message is one frame, or an empty frame and another")
        if len(frame) > self.limits.message:
            raise BadMessage(
                "size", f"a message has at most {self.limits.message:,} bytes, not {len(frame):,}"
            )
        if is_text and not self._speaks_text:
            raise BadMessage("unreadable", "not a message; the text form is spoken by serve --text")

    def _check_many(self, many: Sized, request: int | None = None) -> None:
        if len(many) > self.limits.per_message:
            most = f"{self.limits.per_message:,} pushes or acknowledgements"
            raise BadMessage("size", f"a message holds at most {most}, not {len(many):,}", request)

    def _failed(self, bad: BadMessage, is_text: bool) -> bytes:
        self.counts.bad += 1
        return write_failure(bad, is_text)

    def _answer(self, side: Side, peer: Peer, frame: bytes) -> None:
        # Frames that are no envelope would be taken for a part of the answer.
        to = peer if len(peer) <= 2 and not any(peer[1:]) else peer[:1]
        self._answers.append((self._queue.appended, Sent(side, to, frame)))


def _check_data(data: bytes) -> None:
    """Refuse data that a consumer could not read."""
    try:
        read = wire.decode_data(data)
    except wire.UNREADABLE as error:
        raise _Refused("data", f"the data is not MessagePack: {error}") from None
    if len(data) > wire.DEEPEST and wire.is_too_deep(read):
        raise _Refused("data", f"the data is nested more than {wire.DEEPEST} deep")
