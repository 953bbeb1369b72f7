"""Hypothesis plays a server with consumers that come, go, die and lie, against a plain model."""

from __future__ import annotations

from collections import deque

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ramify.deferred import GroupCommit, JournaledQueue, wire
from ramify.deferred.serving import Limits
from tests.deferred.disk import Disk
from tests.deferred.serving import Played

LIMITS = Limits(keys=4, in_flight=5, held=60, silence=10.0)
PEERS = st.sampled_from(["a", "b", "c"])
KEYS = st.sampled_from([f"k{n}" for n in range(6)])


class ServedQueue(RuleBasedStateMachine):
    """The model: what waits by key, what each ticket is, who holds it, and when each was heard."""

    def __init__(self) -> None:
        super().__init__()
        self.played = self.begun()
        self.waiting: dict[str, tuple[bytes, float]] = {}
        self.held: dict[int, tuple[str, bytes, str | None]] = {}
        self.windows: dict[str, int] = {}
        self.heard: dict[str, float] = {}
        self.over: set[int] = set()

    def begun(self) -> Played:
        return Played(limits=LIMITS)

    @rule(key=KEYS, size=st.integers(0, 25), delay=st.sampled_from([0.0, 1.0, 7.5]))
    def push(self, key: str, size: int, delay: float) -> None:
        data = wire.encode_data(b"x" * size)
        used = self.bytes_held() - len(self.waiting.get(key, (b"", 0))[0])
        outcome = self.played.push(key, b"x" * size, delay)
        returned = sum(holder is None for _, _, holder in self.held.values())
        is_full = key not in self.waiting and len(self.waiting) + returned >= LIMITS.keys
        grows = len(data) > len(self.waiting.get(key, (b"", 0))[0])
        if is_full or (grows and used + len(data) > LIMITS.held):
            assert outcome == "full"
        else:
            assert outcome == "accepted"
            self.waiting[key] = data, self.played.now + delay

    @rule(peer=PEERS, window=st.integers(1, 4))
    def take(self, peer: str, window: int) -> None:
        self.played.take(peer, window)
        self.windows[peer], self.heard[peer] = window, self.played.now

    @rule(peer=PEERS)
    def leave(self, peer: str) -> None:
        self.played.consume(peer, wire.Leave(wire.VERSION))
        self.forget(peer)

    @rule(peer=PEERS)
    def vanish(self, peer: str) -> None:
        self.played.server.unreachable((peer.encode(),))
        self.forget(peer)

    @rule(peer=PEERS, data=st.data())
    def acknowledge(self, peer: str, data: st.DataObject) -> None:
        tickets = data.draw(st.lists(st.sampled_from(sorted(self.held) or [0]), unique=True, max_size=3))
        pairs = [(ticket, self.held.get(ticket, ("?",))[0]) for ticket in tickets]
        self.played.consume(peer, wire.Ack(wire.VERSION, pairs))
        for ticket in tickets:
            if self.held.pop(ticket, None) is not None:
                self.over.add(ticket)
        if peer in self.heard:
            self.heard[peer] = self.played.now

    @rule(peer=PEERS, data=st.data())
    def acknowledge_what_is_not_held(self, peer: str, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from([999_999, *sorted(self.over), *sorted(self.held)]))
        done = self.played.server.counts.done
        self.played.consume(peer, wire.Ack(wire.VERSION, [(ticket, "nobody's key")]))
        assert self.played.server.counts.done == done
        if peer in self.heard:
            self.heard[peer] = self.played.now

    @rule(peer=PEERS, frame=st.binary(max_size=8))
    def babble(self, peer: str, frame: bytes) -> None:
        if frame[:2] != b"\x92\x06":
            self.played.consume(peer, b"\x9f" + frame)
            self.played.produce(b"\x9f" + frame)

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.played.now += seconds

    @rule()
    def deliver(self) -> None:
        now = self.played.now
        for peer in [peer for peer, heard in self.heard.items() if heard + LIMITS.silence <= now]:
            self.forget(peer)
        expected = self.expected(now)
        given: list[str] = []
        for peer, items in self.played.delivered().items():
            for item in items:
                assert item.ticket not in self.over, "what was done came back"
                given.append(item.key)
                self.give(peer, item)
            held = sum(holder == peer for _, _, holder in self.held.values())
            assert held <= self.windows[peer]
        assert sorted(given) == sorted(expected)

    def give(self, peer: str, item: wire.Delivery) -> None:
        if item.ticket in self.held:
            key, data, holder = self.held[item.ticket]
            assert holder is None, "given out while another holds it"
        else:
            key, (data, deadline) = item.key, self.waiting.pop(item.key)
            assert deadline <= self.played.now
            assert item.deadline == deadline
        assert (item.key, bytes(item.data)) == (key, data)
        self.held[item.ticket] = key, data, peer

    def expected(self, now: float) -> list[str]:
        """The keys that go out now: first what came back, then what is due, as far as there is room."""
        room = 0
        for peer, window in self.windows.items():
            room += max(0, window - sum(holder == peer for _, _, holder in self.held.values()))
        out = sum(holder is not None for _, _, holder in self.held.values())
        room = max(0, min(room, LIMITS.in_flight - out))
        returned = sum(holder is None for _, _, holder in self.held.values())
        due = sum(deadline <= now for _, deadline in self.waiting.values())
        back = [key for key, _, holder in self.held.values() if holder is None]
        if room >= returned + due:
            return back + [key for key, (_, deadline) in self.waiting.items() if deadline <= now]
        return self.first(room, now)

    def first(self, room: int, now: float) -> list[str]:
        """With too little room the order decides; the queue's own tests judge it, so ask the queue."""
        queue = self.played.server._queue
        returned = sum(holder is None for _, _, holder in self.held.values())
        listed = list(queue)
        chosen = listed[:returned] + [item for item in listed[returned:] if item.deadline <= now]
        return [item.key for item in chosen[:room]]

    def forget(self, peer: str) -> None:
        self.windows.pop(peer, None)
        self.heard.pop(peer, None)
        for ticket, (key, data, holder) in self.held.items():
            if holder == peer:
                self.held[ticket] = key, data, None

    def bytes_held(self) -> int:
        waiting = sum(len(data) for data, _ in self.waiting.values())
        return waiting + sum(len(data) for _, data, _ in self.held.values())

    @invariant()
    def accounts_are_right(self) -> None:
        server = self.played.server
        returned = sum(holder is None for _, _, holder in self.held.values())
        assert server.held_bytes == self.bytes_held()
        assert server.waiting == len(self.waiting) + returned
        assert server.in_flight == len(self.held) - returned
        assert server.in_flight <= LIMITS.in_flight


