"""The job `stream`: from every source to every sink that can be had here, over restarts and changes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from pyspark.sql import SparkSession

from ramify import jobs
from ramify.errors import CallerError, InvalidEndpoint, InvalidFile, JobFailed, JournalInUse, NotInstalled
from ramify.jobs.checkpoints import place_of_checkpoint
from ramify.jobs.description import Coalesce, Pipeline, Sink, Source, Stream
from ramify.jobs.places import parse_sink, parse_source
from ramify.jobs.stream_checks import check_stream
from tests.services import free_port

PATIENCE = 120.0
ANN = {"id": "a", "subscriber": "ann", "pattern": "t/+"}
BOB = {"id": "b", "subscriber": "bob", "pattern": "t/#", "where": "n >= 5"}


class Room:
    """A folder with events, subscriptions, and what a stream makes of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events = folder / "events"
        self.events.mkdir()
        self.subscribe(ANN, BOB)

    def subscribe(self, *rows: dict[str, str]) -> None:
        unfinished = self.folder / "unfinished"
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows))
        unfinished.replace(self.folder / "subscriptions.jsonl")

    def add(self, name: str, first: int, count: int, *broken: str) -> None:
        """Put a file of events into the folder, whole."""
        unfinished = self.folder / name
        lines = [json.dumps(event(at)) for at in range(first, first + count)]
        unfinished.write_text("\n".join([*lines, *broken]) + "\n")
        unfinished.replace(self.events / name)

    def described(self, **more: Any) -> Pipeline:
        given: dict[str, Any] = {
            "events": Source(path=str(self.events), format="jsonl"),
            "subscriptions": Source(path=str(self.folder / "subscriptions.jsonl")),
            "sinks": (Sink(path=str(self.folder / "out.parquet")),),
            "stream": Stream(checkpoint="", until_caught_up=True),
        }
        return Pipeline(**given | more)


def event(at: int) -> dict[str, Any]:
    return {
        "event_id": str(at),
        "topic": f"t/{at % 3}",
        "ts": f"2026-01-01T00:00:{at % 60:02}Z",
        "fields": {"n": at},
    }


def expected(first: int, count: int) -> list[tuple[str, str]]:
    """Who gets what, by the two subscriptions above."""
    numbers = range(first, first + count)
    return sorted([(str(at), "a") for at in numbers] + [(str(at), "b") for at in numbers if at >= 5])


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def found(spark: SparkSession, path: Path, format: str = "parquet") -> list[tuple[str, str]]:
    rows = spark.read.format(format).load(str(path)).collect()
    return sorted((row.event_id, row.subscription_id) for row in rows)


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_files_are_routed_once_each_over_restarts(spark: SparkSession, room: Room) -> None:
    room.add("1.jsonl", 0, 10, "{oops", '{"topic": null}')
    described = room.described(rejects=Sink(path=str(room.folder / "rejects.jsonl")))
    batches = jobs.stream(spark, described).wait()
    (deliveries,) = (batch for batch in batches if batch.query == "deliveries")
    assert (deliveries.events, deliveries.deliveries, deliveries.rejects) == (12, 15, 2)
    assert sum(batch.rejects for batch in batches if batch.query == "rejects") == 2
    # A field that no earlier file had is content all the same, and another column is not asked about.
    room.add("2.jsonl", 10, 4, json.dumps(event(14) | {"fields": {"m": 1}, "colour": "red"}))
    batches = jobs.stream(spark, described).wait()
    assert [batch.events for batch in batches if batch.query == "deliveries"] == [5]
    assert found(spark, room.folder / "out.parquet") == sorted([*expected(0, 14), ("14", "a")])
    reasons = {row.reason for row in spark.read.json(str(room.folder / "rejects.jsonl")).collect()}
    assert len(reasons) == 2


