"""A broker, whatever happens to it in whatever order, against a plain model of what it owes.

Devices connect, subscribe, publish, acknowledge late or never, vanish and come back; time passes; the
broker crashes, before or after its changes are safe. Then: whoever wants an event by the plain
meaning of patterns and criteria gets it, in order; quality 1 and 2 are never lost while the
session lives, and quality 2 never comes twice.
"""

from __future__ import annotations

from itertools import count
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ramify.broker import Delivery, Event, Will, Wish
from tests.broker.model import (
    CLIENTS,
    PATTERNS,
    TOPICS,
    Device,
    Owed,
    clients,
    first_of_each,
    is_subsequence,
    payload_of,
    payloads,
    qualities,
    token_of,
    topics,
    wants,
    wishes,
)
from tests.broker.played import Played


class BrokerMachine(RuleBasedStateMachine):
    """Devices around a broker, and what each is owed."""

    def __init__(self) -> None:
        super().__init__()
        self.played = Played()
        self.played.deliver = self._deliver  # type: ignore[method-assign]
        self.devices = {client: Device() for client in CLIENTS}
        self.model: dict[str, Owed] = {}
        self.retained: dict[str, Event] = {}
        self.expiring: dict[int, float] = {}
        self.tokens = count(1)
        self.tickets = {client: count(1) for client in CLIENTS}

    # ── what devices see ──────────────────────────────────────────────────────────────────

    def _deliver(self, event: Event, delivery: Delivery) -> None:
        self.devices[delivery.client].take(event, delivery)

    def _hear_releases(self) -> None:
        for release in self.played.releases:
            self.devices[release.client].take_release(release)
        self.played.releases.clear()

    def _say(self, client: str) -> None:
        verb, ticket = self.devices[client].to_say.popleft()
        if verb != "received":
            # The window opens with this word, so the device must be ready for the next delivery.
            self.devices[client].in_flight.discard(ticket)
        getattr(self.played, verb)(client, ticket)
        self._hear_releases()

    # ── what the model makes of it ────────────────────────────────────────────────────────

    def _routed(self, event: Event, is_heard: bool = True) -> None:
        token = token_of(event)
        if event.is_retained:
            self.retained.pop(event.topic, None)
            self.retained[event.topic] = event
        for client, owed in self.model.items():
            wanting = [wish for wish in owed.wishes.values() if wants(wish, event)]
            wanting = [wish for wish in wanting if not (wish.no_local and event.publisher == client)]
            quality = min(event.quality, max([wish.quality for wish in wanting], default=0))
            if wanting and (quality or is_heard):
                owed.owe(token, quality)

    def _left(self, client: str, is_crash: bool = False) -> None:
        owed = self.model[client]
        owed.is_connected = owed.is_congested = False
        owed.plain_waiting.clear()
        self.devices[client].break_off()
        owed.away_since = self.played.now
        if owed.will is not None:
            owed.will_at = self.played.now + min(owed.will.delay, owed.expiry)
        if not is_crash:
            self._passed()

    def _passed(self) -> None:
        """Do what time demands, in the order in which the moments come."""
        while True:
            due = [
                (owed.will_at, 0, client) for client, owed in self.model.items() if owed.will_at is not None
            ]
            due += [
                (owed.away_since + owed.expiry, 1, client)
                for client, owed in self.model.items()
                if not owed.is_connected
            ]
            due = [each for each in due if each[0] <= self.played.now]
            if not due:
                return
            _, is_end, client = min(due)
            self._publish_will(client)
            if is_end:
                self._ended(client)

    def _publish_will(self, client: str) -> None:
        owed = self.model[client]
        will, owed.will, owed.will_at = owed.will, None, None
        if will is not None:
            self._routed(Event(will.event.topic, will.event.payload, will.event.quality, publisher=client))

    def _ended(self, client: str) -> None:
        del self.model[client]
        self.devices[client] = Device()

    # ── rules ─────────────────────────────────────────────────────────────────────────────

    @initialize(windows=st.lists(st.sampled_from([1, 2, 3, 100]), min_size=3, max_size=3), quality=qualities)
    def begin_among_company(self, windows: list[int], quality: int) -> None:
        """Everyone is there and subscribed, so that what follows concerns someone."""
        for client, window in zip(CLIENTS, windows, strict=True):
            self.connect(client, clean=False, expiry=100.0, window=window, will=None)
            self._subscribe(client, Wish("#", quality=2))
            self._subscribe(client, Wish("a*", "glob", quality=quality))

    @precondition(lambda self: self._connected())
    @rule(data=st.data(), seed=st.integers(0, 2**32), times=st.integers(2, 8))
    def publish_often(self, data: st.DataObject, seed: int, times: int) -> None:
        client = data.draw(st.sampled_from(self._connected()))
        dice = Random(seed)
        for _ in range(times):
            self._publish(
                client, dice.choice(TOPICS), dice.choice(["k=1", "text"]), dice.choice([0, 1, 1, 2, 2])
            )

    @rule(seed=st.integers(0, 2**32), clean=st.sampled_from([False, False, False, True]))
    def stumble(self, seed: int, clean: bool) -> None:
        """A client comes back, hears and answers a little, and is lost again, several times."""
        dice = Random(seed)
        client = dice.choice(CLIENTS)
        for _ in range(3):
            self.connect(client, clean=clean, expiry=100.0, window=dice.choice([1, 2, 3, 100]), will=None)
            for _ in range(dice.randint(0, 6)):
                if self.devices[client].to_say:
                    self._say(client)
            if dice.random() < 0.3:
                self.crash()
            elif dice.random() < 0.5:
                self._left(client)
                self.played.lose(client)

    @rule(
        client=clients,
        clean=st.sampled_from([False, False, True]),
        expiry=st.sampled_from([0.0, 10.0, 100.0, 100.0]),
        window=st.sampled_from([1, 2, 100]),
        will=st.none() | st.tuples(topics, qualities, st.sampled_from([0.0, 5.0, 50.0])),
    )
    def connect(
        self, client: str, clean: bool, expiry: float, window: int, will: tuple[str, int, float] | None
    ) -> None:
        old = self.model.get(client)
        was_connected = old is not None and old.is_connected
        if was_connected:
            self._left_for(client, ends=clean)
        elif old is not None and clean:
            self._publish_will(client)
            self._ended(client)
        left = self.model.get(client)
        self.devices[client].break_off()
        self.devices[client].window = window
        made = None if will is None else self._will(client, *will)
        if left is None:
            self.model[client] = Owed(expiry, will=made)
        else:
            left.is_connected, left.expiry, left.will, left.will_at = True, expiry, made, None
        answer = self.played.connect(client, clean=clean, expiry=expiry, window=window, will=made)
        assert answer.is_session_present is (left is not None)
        assert len(self.played.closed) == was_connected
        self.played.closed.clear()
        self._hear_releases()

    def _left_for(self, client: str, ends: bool) -> None:
        """Another connection takes over: the session goes on, unless it is not to."""
        owed = self.model[client]
        if ends or not owed.expiry:
            owed.is_connected = owed.is_congested = False
            self._publish_will(client)
            self._ended(client)
        else:
            self._left(client)

    def _will(self, client: str, topic: str, quality: int, delay: float) -> Will:
        token = next(self.tokens)
        return Will(Event(topic, payload_of("k=1", token), quality, publisher=client), delay)

    def _connected(self) -> list[str]:
        return [client for client, owed in self.model.items() if owed.is_connected]

    @precondition(lambda self: self._connected())
    @rule(data=st.data(), how=st.sampled_from(["lost", "goodbye", "will"]))
    def leave(self, data: st.DataObject, how: str) -> None:
        client = data.draw(st.sampled_from(self._connected()))
        if how == "goodbye":
            self.model[client].will = None
        self._left(client)
        if how == "lost":
            self.played.lose(client)
        else:
            self.played.disconnect(client, keeps_will=how == "will")

    @precondition(lambda self: self._connected())
    @rule(data=st.data(), wish=wishes)
    def subscribe(self, data: st.DataObject, wish: Wish) -> None:
        self._subscribe(data.draw(st.sampled_from(self._connected())), wish)

    def _subscribe(self, client: str, wish: Wish) -> None:
        owed = self.model[client]
        is_new = wish.identity not in owed.wishes
        owed.wishes[wish.identity] = wish
        if wish.retain_handling == 0 or (wish.retain_handling == 1 and is_new):
            for event in self.retained.values():
                if wants(wish, event) and not (wish.no_local and event.publisher == client):
                    owed.owe(token_of(event), min(event.quality, wish.quality))
        (granted,) = self.played.done(self.played.broker.subscribe(client, [wish], self.played.now))
        assert granted.quality == wish.quality

    @precondition(lambda self: self._connected())
    @rule(data=st.data(), pattern=st.sampled_from(PATTERNS))
    def unsubscribe(self, data: st.DataObject, pattern: tuple[str, str]) -> None:
        client = data.draw(st.sampled_from(self._connected()))
        removed = self.model[client].wishes.pop((*pattern, None), None)
        outcome = self.played.unsubscribe(client, *pattern)
        assert (outcome == "success") is (removed is not None)

    @precondition(lambda self: self._connected())
    @rule(
        data=st.data(),
        topic=topics,
        kind=payloads,
        quality=qualities,
        retained=st.sampled_from([False, False, False, True]),
        expiry=st.sampled_from([None, None, None, 3.0]),
        crash=st.sampled_from([None, None, None, None, "before", "after"]),
    )
    def publish(
        self,
        data: st.DataObject,
        topic: str,
        kind: str,
        quality: int,
        retained: bool,
        expiry: float | None,
        crash: str | None,
    ) -> None:
        client = data.draw(st.sampled_from(self._connected()))
        self._publish(client, topic, kind, quality, retained, expiry, crash)

    def _publish(
        self,
        client: str,
        topic: str,
        kind: str,
        quality: int,
        retained: bool = False,
        expiry: float | None = None,
        crash: str | None = None,
    ) -> None:
        token = next(self.tokens)
        expires_at = None if expiry is None or retained else self.played.now + expiry
        if expires_at is not None:
            self.expiring[token] = expires_at
        event = Event(topic, payload_of(kind, token), quality, retained, client, expires_at)
        ticket = next(self.tickets[client]) if quality == 2 else 0
        if crash is not None and quality and self.model[client].expiry:
            self._publish_over_a_crash(client, event, ticket, is_safe=crash == "after")
            return
        self._routed(event)
        self._send(client, event, ticket)

    def _send(self, client: str, event: Event, ticket: int) -> None:
        self.played.done(self.played.broker.publish(client, event, self.played.now, ticket=ticket))
        if ticket:
            self.played.done(self.played.broker.release(client, ticket, self.played.now))

    def _publish_over_a_crash(self, client: str, event: Event, ticket: int, is_safe: bool) -> None:
        """The publisher gets no answer, comes back and sends again, as it must."""
        reply = self.played.broker.publish(client, event, self.played.now, ticket=ticket)
        if is_safe:
            self._routed(event, is_heard=False)
            self.played.store.apply(reply.changes)
        self.crash()
        self.connect(client, clean=False, expiry=100.0, window=100, will=None)
        if not (is_safe and event.quality == 2):
            self._routed(event)
        self._send(client, event, ticket)

    @rule()
    def crash(self) -> None:
        """The machine stops: connections are gone, and sessions that were to end with them."""
        for client, owed in list(self.model.items()):
            if not owed.expiry:
                self._ended(client)  # nobody is left to publish its will
        self.played.crash()
        self.played.releases.clear()
        for client in self._connected():
            self._left(client, is_crash=True)
        self.played.advance(0)
        self._passed()

    @precondition(lambda self: any(device.to_say for device in self.devices.values()))
    @rule(data=st.data(), times=st.integers(1, 4))
    def acknowledge(self, data: st.DataObject, times: int) -> None:
        client = data.draw(st.sampled_from([c for c in CLIENTS if self.devices[c].to_say]))
        for _ in range(times):
            if self.devices[client].to_say:
                self._say(client)

    @precondition(lambda self: self._connected())
    @rule(data=st.data(), is_congested=st.booleans())
    def congest(self, data: st.DataObject, is_congested: bool) -> None:
        client = data.draw(st.sampled_from(self._connected()))
        owed = self.model[client]
        owed.congest(is_congested, self._is_expired)
        self.played.congested(client, is_congested)

    @rule(seconds=st.sampled_from([1.0, 4.0, 20.0, 200.0]))
    def wait(self, seconds: float) -> None:
        end = self.played.now + seconds
        while (deadline := self.played.broker.next_deadline()) is not None and deadline <= end:
            self.played.advance(deadline - self.played.now)
            self._passed()
        self.played.advance(end - self.played.now)
        self._passed()

    def _is_expired(self, token: int) -> bool:
        return self.expiring.get(token, float("inf")) <= self.played.now

    # ── claims ────────────────────────────────────────────────────────────────────────────

    @invariant()
    def quality_0_comes_at_once_in_order(self) -> None:
        for client, owed in self.model.items():
            assert self.devices[client].plain == owed.plain

    @invariant()
    def the_same_sessions_live(self) -> None:
        live = {session.client: session.is_connected for session in self.played.broker.sessions()}
        assert live == {client: owed.is_connected for client, owed in self.model.items()}

    @invariant()
    def nothing_comes_that_is_not_owed_and_in_order(self) -> None:
        for client, owed in self.model.items():
            got = first_of_each(self.devices[client].got)
            assert is_subsequence(got, first_of_each(owed.tokens)), client

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        self._settle(data.draw(st.sampled_from(sorted(self.model))))

    def _settle(self, client: str) -> None:
        """The device comes back and acknowledges everything: all that was owed is there."""
        owed = self.model[client]
        if not owed.is_connected:
            self.connect(client, clean=False, expiry=100.0, window=2, will=None)
        if owed.is_congested:
            owed.congest(False, self._is_expired)
            self.played.congested(client, False)
        device = self.devices[client]
        while device.to_say:
            self._say(client)
        missing = set(owed.tokens) - set(device.got)
        assert all(self._is_expired(token) for token in missing), (client, missing)
        for token in device.got_once:
            assert device.got_once.count(token) <= owed.tokens.count(token), (client, token)
        assert not device.in_flight
        owed.tokens, device.got, device.got_once = [], [], []

    def teardown(self) -> None:
        for client in list(self.model):
            self._settle(client)
            session = self.played.broker.session(client)
            assert session is not None
            assert session.outbox.waiting == session.outbox.in_flight == 0


EXAMPLES = 80

TestBroker = BrokerMachine.TestCase
TestBroker.settings = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)
