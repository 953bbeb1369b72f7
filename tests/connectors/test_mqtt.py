"""MQTT, received and published by the source's own parts through a real Mosquitto."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.connectors import mqtt_log, mqtt_recorder, mqtt_source
from ramify.connectors.addresses import parse_address
from ramify.connectors.entries import Message
from ramify.connectors.mqtt_log import MessageLog, framed, unframed
from ramify.connectors.mqtt_recorder import Recorder
from ramify.connectors.mqtt_sink import Publisher, publish
from ramify.connectors.mqtt_source import MqttStreamReader
from ramify.connectors.source_options import sink_options, source_options
from ramify.errors import InvalidEndpoint, InvalidFile, JournalInUse, Unanswered
from tests.services import free_port, mosquitto

PATIENCE = 30.0


def until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def made(count: int, first: int = 0) -> list[Message]:
    return [Message(b"t/%d" % at, b"x" * at, at, []) for at in range(first, first + count)]


# ── the log ───────────────────────────────────────────────────────────────────────────────


def test_a_log_gives_back_what_it_was_given_after_a_restart(tmp_path: Path) -> None:
    log = MessageLog(tmp_path)
    log.append(made(10))
    client = log.client
    log.close()
    log = MessageLog(tmp_path)
    log.append(made(5, first=10))
    assert (log.begin, log.end, log.client) == (0, 15, client)
    assert [unframed(frame) for frame in log.frames(3, 12)] == made(9, first=3)
    log.close()


def test_what_was_committed_is_removed_and_positions_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_log, "SEGMENT_BYTES", 500)
    log = MessageLog(tmp_path)
    for at in range(100):
        log.append(made(1, first=at))
    log.trim(60)
    assert 40 < log.begin <= 60
    assert [unframed(frame) for frame in log.frames(60, 100)] == made(40, first=60)
    log.trim(100)
    log.close()
    log = MessageLog(tmp_path)
    assert (log.begin, log.end) == (100, 100)
    assert len(list(tmp_path.glob("*.log"))) == 1
    log.close()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.binary(max_size=30))
def test_a_torn_tail_is_cut_off(tmp_path_factory: pytest.TempPathFactory, lost: int, noise: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = MessageLog(folder)
    log.append(made(10, first=10))
    log.close()
    (path,) = (file for file in folder.glob("*.log") if file.stat().st_size)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - lost)] + noise)
    log = MessageLog(folder)
    kept = [unframed(frame) for frame in log.frames(0, log.end)]
    assert kept == made(10, first=10)[: log.end]
    assert log.end < 10
    log.append(made(1))
    log.close()
    log = MessageLog(folder)
    assert [unframed(frame) for frame in log.frames(0, log.end)] == [*kept, *made(1)]
    log.close()


def test_damage_before_later_messages_is_told_and_not_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_log, "SEGMENT_BYTES", 100)
    log = MessageLog(tmp_path)
    for at in range(20):
        log.append(made(1, first=at))
    log.close()
    first = min(tmp_path.glob("*.log"))
    content = bytearray(first.read_bytes())
    content[10] ^= 1
    first.write_bytes(content)
    with pytest.raises(InvalidFile, match="damaged at byte 0"):
        MessageLog(tmp_path)


def test_a_log_is_open_once(tmp_path: Path) -> None:
    log = MessageLog(tmp_path)
    with pytest.raises(JournalInUse):
        MessageLog(tmp_path)
    log.close()
    MessageLog(tmp_path).close()


def test_a_micro_batch_is_bounded_by_rows_and_by_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_log, "SEGMENT_BYTES", 1_000)
    log = MessageLog(tmp_path)
    for at in range(0, 100, 10):
        log.append(made(10, first=at))
    assert log.bounded(5, 20, 1 << 20) == 25
    assert log.bounded(90, 20, 1 << 20) == 100
    assert log.bounded(0, None, 1 << 20) == 100
    size = sum(len(framed(message)) for message in made(30))
    assert log.bounded(0, None, size) == 30
    log.close()


# ── receiving ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def publisher(mqtt_url: str) -> Iterator[Publisher]:
    publisher = Publisher(parse_address(mqtt_url, {}))
    yield publisher
    publisher.close()


def reader_of(url: str, folder: Path, pattern: str, **more: str) -> MqttStreamReader:
    options = {"url": url, "topic": pattern, "log": str(folder), **more}
    return MqttStreamReader(source_options(options))


def read(reader: MqttStreamReader, start: Any, end: Any) -> list[dict[str, Any]]:
    """What tasks would read, each from what is sent to it."""
    sent = pickle.loads(pickle.dumps(reader))
    parts = [pickle.loads(pickle.dumps(part)) for part in reader.partitions(start, end)]
    return [row for part in parts for batch in sent.read(part) for row in batch.to_pylist()]


def taken(reader: MqttStreamReader, start: dict[str, int], count: int) -> dict[str, int]:
    """The offset once so many have come."""
    end = start
    deadline = time.monotonic() + PATIENCE
    while end["position"] < start["position"] + count:
        assert time.monotonic() < deadline, end
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
    return end


def test_what_is_published_while_we_are_away_comes_when_we_are_back(
    mqtt_url: str, publisher: Publisher, tmp_path: Path
) -> None:
    name = uuid4().hex
    reader = reader_of(mqtt_url, tmp_path, f"{name}/#")
    start = reader.initialOffset()
    for at in range(100):
        publisher.send(f"{name}/{at}", b'{"n": %d}' % at, [("event_id", str(at))], 1)
    publisher.settle()
    middle = taken(reader, start, 100)
    rows = read(reader, start, middle)
    assert sorted(int(row["event_id"]) for row in rows) == list(range(100))
    reader.stop()
    for at in range(100, 150):
        publisher.send(f"{name}/{at}", b"bytes", [], 1)
    publisher.settle()
    again = reader_of(mqtt_url, tmp_path, f"{name}/#")
    assert read(again, start, middle) == rows
    again.prepareForTriggerAvailableNow()
    end = taken(again, middle, 50)
    late = read(again, middle, end)
    assert [row["topic"] for row in late] == [f"{name}/{at}" for at in range(100, 150)]
    assert {row["payload"] for row in late} == {b"bytes"}
    assert len({row["event_id"] for row in late}) == 50
    again.commit(end)
    assert again.latestOffset(end, again.getDefaultReadLimit()) == end
    again.stop()


CRASHING = """
import os, sys
from pathlib import Path
from ramify.connectors import mqtt_log
from ramify.connectors.addresses import parse_address
from ramify.connectors.mqtt_recorder import Recorder
url, pattern, folder = sys.argv[1:]
log = mqtt_log.MessageLog(Path(folder))
append = log.append
def crash_on_the_third(messages, written=[]):
    if len(written) == 2:
        log._file.write(mqtt_log.framed(messages[0])[:5])  # torn in its midst
        log._file.flush()
        os.kill(os.getpid(), 9)
    append(messages)
    written.append(1)
