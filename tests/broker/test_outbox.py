"""The way out to one client: windows, queues, tickets."""

from __future__ import annotations

import pytest

from ramify.broker import Event, Limits, Release
from ramify.broker.changes import DeliveryDone, DeliveryKept, DeliveryReceived, DeliverySent
from ramify.broker.counters import Counters
from ramify.broker.effects import FanOut, Turn
from ramify.broker.outbox import MOST_TICKETS, Outbox


def outbox(*, queued: int = 100, window: int = 100, is_open: bool = True, **limits: bool) -> Outbox:
    box = Outbox("ann", Limits(queued=queued, **limits), Counters())
    if is_open:
        box.open(window, Turn(0.0))
    return box


def offer(box: Outbox, number: int, quality: int = 1, now: float = 0.0, expires: float | None = None) -> Turn:
    turn = Turn(now)
    event = Event("t", str(number).encode(), quality, expires_at=expires)
    delivery = box.offer(event, number, quality, turn)
    if delivery is not None:
        turn.deliver(event, number, delivery)
    return turn


def sent(turn: Turn) -> list[int]:
    return [int(effect.event.payload) for effect in turn.effects if isinstance(effect, FanOut)]


def tickets(turn: Turn) -> list[int]:
    return [effect.deliveries[0].ticket for effect in turn.effects if isinstance(effect, FanOut)]


def reopened(box: Outbox, window: int = 100) -> Turn:
    box.close(Turn(0.0))
    turn = Turn(0.0)
    box.open(window, turn)
    return turn


def test_quality_0_has_no_ticket_and_is_forgotten() -> None:
    box = outbox()
    turn = offer(box, 1, quality=0)
    assert tickets(turn) == [0]
    assert sent(reopened(box)) == []


def test_no_more_than_the_window_is_in_flight() -> None:
    # [MQTT-3.3.4-9]
    box = outbox(window=2)
    assert [sent(offer(box, number)) for number in (1, 2, 3, 4)] == [[1], [2], [], []]
    turn = Turn(0.0)
    box.acknowledge(1, turn)
    assert sent(turn) == [3]
    assert box.in_flight == 2


def test_quality_2_leaves_the_window_when_it_is_completed() -> None:
    box = outbox(window=1)
    offer(box, 1, quality=2)
    offer(box, 2, quality=2)
    turn = Turn(0.0)
    assert box.received(1, turn) == "success"
    assert turn.effects == [Release("ann", 1)]
    assert box.completed(1, turn) == "success"
    assert sent(turn) == [2]


def test_what_was_not_acknowledged_comes_again_first_and_in_order() -> None:
    # [MQTT-4.4.0-1] [MQTT-4.6.0-5] [MQTT-3.3.1-1]
    box = outbox(window=3)
    for number in range(1, 6):
        offer(box, number)
    box.acknowledge(2, Turn(0.0))  # so that 4 is sent as well
    turn = reopened(box)
    assert sent(turn) == [1, 3, 4, 5]
    assert tickets(turn)[:3] == [1, 3, 4]
    again = [effect.deliveries[0].is_again for effect in turn.effects if isinstance(effect, FanOut)]
    assert again == [True, True, True, False]


def test_coming_back_with_a_smaller_window_is_respected() -> None:
    box = outbox(window=3)
    for number in (1, 2, 3):
        offer(box, number)
    assert sent(reopened(box, window=1)) == [1]
    turn = Turn(0.0)
    box.acknowledge(1, turn)
    assert sent(turn) == [2]


def test_half_a_delivery_of_quality_2_is_only_released_again() -> None:
    # [MQTT-4.4.0-1] [MQTT-4.3.3-6]
    box = outbox()
    offer(box, 1, quality=2)
    box.received(1, Turn(0.0))
    turn = reopened(box)
    assert turn.effects == [Release("ann", 1)]
    assert box.completed(1, Turn(0.0)) == "success"


def test_a_late_acknowledgement_spares_the_repetition() -> None:
    box = outbox(window=3)
    for number in (1, 2, 3):
        offer(box, number)
    reopened(box, window=1)
    box.acknowledge(2, Turn(0.0))
    turn = Turn(0.0)
    box.acknowledge(1, turn)
    assert sent(turn) == [3]


@pytest.mark.parametrize(
    ("quality", "word", "expected"),
    [
        (1, "acknowledge", "success"),
        (1, "received", "no delivery has this ticket"),
        (1, "completed", "no delivery has this ticket"),
        (1, "refused", "success"),
        (2, "acknowledge", "no delivery has this ticket"),
        (2, "received", "success"),
        (2, "completed", "no delivery has this ticket"),
        (2, "refused", "success"),
    ],
)
def test_each_quality_is_acknowledged_in_its_own_words(quality: int, word: str, expected: str) -> None:
    box = outbox()
    offer(box, 1, quality)
    assert getattr(box, word)(1, Turn(0.0)) == expected
    assert getattr(box, word)(7, Turn(0.0)) == "no delivery has this ticket"


@pytest.mark.parametrize("quality", [1, 2])
def test_a_refused_delivery_makes_room_and_is_not_sent_again(quality: int) -> None:
    # [MQTT-4.4.0-2]
    box = outbox(window=1)
    offer(box, 1, quality)
    offer(box, 2, quality)
    turn = Turn(0.0)
    box.refused(1, turn)
    assert sent(turn) == [2]
    assert sent(reopened(box)) == [2]