def test_changed_subscriptions_are_taken_up_while_it_runs(spark: SparkSession, room: Room) -> None:
    room.add("1.jsonl", 0, 3)
    described = room.described(stream=Stream(checkpoint="", trigger="100ms", refresh="200ms"))
    running = jobs.stream(spark, described)
    seen: list[jobs.MicroBatch] = []
    told: list[Any] = []

    def events() -> int:
        told.append(running.look(time.monotonic()))
        running.check()
        seen.extend(running.batches())
        return sum(batch.events for batch in seen)

    wait_for(lambda: events() == 3, "the first file")
    (room.folder / "subscriptions.jsonl").unlink()
    wait_for(lambda: events() == 3 and told[-1] is not None, "the vanished subscriptions")
    assert "nothing at this path" in told[-1].failure
    room.subscribe(
        {"id": "c", "subscriber": "cid", "pattern": "t/1"}, {"id": "d", "subscriber": "x", "pattern": "#/a"}
    )
    wait_for(lambda: events() == 3 and told[-1] is not None and told[-1].failure is None, "the new ones")
    assert (told[-1].count, told[-1].bad) == (1, 1)
    room.add("2.jsonl", 3, 6)
    wait_for(lambda: events() == 9, "the second file")
    running.stop()
    assert not running.is_active
    assert found(spark, room.folder / "out.parquet") == sorted([*expected(0, 3), ("4", "c"), ("7", "c")])


def test_redis_to_mqtt_to_files(spark: SparkSession, room: Room, redis_url: str, mqtt_url: str) -> None:
    name = f"job-{uuid4().hex}"
    client: Any = redis.Redis.from_url(redis_url)
    received = room.described(
        events=parse_source(f"{mqtt_url}?topic={name}/#&settle=0.5"),
        subscriptions=Source(path=str(room.folder / "all.csv")),
        sinks=(Sink(path=str(room.folder / "received.jsonl")),),
    )
    (room.folder / "all.csv").write_text("id,subscriber,pattern\n1,all,#\n")
    jobs.stream(spark, received).wait()  # subscribes, and finds nothing
    for at in range(10):
        said = event(at)
        client.xadd(name, {**said, "fields": json.dumps(said["fields"])})
    sent = room.described(
        events=parse_source(f"{redis_url}?stream={name}"),
        sinks=(parse_sink(f"{mqtt_url}?topic={name}/{{subscriber}}/{{topic}}"),),
        stream=Stream(checkpoint=str(room.folder / "sent"), until_caught_up=True),
    )
    assert sum(batch.deliveries for batch in jobs.stream(spark, sent).wait()) == 15
    jobs.stream(spark, received).wait()
    rows = spark.read.json(str(room.folder / "received.jsonl")).collect()
    to_ann = sorted(row.event_id for row in rows if row.topic.startswith(f"{name}/ann/t/"))
    assert (len(rows), to_ann) == (15, [str(at) for at in range(10)])
    assert rows[0].fields.n is not None
    client.close()


def test_deliveries_are_coalesced_on_the_way(spark: SparkSession, room: Room) -> None:
    room.add("1.jsonl", 0, 10)
    room.add("2.jsonl", 45, 1)
    policy = Coalesce(key=("subscriber",), quiet="5s")
    stream = Stream(checkpoint="", until_caught_up=True, watermark="1s")
    # The second file moves the watermark beyond what the first left waiting.
    source = Source(path=str(room.events), format="jsonl", options={"maxFilesPerTrigger": "1"})
    described = room.described(events=source, coalesce=policy, stream=stream)
    jobs.stream(spark, described).wait()
    rows = spark.read.parquet(str(room.folder / "out.parquet")).collect()
    assert sorted((row.subscriber, row.event_id, row.merged) for row in rows) == [
        ("ann", "9", 10),
        ("bob", "9", 5),
    ]


def test_parquet_and_csv_are_read_and_csv_and_json_written(spark: SparkSession, room: Room) -> None:
    table = spark.createDataFrame(
        [(str(at), f"t/{at}", json.dumps({"n": at})) for at in range(8)],
        "event_id string, topic string, fields string",
    )
    for format, out in (("parquet", "csv"), ("csv", "jsonl")):
        folder = room.folder / format
        table.coalesce(1).write.format(format).options(header="true", escape='"').save(str(folder))
        described = room.described(
            events=Source(path=str(folder)),
            sinks=(Sink(path=str(room.folder / f"from-{format}"), format=out),),  # type: ignore[arg-type]
        )
        jobs.stream(spark, described).wait()
    rows = spark.read.options(header="true", escape='"').csv(str(room.folder / "from-parquet")).collect()
    assert sorted((row.event_id, row.subscription_id) for row in rows) == expected(0, 8)
    assert found(spark, room.folder / "from-csv", "json") == expected(0, 8)