class ServedJournal(ServedQueue):
    """The same with a journal that commits at every record and compacts now and then."""

    def begun(self) -> Played:
        queue = JournaledQueue("", files=Disk(), group=GroupCommit(records=1), compact_slack=None)
        return Played(limits=LIMITS, journal=queue)

    @rule()
    def compact(self) -> None:
        queue = self.played.server._queue
        assert isinstance(queue, JournaledQueue)
        deque(queue.compaction(), maxlen=0)

    @rule()
    def restart(self) -> None:
        """Close the journal and serve it anew: what waits and what was in flight is there."""
        queue, now = self.played.server._queue, self.played.now
        assert isinstance(queue, JournaledQueue)
        files = queue._files
        queue.close()
        opened = JournaledQueue("", files=files, group=GroupCommit(records=1), compact_slack=None)
        self.played = Played(limits=LIMITS, journal=opened)
        self.played.now = now
        self.windows.clear()
        self.heard.clear()
        for ticket, (key, data, _) in list(self.held.items()):
            # What was in flight waits again, as the latest state of its key or beside a newer one.
            if key in self.waiting or key in [k for t, (k, _, _) in self.held.items() if t > ticket]:
                self.held[ticket] = key, data, None
            else:
                del self.held[ticket]
                item = opened.get(key)
                assert item is not None
                self.waiting[key] = data, item.deadline


TestServedJournal = ServedJournal.TestCase
TestServedJournal.settings = settings(max_examples=60, stateful_step_count=40)
TestServedQueue = ServedQueue.TestCase
TestServedQueue.settings = settings(max_examples=100, stateful_step_count=40)
