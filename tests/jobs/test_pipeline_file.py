"""A pipeline file says what it means, and all that is wrong with it, by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.cli.pipeline import EXAMPLE
from ramify.errors import InvalidFile
from ramify.jobs.description import Coalesce, Route, Session, Sink, Source, Stream
from ramify.jobs.pipeline_file import Checked, check_text, read_pipeline

GOOD = """
[events]
path = "events.jsonl"

[subscriptions]
path = "subscriptions.csv"

[[sinks]]
path = "out.parquet"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "events.jsonl").touch()
    (tmp_path / "subscriptions.csv").touch()
    return tmp_path


def flaws(checked: Checked) -> list[tuple[int, str]]:
    assert checked.pipeline is None
    return [(flaw.line, str(flaw)) for flaw in checked.flaws]


def test_paths_are_relative_to_the_file(folder: Path) -> None:
    (folder / "pipeline.toml").write_text(GOOD)
    described = read_pipeline(folder / "pipeline.toml", {}).pipeline
    assert described is not None
    assert described.events == Source(path=str(folder / "events.jsonl"))
    assert described.sinks == (Sink(path=str(folder / "out.parquet")),)
    assert not described.is_stream


def test_all_parts_are_read(folder: Path) -> None:
    text = GOOD + (
        """
partition_by = "subscriber"

[[sinks]]
format = "redis"
options = { url = "redis://:${PASSWORD}@h", stream = "$${kept}" }

[route]
strategy = "join"
identity = ["event_id"]

[coalesce]
key = "subscriber"
quiet = 30
max_wait = "5m"

[stream]
checkpoint = "s3://bucket/checkpoint"

[session]
master = "local[2]"
settings.spark.driver.memory = "1g"
settings."spark.ui.enabled" = false
"""
    )
    described = check_text(text, folder, {"PASSWORD": "secret"}).pipeline
    assert described is not None
    assert described.sinks[0].partition_by == ("subscriber",)
    assert described.sinks[1].options == {"url": "redis://:secret@h", "stream": "${kept}"}
    assert described.route == Route(strategy="join", identity=("event_id",))
    assert described.coalesce == Coalesce(key=("subscriber",), quiet=30, max_wait="5m")
    assert described.stream == Stream(checkpoint="s3://bucket/checkpoint")
    settings = {"spark.driver.memory": "1g", "spark.ui.enabled": "false"}
    assert described.session == Session(master="local[2]", settings=settings)


def test_all_flaws_are_named_at_once_by_line(folder: Path) -> None:
    text = """
name = 5
[events]
path = "events.jsonl"
formt = "csv"
[subscriptions]
path = "subscriptions.csv"
options = 3
[route]
strategy = "fast"
identity = 7
[coalesce]
quiet = "soon"
[[sinks]]
path = "one"
overwrite = "yes"
[[sinks]]
path = "${NOWHERE}/x"
colour = "red"
"""
    assert flaws(check_text(text, folder, {})) == [
        (2, "name is 5, wanted a text"),
        (5, "events.formt is unknown; did you mean format?"),
        (8, "subscriptions.options is 3, wanted a table"),
        (10, "route.strategy is 'fast'; one of auto, broadcast, join"),
        (11, "route.identity is 7, wanted a list"),
        (12, "coalesce.key is missing"),
        (13, "coalesce.quiet is no duration: 'soon' is not a duration; write 250ms, 30s, 5m, 1h or 1d"),
        (16, "sinks[1].overwrite is 'yes', wanted true or false"),
        (18, "sinks[2].path needs the environment variable NOWHERE, which is not set"),
        (
            19,
            "sinks[2].colour is unknown; known are path, format, overwrite, partition_by, options",
        ),
    ]


def test_parts_that_contradict_each_other_are_named(folder: Path) -> None:
    (folder / "taken.csv").touch()
    text = """
[session]
master = "local"
remote = "sc://host"
[events]
path = "gone.parquet"
[subscriptions]
path = "no_suffix"
[stream]
checkpoint = "c"


[coalesce]
key = []
quiet = -1
[[sinks]]
format = "redis"
[[sinks]]
path = "same"
[[sinks]]
path = "same"
"""
    (folder / "no_suffix").touch()
    found = flaws(check_text(text, folder, {}))
    assert [line for line, _ in found] == [4, 6, 8, 13, 14, 16, 21]
    words = " | ".join(words for _, words in found)
    for said in (
        "nothing at this path",
        "suffix says no format",
        "lacks 'url'",
        "another sink",
        "cannot be: ",
    ):
        assert said in words
    stream = GOOD + '[stream]\ncheckpoint = "events.jsonl/c"\ntrigger = 1\nuntil_caught_up = true\n'
    assert [line for line, _ in flaws(check_text(stream, folder, {}))] == [10, 12]
    batch = GOOD.replace("out.parquet", "taken.csv")
    assert "is there already" in flaws(check_text(batch, folder, {}))[0][1]
    assert (
        "is read from as well"
        in flaws(check_text(GOOD.replace("out.parquet", "events.jsonl"), folder, {}))[0][1]
    )


def test_what_is_not_toml_is_told_with_its_line(folder: Path) -> None:
    assert flaws(check_text("a = 1\nb = \n", folder, {})) == [(2, "not TOML: invalid value")]
    assert flaws(check_text("[a", folder, {}))[0][0] == 1


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="No such file"):
        read_pipeline(tmp_path / "gone.toml", {})
    (tmp_path / "odd.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidFile, match="not UTF-8"):
        read_pipeline(tmp_path / "odd.toml", {})
    (tmp_path / "huge.toml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(InvalidFile, match="more than"):
        read_pipeline(tmp_path / "huge.toml", {})


def test_the_example_is_fine(folder: Path) -> None:
    (folder / "events").mkdir()
    (folder / "events" / "a.parquet").touch()
    (folder / "subscriptions.jsonl").touch()
    assert check_text(EXAMPLE, folder, {}).flaws == ()
