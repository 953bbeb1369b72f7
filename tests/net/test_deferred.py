"""The served queue over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import urlopen

import pytest
import zmq
from msgspec import Raw

from ramify.deferred import JournaledQueue, wire
from ramify.errors import BadMessage, Unanswered
from ramify.net.deferred_clients import ConsumerClient, ProducerClient
from tests.net.served import SECONDS, serving, start

_T = TypeVar("_T")


def push(key: str, data: Any = None, delay: float | None = 0.0) -> wire.Push:
    return wire.Push(key, Raw(wire.encode_data(data)), delay)


def run(work: Callable[[], Awaitable[_T]]) -> _T:
    async def within_time() -> _T:
        async with asyncio.timeout(SECONDS):
            return await work()

    return asyncio.run(within_time())


async def take(consumer: ConsumerClient, count: int, *, acknowledge: bool = True) -> list[wire.Delivery]:
    taken: list[wire.Delivery] = []
    async for items in consumer.batches():
        taken += items
        if acknowledge:
            await consumer.acknowledge(items)
        if len(taken) >= count:
            break
    return taken


def test_items_pass_from_producer_to_consumer_at_their_deadline() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer, ConsumerClient(served.outbound) as consumer:
            answer = await producer.push([push("late", 1, 0.2), push("soon", {"x": b"y"}, 0.1)])
            assert (answer.accepted, answer.refused) == (2, [])
            taken = await take(consumer, 2)
            assert all(item.deadline <= time.time() for item in taken)
            assert [(item.key, wire.decode_data(item.data)) for item in taken] == [
                ("soon", {"x": b"y"}),
                ("late", 1),
            ]
            await consumer.settle()
            assert (consumer.done, consumer.unknown) == (2, 0)

    with serving() as served:
        run(work)


def test_a_consumer_that_disconnects_makes_room_for_another() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer:
            async with ConsumerClient(served.outbound) as dying:
                await producer.push([push("k", "data")])
                (item,) = await take(dying, 1, acknowledge=False)
                # It dies without a word.
                await dying.close(linger=0)
            async with ConsumerClient(served.outbound) as other:
                (again,) = await take(other, 1)
                assert (again.ticket, again.key) == (item.ticket, "k")
                await other.settle()

    with serving("--consumer-timeout", "0.3") as served:
        run(work)


def test_back_pressure_reaches_the_producer_as_a_refusal() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer:
            answer = await producer.push([push(str(number), None, 60.0) for number in range(5)])
        assert answer.accepted == 3
        assert [(refusal.index, refusal.code) for refusal in answer.refused] == [(3, "full"), (4, "full")]

    with serving("--max-keys", "3") as served:
        run(work)


def test_bad_messages_are_answered_and_counted_and_the_server_goes_on() -> None:
    with serving("--metrics", "127.0.0.1:0") as served, zmq.Context() as context:
        for endpoint in (served.inbound, served.outbound):
            with context.socket(zmq.DEALER) as dealer:
                dealer.setsockopt(zmq.LINGER, 0)
                dealer.setsockopt(zmq.RCVTIMEO, int(SECONDS * 1000))
                dealer.connect(endpoint)
                dealer.send(b"\x93 rubbish")
                assert isinstance(wire.read_to_producer(dealer.recv()), wire.Failed)
                dealer.send_multipart([b"too", b"many", b"\x93 frames"])
                assert isinstance(wire.read_to_producer(dealer.recv()), wire.Failed)
        with urlopen(served.metrics, timeout=SECONDS) as page:
            figures = page.read().decode()
        assert "ramify_deferred_bad_total 4.0" in figures
        assert served.terminate() == (0, "")


def test_the_client_is_told_what_the_server_does_not_take() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer:
            with pytest.raises(BadMessage, match="at most"):
                await producer.push([push("k")] * 10_001)
            assert (await producer.push([push("k")])).accepted == 1

    with serving() as served:
        run(work)


def test_nobody_there_is_an_error_and_not_a_wait_for_ever() -> None:
    async def work() -> None:
        async with ProducerClient("tcp://127.0.0.1:9") as producer:
            with pytest.raises(Unanswered, match="no answer within"):
                await producer.push([push("k")], timeout=0.1)
            await producer.close(linger=0)

    run(work)


@pytest.mark.parametrize("kind", [zmq.REQ, zmq.DEALER])
def test_text_is_spoken_by_plain_sockets(kind: int) -> None:
    with (
        serving("--text") as served,
        zmq.Context() as context,
        context.socket(kind) as producer,
        context.socket(kind) as consumer,
    ):
        for socket, endpoint in ((producer, served.inbound), (consumer, served.outbound)):
            socket.setsockopt(zmq.LINGER, 0)
            socket.setsockopt(zmq.RCVTIMEO, int(SECONDS * 1000))
            socket.connect(endpoint)
        said = []
        for line in (b"a:b:20000:str|pay|load", b"a:x:str|", b"c:30000:n|7"):
            producer.send(line)
            said.append(producer.recv())
        assert said == [b"accepted", b"error:number:'x' is not a number of microseconds", b"accepted"]
        for delivery in (b"a:b:str|8:pay|load", b"c:n|1:7"):
            consumer.send(b"next")
            assert consumer.recv() == delivery
        consumer.send(b"bye")


def test_a_restart_keeps_every_deadline_and_what_was_in_flight(tmp_path: Path) -> None:
    async def before() -> list[wire.Delivery]:
        async with ProducerClient(served.inbound) as producer, ConsumerClient(served.outbound) as consumer:
            await producer.push([push("now", 1), push("later", 2, 60.0), push("soon", 3, 2.0)])
            return await take(consumer, 1, acknowledge=False)

    async def after() -> list[wire.Delivery]:
        async with ConsumerClient(served.outbound) as consumer:
            taken = await take(consumer, 2)
            await consumer.settle()
            return taken

    journal = ("--journal", str(tmp_path / "journal"))
    with serving(*journal) as served:
        (first,) = run(before)
        pushed_at = first.deadline
        served.kill()
    with serving(*journal) as served:
        again, soon = run(after)
        assert (again.key, again.ticket, soon.key) == ("now", first.ticket, "soon")
        assert soon.deadline == pytest.approx(pushed_at + 2.0, abs=1e-6)
        status, said = served.terminate()
        assert (status, "3 items in" in said) == (0, True)
    with serving(*journal) as served:
        status, said = served.terminate()
        assert "1 item in" in said


def test_sigterm_lets_consumers_finish_and_confirms_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer, ConsumerClient(served.outbound) as consumer:
            await producer.push([push("k", 1)])
            held = await take(consumer, 1, acknowledge=False)
            served.process.terminate()
            answer = await producer.push([push("refused", 1)])
            while not answer.refused:  # the signal takes a moment
                answer = await producer.push([push("refused", 1, 60.0)])
            assert answer.refused[0].code == "closing"
            await consumer.acknowledge(held)
            await consumer.settle()
            assert consumer.done == 1

    with serving("--journal", str(tmp_path / "journal"), "--grace", "20") as served:
        run(work)
        assert served.process.wait(SECONDS) == 0


def test_without_a_journal_the_end_says_what_is_lost() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer:
            await producer.push([push("k", 1, 60.0)])

    with serving() as served:
        run(work)
        status, said = served.terminate()
        assert (status, said) == (0, "ramify: 1 item lost: there was no --journal\n")


def test_a_taken_address_is_refused_in_words() -> None:
    with serving() as served, pytest.raises(AssertionError, match="cannot be bound: Address already in use"):
        start(inbound=served.inbound)


def test_a_disk_that_fails_ends_the_server_in_words_and_nothing_unwritten_is_accepted(tmp_path: Path) -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer:
            answer = await producer.push([push(f"k{number}", b"x" * 100, 60.0) for number in range(10)])
            assert answer.accepted == 10
            with pytest.raises(Unanswered):
                await producer.push([push(f"l{number}", b"x" * 10_000, 60.0) for number in range(10)], 1.0)
            await producer.close(linger=0)

    served = start("--journal", str(tmp_path / "journal"), file_size=20_000)
    try:
        run(work)
        _, said = served.process.communicate(timeout=SECONDS)
        assert served.process.returncode == 2
        assert "cannot be written: [Errno 27] File too large" in said
        assert "Traceback" not in said
    finally:
        served.process.kill()
    with JournaledQueue(tmp_path / "journal") as queue:
        assert {item.key for item in queue} >= {f"k{number}" for number in range(10)}


def test_with_a_tick_what_becomes_due_in_between_leaves_together() -> None:
    async def work() -> None:
        async with ProducerClient(served.inbound) as producer, ConsumerClient(served.outbound) as consumer:
            await producer.push([push("first")])
            await take(consumer, 1)
            await producer.push([push("soon", None, 0.0), push("later", None, 0.05)])
            async for items in consumer.batches():
                assert [item.key for item in items] == ["soon", "later"]
                await consumer.acknowledge(items)
                break
            await consumer.settle()

    with serving("--tick", "1") as served:
        run(work)