log.append = crash_on_the_third
recorder = Recorder(parse_address(url, {}), pattern, log)
recorder.start()
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_crash_while_receiving_loses_nothing(mqtt_url: str, publisher: Publisher, tmp_path: Path) -> None:
    name = uuid4().hex
    sent = 0
    with subprocess.Popen(
        [sys.executable, "-c", CRASHING, mqtt_url, f"{name}/#", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        while process.poll() is None:
            publisher.send(f"{name}/{sent}", b"%d" % sent, [], 1)
            publisher.settle()
            sent += 1
        assert process.returncode == -9
    reader = reader_of(mqtt_url, tmp_path, f"{name}/#")
    start = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    rows = read(reader, start, end)
    assert {int(row["payload"]) for row in rows} == set(range(sent))
    reader.stop()


def test_a_checkpoint_without_its_log_is_refused(mqtt_url: str, tmp_path: Path) -> None:
    reader = reader_of(mqtt_url, tmp_path, uuid4().hex)
    with pytest.raises(InvalidFile, match="not of one stream"):
        reader.latestOffset({"position": 7}, reader.getDefaultReadLimit())
    reader.stop()


def test_a_retained_message_comes_once(mqtt_url: str, tmp_path: Path) -> None:
    name = uuid4().hex
    command = ["mosquitto_pub", "-p", mqtt_url.rpartition(":")[2], "-t", name, "-m", "kept", "-r", "-q", "1"]
    subprocess.run(command, check=True)
    for _ in range(2):
        reader = reader_of(mqtt_url, tmp_path, name, settle="0.3")
        start = {"position": 0}
        reader.prepareForTriggerAvailableNow()
        assert reader.latestOffset(start, reader.getDefaultReadLimit()) == {"position": 1}
        reader.stop()


def test_a_broker_that_goes_away_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt_recorder, "PATIENCE", 1.0)
    monkeypatch.setattr(mqtt_source, "LOCK_PATIENCE", 0.0)
    (tmp_path / "broker").mkdir()
    with mosquitto(tmp_path / "broker") as url:
        reader = reader_of(url.replace("//", "//ann:secret@"), tmp_path / "log", "a")
        start = reader.initialOffset()
    with pytest.raises(
        Unanswered, match=r"mqtt://127\.0\.0\.1:\d+: the MQTT broker has been away"
    ) as failure:
        until(lambda: reader.latestOffset(start, reader.getDefaultReadLimit()) != start, "still there")
    assert "secret" not in str(failure.value)
    reader.stop()


def test_nobody_at_the_address_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt_recorder, "PATIENCE", 0.5)
    monkeypatch.setattr("ramify.connectors.mqtt_sink.PATIENCE", 0.5)
    address = parse_address(f"mqtt://127.0.0.1:{free_port()}", {})
    log = MessageLog(tmp_path)
    recorder = Recorder(address, "a", log)
    with pytest.raises(Unanswered, match=str(address)):
        recorder.start()
    recorder.stop()
    log.close()
    with pytest.raises(Unanswered, match=str(address)):
        Publisher(address)


