"""A server without sockets: says things to it at a time that the test chooses, and reads what it sends."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ramify.deferred import JournaledQueue, Policy, wire
from ramify.deferred.encoded import over_encoded
from ramify.deferred.server import Server
from ramify.deferred.serving import Limits, Sent, Side
from ramify.deferred.ticketed import TicketedQueue


class Played:
    """A server, its peers by name, and what each of them was sent."""

    def __init__(
        self,
        policy: Policy | None = None,
        limits: Limits | None = None,
        *,
        text: bool = False,
        journal: JournaledQueue | None = None,
    ) -> None:
        policy = over_encoded(policy or Policy())
        queue = TicketedQueue(policy) if journal is None else journal
        self.server = Server(queue, policy, limits, speaks_text=text)
        self.now = 1000.0
        self._requests = 0
        self._for_consumers: list[Sent] = []

    def push(self, key: str, data: Any = None, delay: float | None = None, **more: Any) -> str:
        """Push one item, and say what it came to: `accepted`, or the code of the refusal."""
        push = wire.Push(key, Raw(wire.encode_data(data)), delay, **more)
        (answer,) = self.say_pushes([push])
        return answer.refused[0].code if answer.refused else "accepted"

    def say_pushes(self, pushes: list[wire.Push]) -> list[wire.Pushed]:
        self._requests += 1
        frame = wire.encode(wire.Pushes(wire.VERSION, self._requests, pushes))
        answers = [wire.read_to_producer(sent) for sent in self.produce(frame)]
        assert all(isinstance(answer, wire.Pushed) for answer in answers)
        return answers  # type: ignore[return-value]

    def produce(self, frame: bytes, peer: str = "producer") -> list[bytes]:
        """Say something as a producer; what consumers are sent is kept for `sent`."""
        self.server.from_producer((peer.encode(),), frame, self.now)
        answers = self.server.answers()
        self._for_consumers += [sent for sent in answers if sent.side is Side.CONSUMERS]
        return [sent.frame for sent in answers if sent.side is Side.PRODUCERS]

    def consume(self, peer: str, message: wire.FromConsumer | bytes) -> None:
        frame = message if isinstance(message, bytes) else wire.encode(message)
        self.server.from_consumer((peer.encode(),), frame, self.now)

    def take(self, peer: str, window: int = 10) -> None:
        self.consume(peer, wire.Take(wire.VERSION, window))

    def ack(self, peer: str, *items: wire.Delivery) -> None:
        self.consume(peer, wire.Ack(wire.VERSION, [(item.ticket, item.key) for item in items]))

    def sent(self) -> dict[str, list[bytes]]:
        """What consumers are sent now."""
        frames: dict[str, list[bytes]] = {}
        messages, self._for_consumers = [*self._for_consumers, *self.server.outgoing(self.now)], []
        for message in messages:
            assert message.side is Side.CONSUMERS
            frames.setdefault(message.peer[0].decode(), []).append(message.frame)
        return frames

    def told(self) -> dict[str, list[wire.ToConsumer]]:
        return {peer: [wire.read_to_consumer(f) for f in frames] for peer, frames in self.sent().items()}

    def delivered(self) -> dict[str, list[wire.Delivery]]:
        """The items that each consumer gets now; other messages are passed over."""
        return {
            peer: [item for message in told if isinstance(message, wire.Deliver) for item in message.items]
            for peer, told in self.told().items()
            if any(isinstance(message, wire.Deliver) for message in told)
        }

    def keys(self) -> dict[str, list[str]]:
        return {peer: [item.key for item in items] for peer, items in self.delivered().items()}
