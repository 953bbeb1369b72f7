"""The commands over tables: what they write, count, refuse and say, on a real Spark."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from ramify.cli import app, exits

EVENTS: list[dict[str, Any]] = [
    {"event_id": at, "topic": topic, "ts": f"2026-01-01T00:00:{at:02}Z", "fields": fields}
    for at, (topic, fields) in enumerate(
        [
            ("plant/1/temp", {"value": 84.5, "n": 12345678901234567890}),
            ("plant/2/temp", {"value": 20}),
            ("plant/1/flow", {"value": "84.5"}),
            ("shop/sold", None),
            (None, {"value": 99}),
        ]
    )
]
SUBSCRIPTIONS: list[dict[str, Any]] = [
    {"id": "hot", "subscriber": "alice", "pattern": "plant/+/temp", "where": "value > 80", "data": {"a": 1}},
    {"id": "all", "subscriber": "bob", "pattern": "plant/#"},
    {"id": "glob", "subscriber": "bob", "pattern": "*/sold", "dialect": "glob"},
    {"id": "bad", "subscriber": "eve", "pattern": "plant/#/temp"},
]
EXPECTED = {(0, "hot"), (0, "all"), (1, "all"), (2, "all"), (3, "glob")}


@pytest.fixture(autouse=True)
def here(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the same events and subscriptions in every format."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("events", EVENTS), ("subscriptions", SUBSCRIPTIONS)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        texts = [{key: _cell(value) for key, value in row.items()} for row in rows]
        with Path(f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list({key: None for row in rows for key in row}))
            writer.writeheader()
            writer.writerows(texts)
        pq.write_table(_table(name, texts), f"{name}.parquet")
    return tmp_path


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    table = pa.Table.from_pylist(
        rows if name == "events" else [{"where": None, "dialect": None} | row for row in rows]
    )
    if name == "events":
        moments = pa.array(table.column("ts").to_pylist()).cast(pa.timestamp("us", tz="UTC"))
        return table.set_column(table.schema.get_field_index("ts"), "ts", moments)
    return table


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def summary(*arguments: str, status: int = exits.FINE) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def at(path: str) -> str:
    """Where a test's own Spark finds a file: its Java runs in another folder."""
    return str(Path(path).absolute())


def pairs(spark: SparkSession, path: str, format: str = "parquet") -> set[tuple[int, str]]:
    reader = spark.read.format(format).option("header", True).option("escape", '"')
    return {(int(row.event_id), row.subscription_id) for row in reader.load(at(path)).collect()}


# ── what is written and counted ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("events", "subscriptions", "strategy"),
    [("parquet", "jsonl", "broadcast"), ("jsonl", "csv", "join"), ("csv", "parquet", "auto")],
)
def test_every_format_gives_the_same_deliveries_and_counts(
    events: str, subscriptions: str, strategy: str, spark: SparkSession
) -> None:
    """The content stays as strict as it was: 84.5 is a number, and '84.5' is none."""
    done = summary(
        *("route", "-e", f"events.{events}", "-s", f"subscriptions.{subscriptions}", "--strategy", strategy),
        *("-o", f"out.{events}", "--rejects", "rejects.jsonl"),
        status=exits.SET_ASIDE,
    )
    assert pairs(spark, f"out.{events}", {"jsonl": "json"}.get(events, events)) == EXPECTED
    assert done["counts"] == {"events": 5, "deliveries": 5}
    assert [(each["source"], each["count"]) for each in done["rejects"]] == [
        ("event", 1),
        ("subscription", 1),
    ]
    assert done["rejects"][0]["reason"] == "the topic is null"
    assert "'#' stands only as the last level" in done["rejects"][1]["reason"]
    assert done["strategy"].startswith("broadcast: " if strategy == "auto" else f"{strategy}: ")
    assert [phase["name"] for phase in done["phases"]] == ["reading", "planning", "running", "bad rows"]
    assert done["phases"][2]["tasks"] >= 1
    assert done["phases"][2]["stages"][0]["seconds"] >= 0
    written = spark.read.json(at("rejects.jsonl")).collect()
    assert Counter(row.source for row in written) == {"event": 1, "subscription": 1}
    if events == "jsonl":
        parts = [part.read_text() for part in Path("out.jsonl").glob("*.json")]
        rows = [json.loads(line) for part in parts for line in part.splitlines()]
        hot = next(row for row in rows if row["subscription_id"] == "hot")
        assert hot["fields"] == {"value": 84.5, "n": 12345678901234567890}