def test_a_broker_that_does_not_let_us_in_says_so(tmp_path: Path) -> None:
    words = tmp_path / "words"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(words), "ann", "right"], check=True)
    os.chmod(words, 0o644)  # noqa: PTH101
    with mosquitto(tmp_path, f"password_file {words}") as url:
        wrong = parse_address(url.replace("//", "//ann:wrong@"), {})
        with pytest.raises(InvalidEndpoint, match="does not let us in") as refusal:
            Publisher(wrong)
        assert "wrong" not in str(refusal.value)
        reader = reader_of(str(url).replace("//", "//ann:wrong@"), tmp_path / "log", "a")
        with pytest.raises(InvalidEndpoint, match="does not let us in"):
            reader.initialOffset()
        reader.stop()
        environment = {"RAMIFY_MQTT_USERNAME": "ann", "RAMIFY_MQTT_PASSWORD": "right"}
        Publisher(parse_address(url, environment)).close()


# ── publishing ────────────────────────────────────────────────────────────────────────────


def test_rows_are_published_as_they_would_be_received(mqtt_url: str, tmp_path: Path) -> None:
    name = uuid4().hex
    reader = reader_of(mqtt_url, tmp_path, f"{name}/#")
    start = reader.initialOffset()
    batch = pa.RecordBatch.from_pydict(
        {
            "topic": ["a", "b", "c/+", None, "d"],
            "fields": ['{"n": 1}', None, None, None, None],
            "payload": [None, b"\xff", None, None, None],
            "subscriber": ["ann", "bob", "ann", "ann", None],
            "event_id": ["1", "2", "3", "4", "5"],
        }
    )
    options = sink_options({"url": mqtt_url, "topic": f"{name}/{{subscriber}}/{{topic}}"}, batch.schema.names)
    rows, left_out = publish(options, iter([batch]))
    assert rows == 2
    assert sum(left_out.values()) == 3
    received = read(reader, start, taken(reader, start, 2))
    found = {row["topic"]: (row["fields"], row["payload"], row["event_id"]) for row in received}
    assert found == {
        f"{name}/ann/a": ('{"n": 1}', None, "1"),
        f"{name}/bob/b": (None, b"\xff", "2"),
    }
    reader.stop()