def test_a_failing_server_ends_the_stream_with_its_name(spark: SparkSession, room: Room) -> None:
    room.add("1.jsonl", 0, 3)
    place = f"redis://ann:geheim@127.0.0.1:{free_port()}/0"
    described = room.described(
        sinks=(parse_sink(f"{place}?stream=x"),),
        stream=Stream(checkpoint=str(room.folder / "c"), until_caught_up=True),
    )
    with pytest.raises(
        JobFailed, match=r"^redis://127\.0\.0\.1:\d+/0: Redis does not answer after 5 retries"
    ):
        jobs.stream(spark, described).wait()
    kept = "".join(
        file.read_text(errors="replace") for file in (room.folder / "c").rglob("*") if file.is_file()
    )
    assert "geheim" not in kept


def test_kafka_names_the_package_that_is_missing(spark: SparkSession, room: Room) -> None:
    room.add("1.jsonl", 0, 1)
    for described in (
        room.described(events=parse_source("kafka://127.0.0.1:9092?topic=t")),
        room.described(
            sinks=(parse_sink("kafka://127.0.0.1:9092?topic=t"),),
            stream=Stream(checkpoint=str(room.folder / "k")),
        ),
    ):
        with pytest.raises(NotInstalled, match=r"spark-sql-kafka-0-10_2\.13"):
            jobs.stream(spark, described)


# ── refused ───────────────────────────────────────────────────────────────────────────────


def test_an_empty_folder_needs_to_be_told_its_columns(spark: SparkSession, room: Room) -> None:
    with pytest.raises(InvalidFile, match="is empty, so nothing tells its columns"):
        jobs.stream(spark, room.described())
    told = Source(path=str(room.events), format="jsonl", schema="topic string, event_id string")
    running = jobs.stream(spark, room.described(events=told))
    with pytest.raises(JournalInUse, match="another stream is using this checkpoint"):
        jobs.stream(spark, room.described(events=told))
    running.stop()


def test_a_checkpoint_of_another_stream_is_refused(spark: SparkSession, room: Room) -> None:
    from ramify.jobs.checkpoints import Checkpoint

    place = str(room.folder / "checkpoint")
    Checkpoint(place, room.described()).close()
    Checkpoint(place, room.described()).close()
    with pytest.raises(InvalidFile, match=r"of another stream: its sinks is .*out\.parquet"):
        Checkpoint(place, room.described(sinks=(Sink(path="elsewhere"),)))


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"stream": None}, CallerError, "is a batch"),
        ({"sinks": ()}, CallerError, "somewhere to write"),
        ({"stream": Stream(checkpoint="", trigger="often")}, CallerError, "'often' is not a duration"),
        ({"stream": Stream(checkpoint="", refresh="soon")}, CallerError, "'soon' is not a duration"),
        ({"events": Source(path="nowhere/at/all")}, InvalidFile, "nothing at this path"),
        ({"events": parse_source("redis://h?strem=x")}, CallerError, "needs the option 'stream'"),
        ({"sinks": (parse_sink("redis://ann:geheim@/?stream=x"),)}, InvalidEndpoint, "names no host"),
        ({"sinks": (Sink(format="mqtt", options={"url": "redis://h"}),)}, CallerError, "no address of mqtt"),
    ],
)
def test_what_cannot_be_is_refused_before_spark_starts(
    room: Room, more: dict[str, Any], error: type[Exception], said: str
) -> None:
    room.add("1.jsonl", 0, 1)
    with pytest.raises(error, match=said) as refusal:
        check_stream(room.described(**more))
    assert "geheim" not in str(refusal.value)


def test_a_stream_does_not_write_where_it_reads(room: Room) -> None:
    room.add("1.jsonl", 0, 1)
    with pytest.raises(InvalidFile, match="where events are read from"):
        check_stream(room.described(sinks=(Sink(path=str(room.events / "out")),)))


def test_a_checkpoint_lies_beside_the_files_that_are_written(room: Room) -> None:
    assert place_of_checkpoint(room.described(sinks=(Sink(path="out/"),))) == "out.checkpoint"
    with pytest.raises(CallerError, match="needs a checkpoint"):
        place_of_checkpoint(room.described(sinks=(parse_sink("redis://h?stream=x"),)))
