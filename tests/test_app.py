"""The whole put together: a broker that is stopped and started again owes what it owed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Sequence

import pytest

from ramify.app import Application, serve
from ramify.broker.changes import Change, Row
from ramify.errors import InvalidEndpoint
from ramify.mqtt.packets import PubAck, Publish
from ramify.mqtt.properties import ConnectProperties
from ramify.net.listeners import Listener
from ramify.net.mqtt_settings import Settings
from tests.broker.store import DictStore
from tests.net.mqtt_served import PATIENCE, Talker, talker
from tests.net.test_mqtt_hub import LOG

LASTING = ConnectProperties(session_expiry=1000)


class MemoryStore(DictStore):
    """A store that takes a moment."""

    def load(self) -> Iterable[Row]:
        return self.rows()

    async def commit(self, changes: Sequence[Change]) -> None:
        await asyncio.sleep(0)
        self.apply(changes)

    async def close(self) -> None:
        await asyncio.sleep(0)


class BrokenStore(MemoryStore):
    """A store on a full disk."""

    async def commit(self, changes: Sequence[Change]) -> None:
        raise OSError("the disk is full")


def life(store: MemoryStore, play: Callable[[int], None]) -> None:
    """Run the application, let clients play in a thread, and end it by a signal."""

    async def run() -> None:
        ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        application = Application(Settings(), store, LOG)
        listeners = [Listener("mqtt", "127.0.0.1", 0)]
        running = asyncio.create_task(
            application.run(listeners, lambda bound: ready.set_result(bound[0].port))
        )
        try:
            await asyncio.wait((ready, running), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            assert ready.done(), "it did not start"
            await asyncio.to_thread(play, ready.result())
        finally:
            if not running.done():
                os.kill(os.getpid(), signal.SIGTERM)
            await running

    asyncio.run(run())


def test_what_was_owed_is_owed_after_a_restart() -> None:
    store = MemoryStore()

    def first(port: int) -> None:
        with talker(port, "ann", properties=LASTING) as ann:
            ann.subscribe("a/#", qos=1)
        with talker(port, "bob") as bob:
            bob.say(Publish("a/1", b"1", 1, retain=True, packet_id=1))
            assert bob.hear() == PubAck(1)

    def second(port: int) -> None:
        ann = Talker(port)
        assert ann.connect("ann", clean_start=False, properties=LASTING).session_present
        assert ann.hear_event() == ("a/1", b"1")
        ann.close()
        with talker(port, "carl") as carl:
            carl.subscribe("a/1")
            assert carl.hear_event() == ("a/1", b"1")

    life(store, first)
    life(store, second)
    assert not any(row for row in store.rows() if "$SYS" in str(row))


def test_a_store_that_cannot_be_written_ends_it_all() -> None:
    def play(port: int) -> None:
        client = Talker(port)
        with pytest.raises((AssertionError, ConnectionError)):
            client.connect("ann", properties=LASTING)
        client.close()

    with pytest.raises(OSError, match="the disk is full"):
        life(BrokenStore(), play)


def test_nobody_listens_where_others_could_come() -> None:
    with pytest.raises(InvalidEndpoint, match="no authentication"):
        serve([Listener("mqtt", "0.0.0.0", 0)], Settings(), on_ready=print, log=LOG)
