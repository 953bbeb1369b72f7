"""The format `ramify` in a real Spark, with a real Redis and a real Mosquitto."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ramify import connectors, pipeline
from ramify.connectors.addresses import parse_address
from ramify.connectors.mqtt_sink import Publisher
from ramify.jobs.streaming import failure_of
from tests.services import free_port


@pytest.fixture(scope="module", autouse=True)
def _registered(spark: SparkSession) -> None:
    connectors.register(spark)
    connectors.register(spark)


@pytest.fixture
def name() -> str:
    return f"events-{uuid4().hex}"


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def add(client: Any, name: str, count: int, first: int = 0) -> None:
    pipe = client.pipeline(transaction=False)
    for at in range(first, first + count):
        pipe.xadd(name, {"topic": f"t/{at % 5}", "fields": f'{{"n": {at}}}', "event_id": str(at)})
    pipe.execute()


def written(client: Any, name: str) -> list[dict[str, str]]:
    found: Any = client.xrange(name)
    return [{key.decode(): value.decode() for key, value in said.items()} for _, said in found]


def run(table: DataFrame, checkpoint: Path, **options: str) -> None:
    """Write a stream until it has caught up."""
    writer = table.writeStream.format("ramify").options(**options)
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()


def test_a_redis_stream_is_a_table_of_events(
    spark: SparkSession, redis_url: str, client: Any, name: str
) -> None:
    add(client, name, 30)
    client.xadd(name, {"no": "topic"})
    events = spark.read.format("ramify").options(url=redis_url, stream=name).load()
    subscriptions = spark.createDataFrame(
        [("1", "ann", "t/+", "n >= 28")],
        "subscription_id string, subscriber string, pattern string, where string",
    )
    routed = pipeline.route_with_rejects(events, subscriptions)
    assert sorted(row.event_id for row in routed.deliveries.collect()) == ["28", "29"]
    assert [row.reason for row in routed.rejects.collect()] == ["the topic is null"]


def test_a_stream_of_redis_goes_on_where_it_ended(
    spark: SparkSession, redis_url: str, client: Any, name: str, tmp_path: Path
) -> None:
    client.execute_command("ACL", "SETUSER", "ann", "on", ">geheim", "~*", "+@all")
    url = redis_url.replace("//", "//ann:geheim@")
    add(client, name, 250)
    events = spark.readStream.format("ramify").options(url=url, stream=name, max_rows="100").load()
    plan = events._jdf.queryExecution().toString()
    run(events, tmp_path, url=url, stream=f"{name}-out")
    add(client, name, 50, first=250)
    run(events, tmp_path, url=url, stream=f"{name}-out")
    assert sorted(int(row["event_id"]) for row in written(client, f"{name}-out")) == list(range(300))
    assert len(list((tmp_path / "commits").glob("[0-9]*"))) == 4
    kept = "".join(file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file())
    assert name in kept
    assert "geheim" not in kept + plan


def test_deliveries_of_a_replayed_batch_have_the_same_ids(
    spark: SparkSession, redis_url: str, client: Any, name: str, tmp_path: Path
) -> None:
    add(client, name, 20)
    events = spark.readStream.format("ramify").options(url=redis_url, stream=name).load()
    subscriptions = spark.createDataFrame(
        [("1", "ann", "t/#"), ("2", "bob", "t/1")],
        "subscription_id string, subscriber string, pattern string",
    )
    deliveries = pipeline.with_delivery_id(pipeline.route(events, subscriptions))
    run(deliveries, tmp_path, url=redis_url, stream=f"{name}-out")
    once = [row["delivery_id"] for row in written(client, f"{name}-out")]
    assert len(once) == len(set(once)) == 24
    # As after a crash between the last write and the commit.
    for commit in (tmp_path / "commits").iterdir():
        commit.unlink()
    run(deliveries, tmp_path, url=redis_url, stream=f"{name}-out")
    twice = [row["delivery_id"] for row in written(client, f"{name}-out")]
    assert sorted(twice) == sorted(once * 2)


def test_events_without_ids_are_told_apart_by_all_they_have(spark: SparkSession) -> None:
    columns = "event_id string, topic string, n int, subscription_id string, subscriber string"
    rows = [
        (None, "a", 1, "s", "x"),
        (None, "a", 2, "s", "x"),
        ("1", "a", 1, "s", "x"),
        ("1", "b", 9, "s", "x"),
    ]
    made = pipeline.with_delivery_id(spark.createDataFrame(rows, columns)).collect()
    ids = [row.delivery_id for row in made]
    assert len(set(ids)) == 3
    assert ids[2] == ids[3]
    assert {len(each) for each in ids} == {32}


def test_mqtt_goes_through_a_stream_and_comes_out_once_each(
    spark: SparkSession, mqtt_url: str, redis_url: str, client: Any, name: str, tmp_path: Path
) -> None:
    options = {"url": mqtt_url, "topic": f"{name}/in/#", "log": str(tmp_path / "log"), "settle": "0.5"}
    events = spark.readStream.format("ramify").options(**options).load()
    run(events, tmp_path / "checkpoint", url=redis_url, stream=name)  # subscribes, and finds nothing
    publisher = Publisher(parse_address(mqtt_url, {}))
    for at in range(50):
        publisher.send(f"{name}/in/{at}", b'{"n": 1}', [], 1)
    publisher.settle()
    publisher.close()
    run(events, tmp_path / "checkpoint", url=redis_url, stream=name)
    run(events, tmp_path / "checkpoint", url=redis_url, stream=name)
    found = written(client, name)
    assert [row["topic"] for row in found] == [f"{name}/in/{at}" for at in range(50)]
    assert len({row["event_id"] for row in found}) == 50


def test_a_table_is_published(
    spark: SparkSession, mqtt_url: str, redis_url: str, client: Any, name: str, tmp_path: Path
) -> None:
    options = {"url": mqtt_url, "topic": f"{name}/#", "log": str(tmp_path / "log"), "settle": "0.5"}
    events = spark.readStream.format("ramify").options(**options).load()
    run(events, tmp_path / "checkpoint", url=redis_url, stream=name)
    table = spark.createDataFrame([("a", "ann"), ("b", "bob")], "topic string, subscriber string")
    target = f"{name}/{{subscriber}}/{{topic}}"
    table.write.format("ramify").options(url=mqtt_url, topic=target).mode("append").save()
    run(events, tmp_path / "checkpoint", url=redis_url, stream=name)
    assert sorted(row["topic"] for row in written(client, name)) == [f"{name}/ann/a", f"{name}/bob/b"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "mqtt://127.0.0.1", "topic": "a"}, "keeps no history; read it with readStream"),
        ({"url": "redis://ann:geheim@127.0.0.1"}, "needs the option 'stream'"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(
    spark: SparkSession, options: dict[str, str], said: str
) -> None:
    with pytest.raises(PySparkException) as failure:
        spark.read.format("ramify").options(**options).load().collect()
    assert said in str(failure_of(failure.value, "events"))
    assert "geheim" not in str(failure.value)


def test_a_stream_whose_server_is_not_there_says_where(spark: SparkSession, tmp_path: Path) -> None:
    url = f"redis://ann:geheim@127.0.0.1:{free_port()}"
    events = spark.readStream.format("ramify").options(url=url, stream="s").load()
    with pytest.raises(PySparkException) as failure:
        run(events, tmp_path, url=url, stream="s")
    assert str(failure_of(failure.value, "events")).startswith(
        f"redis://127.0.0.1:{url.rpartition(':')[2]}/0: Redis"
    )
    assert "geheim" not in str(failure.value)