def test_lines_that_are_no_rows_are_set_aside_with_the_reason(spark: SparkSession) -> None:
    with Path("events.jsonl").open("a") as file:
        file.write('oops\n\n{"topic": "shop/sold", "fields": "no JSON", "ts": 5}\n')
    with Path("subscriptions.jsonl").open("a") as file:
        file.write('nonsense\n{"id": 5, "subscriber": "x", "pattern": "a"}\n')
        file.write('{"id": "t", "subscriber": "x", "pattern": "a", "valid_from": "soon"}\n')
    done = summary(
        "route", "-e", "events.jsonl", "-s", "subscriptions.jsonl", "-o", "out", status=exits.SET_ASIDE
    )
    reasons = {(each["source"], each["reason"]) for each in done["rejects"]}
    assert done["counts"]["events"] == 7
    assert done["counts"]["deliveries"] == 5
    assert ("event", "the line is not a JSON object") in reasons
    assert ("subscription", "id is a number, wanted a text") in reasons
    assert ("subscription", "valid_from is 'soon', wanted a time") in reasons
    assert any(reason.startswith("not JSON") for _, reason in reasons)
    assert any(reason.startswith("the content is not JSON") for _, reason in reasons)
    assert done["bad"] == 7

    with Path("events.csv").open("a") as file:
        file.write("1,2\n")
    Path("subscriptions.csv").write_text(
        "id,subscriber,pattern,valid_from,valid_to\n"
        "a,x,plant/#,,\nb,x,plant/#,soon,\nc,x,plant/#,,2026-01-01T00:00:01Z\nd,x\n"
    )
    done = summary(
        "route", "-e", "events.csv", "-s", "subscriptions.csv", "-o", "timed", status=exits.SET_ASIDE
    )
    reasons = {(each["source"], each["reason"]) for each in done["rejects"]}
    assert ("subscription", "valid_from is not a time") in reasons
    assert ("subscription", "the line has another number of cells") in reasons
    assert ("event", "the line has another number of cells") in reasons
    assert pairs(spark, "timed") == {(0, "a"), (1, "a"), (2, "a"), (0, "c")}


def test_globs_and_partitioned_folders_are_read(spark: SparkSession) -> None:
    table = spark.read.parquet(at("events.parquet")).withColumnRenamed("event_id", "number")
    table.selectExpr("*", "number AS event_id").write.partitionBy("number").parquet(at("by_number"))
    done = summary("route", "-e", "by_number", "-s", "subscriptions.jsonl", "-o", "a", status=exits.SET_ASIDE)
    assert done["counts"]["events"] == 5
    assert pairs(spark, "a") == EXPECTED
    done = summary(
        *("route", "-e", "by_number/number=[01]", "-s", "subscriptions.jsonl", "-o", "b.csv"),
        status=exits.SET_ASIDE,
    )
    assert pairs(spark, "b.csv", "csv") == {pair for pair in EXPECTED if pair[0] < 2}
    assert (
        run("route", "-e", "by_number/number=[01]", "-s", "gone/*.csv", "-o", "c").exit_code == exits.UNUSABLE
    )


def test_coalesce_stats_and_backtest_write_and_count(spark: SparkSession) -> None:
    summary(
        "route", "-e", "events.parquet", "-s", "subscriptions.csv", "-o", "deliveries", status=exits.SET_ASIDE
    )
    done = summary("coalesce", "-e", "deliveries", "-k", "subscriber", "--quiet", "1s", "-o", "fired.csv")
    assert done["counts"] == {"deliveries": 5, "fired": 5}
    done = summary(
        *("coalesce", "--deliveries", "deliveries", "-k", "subscriber", "--quiet", "2s", "--keep", "first"),
        *("-o", "fired.csv", "--overwrite"),
    )
    assert done["counts"] == {"deliveries": 5, "fired": 2}
    assert done["rejects"] == []
    done = summary("stats", "--events", "events.jsonl", "-o", "statistics.csv")
    assert done["counts"]["events"] == 5
    Path("candidate.jsonl").write_text('{"id": "x", "subscriber": "bob", "pattern": "plant/+/flow"}\n')
    done = summary(
        *("backtest", "-e", "events.parquet", "--current", "subscriptions.jsonl"),
        *("--candidate", "candidate.jsonl", "-o", "changes.jsonl"),
        status=exits.SET_ASIDE,
    )
    assert done["counts"] == {"events": 5, "subscribers": 2}
    changes = {
        row.subscriber: (row.gained, row.lost, row.unchanged)
        for row in spark.read.json(at("changes.jsonl")).collect()
    }
    assert changes == {"alice": (0, 1, 0), "bob": (0, 3, 1)}
    done = summary(
        *(
            "route",
            "-e",
            "events.jsonl",
            "-s",
            "candidate.jsonl",
            "--statistics",
            "statistics.csv",
            "-o",
            "planned",
        ),
        status=exits.SET_ASIDE,
    )
    assert done["counts"] == {"events": 5, "deliveries": 1}


def test_an_empty_table_of_subscriptions_delivers_nothing_and_still_counts(spark: SparkSession) -> None:
    Path("none.jsonl").touch()
    done = summary("route", "-e", "events.parquet", "-s", "none.jsonl", "-o", "out", status=exits.SET_ASIDE)
    assert done["counts"] == {"events": 5, "deliveries": 0}