def test_tickets_go_round_and_skip_those_in_flight() -> None:
    box = outbox(window=MOST_TICKETS)
    offer(box, 0)
    for number in range(1, MOST_TICKETS):
        box.acknowledge(tickets(offer(box, number))[0], Turn(0.0))
    assert tickets(offer(box, 1)) == [2]


def test_every_ticket_may_be_in_flight() -> None:
    box = outbox(window=MOST_TICKETS)
    taken = [tickets(offer(box, number))[0] for number in range(MOST_TICKETS)]
    assert sorted(taken) == list(range(1, MOST_TICKETS + 1))
    assert sent(offer(box, 1)) == []


# ── bounds ────────────────────────────────────────────────────────────────────────────────


def test_an_absent_client_is_owed_no_more_than_the_limit() -> None:
    box = outbox(queued=2, is_open=False)
    for number in (1, 2, 3):
        offer(box, number)
    turn = Turn(0.0)
    box.open(100, turn)
    assert sent(turn) == [1, 2]
    assert box._counters.dropped == 1


def test_quality_0_makes_room_for_better_ones() -> None:
    box = outbox(queued=2, is_open=False, keeps_quality_0=True)
    for number, quality in ((1, 0), (2, 0), (3, 1), (4, 1), (5, 0)):
        offer(box, number, quality)
    turn = Turn(0.0)
    box.open(100, turn)
    assert sent(turn) == [3, 4]
    assert box._counters.dropped == 3


def test_the_oldest_of_quality_0_goes_first() -> None:
    box = outbox(queued=2, is_open=False, keeps_quality_0=True)
    for number in (1, 2, 3):
        offer(box, number, 0)
    turn = Turn(0.0)
    box.open(100, turn)
    assert sent(turn) == [2, 3]


def test_quality_0_does_not_wait_for_an_absent_client_unless_asked() -> None:
    box = outbox(is_open=False)
    offer(box, 1, 0)
    turn = Turn(0.0)
    box.open(100, turn)
    assert sent(turn) == []


def test_what_expired_makes_room() -> None:
    box = outbox(queued=2, is_open=False)
    offer(box, 1, expires=5.0)
    offer(box, 2)
    offer(box, 3, now=6.0)
    turn = Turn(6.0)
    box.open(100, turn)
    assert sent(turn) == [2, 3]
    assert (box._counters.expired, box._counters.dropped) == (1, 0)


def test_a_present_client_may_be_owed_more_while_its_publishers_stop() -> None:
    box = outbox(queued=2, window=1)
    for number in range(1, 8):
        offer(box, number)
    assert box.is_full
    assert box.waiting == 4  # twice the limit and no more
    turn = Turn(0.0)
    box.close(turn)
    assert box.waiting == 2


def test_a_congested_connection_gets_nothing_until_it_can_write() -> None:
    box = outbox()
    box.is_congested = True
    for number, quality in ((1, 0), (2, 1), (3, 0)):
        assert offer(box, number, quality).effects == []
    box.is_congested = False
    turn = Turn(0.0)
    box.pump(turn)
    assert sorted(sent(turn)) == [1, 2, 3]


# ── expiry ────────────────────────────────────────────────────────────────────────────────


def test_what_expired_while_it_waited_is_not_sent() -> None:
    # [MQTT-3.3.2-5]
    box = outbox(is_open=False, keeps_quality_0=True)
    for number, quality, expires in ((1, 1, 5.0), (2, 1, 9.0), (3, 0, 5.0), (4, 2, None)):
        offer(box, number, quality, expires=expires)
    turn = Turn(5.0)
    box.open(100, turn)
    assert sent(turn) == [2, 4]


def test_what_was_sent_once_does_not_expire() -> None:
    # [MQTT-4.3.3-7]
    box = outbox()
    offer(box, 1, 2, expires=5.0)
    box.close(Turn(6.0))
    turn = Turn(6.0)
    box.open(100, turn)
    assert sent(turn) == [1]


# ── changes ───────────────────────────────────────────────────────────────────────────────


def test_only_a_durable_session_makes_changes() -> None:
    box = outbox()
    assert offer(box, 1).changes == []
    turn = Turn(0.0)
    box.acknowledge(1, turn)
    assert turn.changes == []


def test_the_life_of_a_delivery_is_told_in_changes() -> None:
    box = outbox(window=1)
    box.is_durable = True
    first, second = offer(box, 1, 2), offer(box, 2, 2)
    assert first.changes == [DeliveryKept("ann", 1, 1, Event("t", b"1", 2), 2, ticket=1)]
    assert second.changes == [DeliveryKept("ann", 2, 2, Event("t", b"2", 2), 2)]
    turn = Turn(0.0)
    box.received(1, turn)
    box.completed(1, turn)
    assert turn.changes == [
        DeliveryReceived("ann", 1),
        DeliveryDone("ann", 1),
        DeliverySent("ann", 2, 2),
    ]


def test_quality_0_makes_no_changes() -> None:
    box = outbox()
    box.is_durable = True
    assert offer(box, 1, 0).changes == []


def test_what_is_kept_can_be_restored() -> None:
    box = outbox(window=2)
    box.is_durable = True
    for number in range(1, 5):
        offer(box, number, 2)
    box.received(1, Turn(0.0))
    other = outbox(is_open=False)
    for kept in box.kept():
        other.restore(kept)
    turn = Turn(0.0)
    other.open(100, turn)
    assert turn.effects[0] == Release("ann", 1)
    assert sent(turn) == [2, 3, 4]
    assert tickets(turn)[0] == 2
    assert next(other.kept()).is_received
