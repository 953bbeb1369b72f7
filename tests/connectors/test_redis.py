"""Redis Streams, read and written by the source's own parts against a real Redis."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
import redis
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from ramify.connectors import redis_streams
from ramify.connectors.redis_source import RedisReader, RedisStreamReader
from ramify.connectors.sinks import append
from ramify.connectors.source_options import sink_options, source_options
from ramify.errors import InvalidEndpoint, Unanswered
from tests.services import free_port, redis_server


class Server:
    """A stream of its own for a test."""

    def __init__(self, url: str) -> None:
        self.url, self.name = url, f"events-{uuid4().hex}"
        self.redis: Any = redis.Redis.from_url(url)

    def add(self, count: int, first: int = 0, **more: Any) -> None:
        pipe = self.redis.pipeline(transaction=False)
        for at in range(first, first + count):
            pipe.xadd(self.name, {"topic": f"t/{at}", "fields": f'{{"n": {at}}}', **more})
        pipe.execute()

    def options(self, **more: str) -> dict[str, str]:
        return {"url": self.url, "stream": self.name, **more}

    def reader(self, **more: str) -> RedisStreamReader:
        return RedisStreamReader(source_options(self.options(**more)))


@pytest.fixture
def server(redis_url: str) -> Iterator[Server]:
    server = Server(redis_url)
    yield server
    server.redis.close()


def topics(reader: RedisStreamReader, start: dict[str, str], end: dict[str, str]) -> list[str | None]:
    """What tasks would read, each from what is sent to it."""
    sent = pickle.loads(pickle.dumps(reader))
    batches = [
        batch
        for part in reader.partitions(start, end)
        for batch in sent.read(pickle.loads(pickle.dumps(part)))
    ]
    return [topic for batch in batches for topic in batch.column("topic").to_pylist()]


def test_micro_batches_follow_each_other_without_gap_or_overlap(server: Server) -> None:
    server.add(2_500)
    reader = server.reader(max_rows="1000")
    start, found = reader.initialOffset(), []
    while (end := reader.latestOffset(start, reader.getDefaultReadLimit())) != start:
        part = topics(reader, start, end)
        assert len(part) <= 1_000
        found += part
        start = end
    assert found == [f"t/{at}" for at in range(2_500)]
    reader.stop()


def test_the_same_offsets_give_the_same_rows_after_a_restart(server: Server) -> None:
    server.add(1_500)
    reader = server.reader()
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadMaxRows(1_200))
    first = topics(reader, start, end)
    server.add(500, first=1_500)
    again = server.reader(partitions="3")
    assert topics(again, start, end) == first == [f"t/{at}" for at in range(1_200)]
    assert topics(again, end, again.latestOffset(end, ReadAllAvailable())) == [
        f"t/{at}" for at in range(1_200, 2_000)
    ]
    reader.stop()
    again.stop()


def test_ranges_are_shared_out_among_tasks(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.connectors.redis_source.FEWEST_ROWS", 100)
    server.add(4_000)
    reader = server.reader(partitions="4")
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    assert len(reader.partitions(start, end)) == 4
    assert topics(reader, start, end) == [f"t/{at}" for at in range(4_000)]
    reader.stop()


def test_available_now_ends_with_what_was_there(server: Server) -> None:
    server.add(10)
    reader = server.reader()
    reader.prepareForTriggerAvailableNow()
    server.add(10, first=10)
    end = reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())
    assert len(topics(reader, reader.initialOffset(), end)) == 10
    assert reader.latestOffset(end, reader.getDefaultReadLimit()) == end
    reader.stop()


def test_several_streams_have_an_offset_each(server: Server) -> None:
    other = Server(server.url)
    server.add(3)
    other.add(2)
    options = server.options(stream=f"{server.name}, {other.name}")
    reader = RedisStreamReader(source_options(options))
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    assert set(end) == {server.name, other.name}
    assert sorted(map(str, topics(reader, start, end))) == ["t/0", "t/0", "t/1", "t/1", "t/2"]
    reader.stop()
    other.redis.close()


def test_a_stream_can_be_read_from_its_end_on(server: Server) -> None:
    server.add(3)
    reader = server.reader(start="latest")
    start = reader.initialOffset()
    server.add(1, first=3)
    assert topics(reader, start, reader.latestOffset(start, reader.getDefaultReadLimit())) == ["t/3"]
    reader.stop()


def test_bad_entries_become_rows_among_the_good_ones(server: Server) -> None:
    server.add(1)
    server.redis.xadd(server.name, {"x": "y"})
    server.redis.xadd(server.name, {b"topic": b"\xff"})
    server.redis.xadd(server.name, {"topic": "p", "payload": b"\x00\xff"})
    server.add(1, first=1)
    read = RedisReader(source_options(server.options()))
    rows = [row for part in read.partitions() for batch in read.read(part) for row in batch.to_pylist()]
    assert [row["topic"] for row in rows] == ["t/0", None, None, "p", "t/1"]
    assert rows[3]["payload"] == b"\x00\xff"
    assert "not UTF-8" in rows[2]["fields"]
    assert len({row["event_id"] for row in rows}) == 5


def test_a_server_without_scripts_is_read_plainly(server: Server) -> None:
    server.add(450)
    server.redis.execute_command("ACL", "SETUSER", "plain", "on", ">secret", "~*", "+@all", "-@scripting")
    url = server.url.replace("redis://", "redis://plain:secret@")
    read = RedisReader(source_options(server.options(url=url)))
    rows = [topic for part in read.partitions() for batch in read.read(part) for topic in batch["topic"]]
    assert [str(topic) for topic in rows] == [f"t/{at}" for at in range(450)]


def test_long_entries_are_taken_in_small_steps(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_streams, "STEP_BYTES", 10_000)
    server.add(500, payload="x" * 1_000)
    streams = redis_streams.RedisStreams(source_options(server.options()).address)
    steps = list(streams.stretches(server.name, "0-0", "+", None))
    assert len(steps) == 5
    assert sum(step.count for step in steps) == 500
    assert [len(part) for part in streams.entries(server.name, "0-0", steps[-1].last)] == [100] * 5
    streams.close()


def test_rows_are_appended_as_they_would_be_read(server: Server) -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "topic": ["a", "b", "c"],
            "fields": ['{"n": 1}', None, None],
            "payload": [None, b"\xff", None],
            "subscriber": ["ann", "bob", None],
            "delivery_id": ["1", "2", "3"],
        }
    )
    options = sink_options(server.options(stream=server.name + "{subscriber}"), batch.schema.names)
    rows, left_out = append(options, iter([batch]))
    assert rows == 2
    assert sum(left_out.values()) == 1
    ((_, said),) = server.redis.xrange(server.name + "ann")
    assert said == {
        b"topic": b"a",
        b"fields": b'{"n": 1}',
        b"subscriber": b"ann",
        b"delivery_id": b"1",
    }
    reader = RedisReader(source_options(server.options(stream=server.name + "bob")))
    ((row,),) = [batch.to_pylist() for part in reader.partitions() for batch in reader.read(part)]
    assert (row["topic"], row["payload"]) == ("b", b"\xff")


def test_a_stream_can_be_kept_short(server: Server) -> None:
    batch = pa.RecordBatch.from_pydict({"topic": ["a"] * 5_000})
    append(sink_options(server.options(maxlen="1000"), ["topic"]), iter([batch]))
    assert 1_000 <= server.redis.xlen(server.name) < 2_000


def test_nobody_at_the_address_is_told_after_a_few_tries() -> None:
    options = source_options({"url": f"redis://ann:secret@127.0.0.1:{free_port()}", "stream": "s"})
    with pytest.raises(Unanswered, match=r"redis://127\.0\.0\.1:\d+/0: Redis does not answer") as failure:
        RedisStreamReader(options).initialOffset() and RedisReader(options).partitions()
    assert "secret" not in str(failure.value)


def test_what_redis_refuses_names_the_place(server: Server) -> None:
    server.redis.set(server.name, "no stream")
    with pytest.raises(InvalidEndpoint, match=r"events-.*WRONGTYPE"):
        server.reader().latestOffset({}, ReadMaxRows(5))
    batch = pa.RecordBatch.from_pydict({"topic": ["a"]})
    with pytest.raises(InvalidEndpoint, match="WRONGTYPE"):
        append(sink_options(server.options(), ["topic"]), iter([batch]))


def test_a_wrong_password_is_told_and_not_shown(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--requirepass", "right") as url:
        options = source_options({"url": url.replace("//", "//:wrong@"), "stream": "s"}, {})
        with pytest.raises(InvalidEndpoint, match="not let in") as refusal:
            RedisReader(options).partitions()
        assert "wrong@" not in str(refusal.value)
        options = source_options({"url": url, "stream": "s"}, {"RAMIFY_REDIS_PASSWORD": "right"})
        assert RedisReader(options).partitions() == []