def test_a_pipeline_file_runs_with_several_sinks(here: Path, spark: SparkSession) -> None:
    Path("sub").mkdir()
    file = here / "sub" / "pipeline.toml"
    file.write_text(
        """
[events]
path = "../events.jsonl"
[subscriptions]
path = "../subscriptions.jsonl"
[coalesce]
key = "subscriber"
quiet = "1m"
[[sinks]]
path = "fired.parquet"
[[sinks]]
path = "fired.csv"
[rejects]
path = "rejects"
"""
    )
    assert run("pipeline", "check", str(file)).stdout == f"{file}: fine; a batch with 2 sinks\n"
    done = summary("pipeline", "run", str(file), status=exits.SET_ASIDE)
    assert done["counts"] == {"events": 5, "deliveries": 5, "fired": 2}
    for path, format in (("sub/fired.parquet", "parquet"), ("sub/fired.csv", "csv")):
        assert pairs(spark, path, format) == {(0, "hot"), (3, "glob")}
    assert spark.read.parquet(at("sub/rejects")).count() == 2


# ── before it runs ────────────────────────────────────────────────────────────────────────


def test_a_plan_is_shown_with_the_reason_and_nothing_is_written() -> None:
    shown = run("route", "-e", "events.parquet", "-s", "subscriptions.jsonl", "-o", "out", "--plan")
    assert shown.exit_code == exits.FINE
    assert shown.stdout.startswith("strategy broadcast: ")
    assert "== Physical Plan ==" in shown.stdout
    assert not Path("out").exists()


def test_a_dry_run_estimates_from_a_sample_and_writes_nothing() -> None:
    table = pa.table({"topic": ["plant/1/temp"] * 3_000 + ["shop/sold"] * 1_000})
    pq.write_table(table, "many.parquet")
    Path("shop.jsonl").write_text(
        '{"id": "a", "subscriber": "ann", "pattern": "plant/#"}\n'
        '{"id": "b", "subscriber": "ben", "pattern": "#"}\n'
    )
    guess = summary(
        "route", "-e", "many.parquet", "-s", "shop.jsonl", "-o", "out", "--dry-run", "--sample", "500"
    )
    assert guess["events"] == 4_000
    assert 300 < guess["sampled"] < 700
    assert guess["deliveries"] == pytest.approx(7_000, rel=0.1)
    assert [each["subscriber"] for each in guess["top"]] == ["ben", "ann"]
    assert guess["top"][0]["deliveries"] == 4_000
    whole = run("route", "-e", "many.parquet", "-s", "shop.jsonl", "--dry-run")
    assert "about 7,000 (all of them)" in whole.stdout
    checked = run("coalesce", "-e", "many.parquet", "-k", "topic", "--quiet", "1s", "--dry-run")
    assert checked.stderr == ("ramify: deliveries: the column 'ts' is missing; the columns are topic\n")
    assert not Path("out").exists()


REFUSED = {
    "there is nothing at this path": (
        "route",
        "-e",
        "gone.parquet",
        "-s",
        "subscriptions.jsonl",
        "-o",
        "out",
    ),
    "the suffix says no format": ("route", "-e", "here", "-s", "subscriptions.jsonl", "-o", "out"),
    "is there already": ("route", "-e", "events.csv", "-s", "subscriptions.csv", "-o", "taken"),
    "is read from as well": ("route", "-e", "events.csv", "-s", "subscriptions.csv", "-o", "events.csv"),
    "the column 'topic' is missing": (
        "route",
        "-e",
        "subscriptions.csv",
        "-s",
        "subscriptions.csv",
        "-o",
        "out",
    ),
    "subscriptions: the column 'subscription_id' is missing": (
        "route",
        "-e",
        "events.csv",
        "-s",
        "events.csv",
        "-o",
        "out",
    ),
    "a file that is no Parquet": ("route", "-e", "torn.parquet", "-s", "subscriptions.csv", "-o", "out"),
    "spark.jars.packages=io.delta": (
        *("route", "-e", "taken", "--events-format", "delta", "-s", "subscriptions.csv", "-o", "out"),
    ),
    "spark.jars.packages=org.apache.spark:spark-sql-kafka": (
        *("stats", "-e", "events.csv", "-o", "kafka://127.0.0.1:9?topic=t"),
    ),
    "Unsupported data type": ("stats", "-e", "events.csv", "--schema", "topic strin", "-o", "out"),
    "not a duration": ("coalesce", "-e", "events.csv", "-k", "topic", "--quiet", "soon", "-o", "out"),
    "the column 'gone' is missing": (
        "coalesce",
        "-e",
        "events.csv",
        "-k",
        "gone",
        "--quiet",
        "1s",
        "-o",
        "out",
    ),
    "'fast' is not one of auto": (
        *("route", "-e", "events.csv", "-s", "subscriptions.csv", "-o", "out", "--strategy", "fast"),
    ),
    "is needed, except with --plan": ("stats", "-e", "events.csv"),
    "'x' is not of the form k=v": ("stats", "-e", "events.csv", "-o", "out", "--settings", "x"),
}


@pytest.mark.parametrize(("words", "arguments"), REFUSED.items(), ids=list(REFUSED))
def test_what_cannot_be_is_refused_in_a_sentence(words: str, arguments: tuple[str, ...]) -> None:
    Path("here").touch()
    Path("taken").mkdir()
    Path("taken/file").touch()
    Path("torn.parquet").write_text("no parquet")
    result = run(*arguments)
    assert result.exit_code == exits.UNUSABLE, result.output
    assert words in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr
    assert not Path("out").exists()
