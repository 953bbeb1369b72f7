"""`ramify stream` as a process: killed, stopped, and told nonsense."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ramify.cli import app, exits

RAMIFY = [sys.executable, "-m", "ramify"]
PATIENCE = 180.0
QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "600m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Little data and a short life: compiling costs more than it saves."""

FILES, EVENTS_A_FILE = 20, 40


class Room:
    """A folder with events in many small files, which are read one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.checkpoint = folder, folder / "out.parquet.checkpoint" / "deliveries"
        (folder / "events").mkdir()
        for number in range(FILES):
            lines = [json.dumps(event(number, at)) for at in range(EVENTS_A_FILE)]
            (folder / "events" / f"{number}.jsonl").write_text("\n".join(lines))
        rows = [
            {"id": "all", "subscriber": "ann", "pattern": "t/+"},
            {"id": "some", "subscriber": "bob", "pattern": "t/1", "where": "n < 20"},
        ]
        (folder / "s.jsonl").write_text("\n".join(json.dumps(row) for row in rows))

    def start(self, *more: str) -> subprocess.Popen[str]:
        given = [f"--settings={name}={value}" for name, value in QUICK.items()]
        command = [*RAMIFY, "stream", "--from=events", "--from-option=maxFilesPerTrigger=1", "--trigger=50ms"]
        command += [
            "--schema=event_id string, topic string, fields string",
            "--subscriptions=s.jsonl",
            "--to=out.parquet",
        ]
        return subprocess.Popen(
            [*command, "--json", "--master=local[2]", *given, *more],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def last(self, log: str) -> int:
        """The number of the last micro-batch in one of Spark's logs."""
        names = (file.name.partition(".")[0] for file in (self.folder / log).glob("[0-9]*"))
        return max((int(name) for name in names), default=-1)

    def deliveries(self) -> list[tuple[str, str]]:
        """The rows of the files that count: those that are in the log of Spark's sink."""
        log = self.folder / "out.parquet" / "_spark_metadata"
        lines = {line for file in log.glob("[0-9]*") for line in file.read_text().splitlines()[1:]}
        paths = [unquote(json.loads(line)["path"].removeprefix("file://")) for line in lines]
        tables = [pq.read_table(path, columns=["event_id", "subscription_id"]).to_pylist() for path in paths]
        return sorted((row["event_id"], row["subscription_id"]) for rows in tables for row in rows)


def event(number: int, at: int) -> dict[str, Any]:
    return {"event_id": f"{number}-{at}", "topic": f"t/{at % 3}", "fields": {"n": at}}


def expected() -> list[tuple[str, str]]:
    events = [event(number, at) for number in range(FILES) for at in range(EVENTS_A_FILE)]
    to_all = [(each["event_id"], "all") for each in events]
    to_some = [
        (each["event_id"], "some") for each in events if each["topic"] == "t/1" and each["fields"]["n"] < 20
    ]
    return sorted(to_all + to_some)


def wait_for(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Look as often as possible: some moments are short."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(process.communicate())
        time.sleep(0.001)


def kill(process: subprocess.Popen[str]) -> None:
    """End the process, its Java and all, without a chance to tidy up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_kills_in_mid_stream_neither_lose_nor_repeat_a_row(tmp_path: Path) -> None:
    room = Room(tmp_path)
    offsets, commits = (str(room.checkpoint / name) for name in ("offsets", "commits"))
    # While rows are being written, and when the sink has them and Spark does not know it yet.
    moments: list[Callable[[int], bool]] = [
        lambda first: room.last(offsets) > max(first + 1, room.last(commits)),
        lambda first: room.last("out.parquet/_spark_metadata") > max(first + 1, room.last(commits)),
    ]
    for moment in moments:
        process = room.start()
        begin = room.last(commits)
        wait_for(lambda moment=moment, begin=begin: moment(begin), process)  # type: ignore[misc]
        kill(process)
    assert 0 < room.last(commits) < FILES - 1, "there was nothing left to do, or little done"
    process = room.start("--once", "--from-option=maxFilesPerTrigger=1000")
    said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == exits.FINE, complaints
    assert room.deliveries() == expected()
    assert json.loads(said.splitlines()[-1])["rejects"] == 0


def test_sigterm_ends_after_the_micro_batch_that_is_under_way(tmp_path: Path) -> None:
    room = Room(tmp_path)
    process = room.start()
    assert process.stdout is not None
    assert process.stderr is not None
    first = json.loads(process.stdout.readline())
    assert (first["query"], first["number"], first["events"]) == ("deliveries", 0, EVENTS_A_FILE)
    process.terminate()
    with process:
        *batches, summary = map(json.loads, process.stdout.read().splitlines())
        assert process.stderr.read() == "ramify: 2 subscriptions in force\n"
    assert process.returncode == exits.FINE
    assert summary["events"] == EVENTS_A_FILE * summary["batches"]
    assert len(batches) + 1 == summary["batches"]
    # What was told is what is there: nothing was left half done.
    assert len({event_id.partition("-")[0] for event_id, _ in room.deliveries()}) == summary["batches"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from=nowhere", "--subscriptions=s.jsonl", "--to=out"], "nowhere: there is nothing at this path"),
        (
            ["--from=redis://ann:geheim@h?strem=x", "--subscriptions=s.jsonl", "--to=out"],
            "needs the option 'stream'",
        ),
        (["--from=mqtt://h?topic=a/%23/b", "--subscriptions=s.jsonl", "--to=out"], "is no MQTT pattern"),
        (
            ["--from=redis://h?stream=x", "--subscriptions=s.jsonl", "--to=redis://h?stream=y"],
            "needs a checkpoint",
        ),
        (
            ["--from=events", "--subscriptions=s.jsonl", "--to=out", "--refresh=soon"],
            "'soon' is not a duration",
        ),
        (["--from=events", "--subscriptions=s.jsonl", "--to=events/out"], "where events are read from"),
        (["--from=events", "--subscriptions=s.jsonl", "--to=out", "--quiet=5s"], "--coalesce-key"),
        (
            ["--from=events", "--subscriptions=s.jsonl", "--to=out", "--from-format=xml"],
            "'xml' is not one of",
        ),
    ],
)
def test_a_stream_that_cannot_be_is_refused_at_once(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Room(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["stream", *arguments])
    assert done.exit_code == exits.UNUSABLE
    assert said in done.output
    assert "geheim" not in done.output
    assert "Traceback" not in done.output


def test_the_live_line_says_how_it_goes() -> None:
    from ramify.cli.stream_report import Report
    from ramify.jobs.streaming import MicroBatch

    report = Report(is_json=False, is_live=False)
    report.took(MicroBatch("deliveries", 7, 100, 250, 3, 1, 0.5, "2026-01-01T00:00:00.000Z"))
    report.took(MicroBatch("rejects", 7, 100, 0, 5, 0, 0.5))
    line = report.line(time.monotonic())
    assert line.startswith("batch 7 (0.5 s)  100 events/s  in 100  out 250  rejects 5")
    assert line.endswith("watermark 2026-01-01T00:00:00.000Z")
