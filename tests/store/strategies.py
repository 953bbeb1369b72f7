"""Changes as a broker might make them, over few names, so that they meet each other."""

from __future__ import annotations

from math import inf

from hypothesis import strategies as st

from ramify.broker import Debounce, Defer, Event, Extras, Identity, Will, Wish
from ramify.broker import changes as c

EVENTS = [
    Event("plant/1/temp", b"\x00\xff" * 3, 1, publisher="ann", expires_at=12.5),
    Event("plant/2/temp", b"", 2, is_retained=True),
    Event("", b"x" * 20_000, 1),
    Event(
        "ü/日本/\U0001f600",
        "ß".encode(),
        2,
        extras=Extras("application/json", "answers", b"\x00", True, (("a", "1"), ("a", "2"))),
    ),
    Event("nul\x00inside", b"\x00", 1, publisher="it's; DROP TABLE sessions --"),
]

clients = st.sampled_from(["ann", "bob", "ünï", "it's \x00"])
numbers = st.integers(1, 4)
tickets = st.integers(1, 3) | st.just(65_535)
sequences = st.integers(1, 8)
keys = st.sampled_from(["", "k", "k\x00", "ключ"])
times = st.none() | st.floats(0, 2**40)
expiries = st.just(inf) | st.floats(0, 2**40)
identities = st.builds(
    Identity,
    st.sampled_from(["a/+", "a/#"]),
    st.sampled_from(["mqtt", "glob"]),
    st.none() | st.sampled_from(["", "g"]),
)
events = st.sampled_from(EVENTS)


def event_of(sequence: int) -> Event:
    """A sequence number has one event."""
    return EVENTS[sequence % len(EVENTS)]


def wish_of(identity: Identity, quality: int, where: str, debounce: Debounce | None) -> Wish:
    return Wish(identity.pattern, identity.dialect, where, quality, group=identity.group, debounce=debounce)


wishes = st.builds(
    wish_of,
    identities,
    st.integers(0, 2),
    st.sampled_from(["", "x = 1"]),
    st.none() | st.builds(Debounce, st.floats(0, 9), times, st.sampled_from(["last", "list"])),
)

deliveries = st.builds(
    lambda client, number, sequence, *rest: c.DeliveryKept(
        client, number, sequence, event_of(sequence), *rest
    ),
    clients,
    numbers,
    sequences,
    st.integers(1, 2),
    st.booleans(),
    st.lists(st.integers(1, 268_435_455), max_size=3).map(tuple),
    st.just(0) | tickets,
    st.booleans(),
)

items = st.builds(
    c.ItemKept,
    keys,
    st.lists(sequences.map(lambda sequence: (event_of(sequence), sequence)), max_size=3).map(tuple),
    st.floats(0, 2**40),
    times,
    st.integers(0, 9),
    st.none() | st.builds(Defer, keys, st.floats(0, 9), times),
    clients,
    st.none() | identities,
)

changes: st.SearchStrategy[c.Change] = st.one_of(
    st.builds(c.SessionSaved, clients, st.none() | clients, expiries, times),
    st.builds(c.SessionDropped, clients),
    st.builds(c.SubscriptionSaved, clients, wishes),
    st.builds(c.SubscriptionDropped, clients, identities),
    # Several times: they are the most of what a broker writes.
    deliveries,
    deliveries,
    deliveries,
    st.builds(c.DeliverySent, clients, numbers, tickets),
    st.builds(c.DeliveryReceived, clients, numbers),
    st.builds(c.DeliveryDone, clients, numbers),
    st.builds(c.DeliveryDone, clients, numbers),
    st.builds(c.TicketNoted, clients, tickets),
    st.builds(c.TicketReleased, clients, tickets),
    st.builds(c.WillSet, clients, st.builds(Will, events, st.floats(0, 9), times)),
    st.builds(c.WillCleared, clients),
    st.builds(c.RetainedSet, events, sequences),
    st.builds(c.RetainedCleared, events.map(lambda event: event.topic)),
    items,
    st.builds(c.ItemDropped, keys),
)
