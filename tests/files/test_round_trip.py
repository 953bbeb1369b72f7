"""What is saved is loaded again, in every format, whole or not at all."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from ramify.errors import InvalidFile, InvalidSubscription
from ramify.files import FORMATS, Loaded, load, read, save, write
from ramify.model import Criteria, Exists, Subscription
from ramify.patterns import mqtt, parse_pattern
from tests.files.strategies import subscription_lists

PLAIN = Subscription("s", "alice", parse_pattern("plant/+/temp"))


def data_of(subscriptions: list[Subscription]) -> list[str]:
    """The data as JSON, in which 1 and true differ."""
    return [json.dumps(subscription.data) for subscription in subscriptions]


@pytest.mark.parametrize("format", FORMATS)
@given(subscriptions=subscription_lists())
def test_what_is_written_is_read_again(format: str, subscriptions: list[Subscription]) -> None:
    file = BytesIO()
    write(subscriptions, file, format)
    loaded = read(BytesIO(file.getvalue()), format)
    assert loaded == Loaded(tuple(subscriptions))
    assert data_of(list(loaded.subscriptions)) == data_of(subscriptions)


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".csv", ".parquet", ".CSV"])
def test_the_suffix_says_the_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    save([PLAIN], path)
    assert load(str(path)).subscriptions == (PLAIN,)


def test_a_named_format_outweighs_the_suffix(tmp_path: Path) -> None:
    save([PLAIN], tmp_path / "file.txt", format="csv")
    assert (tmp_path / "file.txt").read_text().startswith("id,subscriber,pattern,")
    assert load(tmp_path / "file.txt", format="csv").subscriptions == (PLAIN,)


@pytest.mark.parametrize(
    ("path", "format", "reason"),
    [("f.txt", None, "the suffix says no format"), ("f.csv", "xml", "unknown format 'xml'")],
)
def test_an_unknown_format_is_refused(tmp_path: Path, path: str, format: str | None, reason: str) -> None:
    with pytest.raises(InvalidFile, match=reason):
        save([PLAIN], tmp_path / path, format=format)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", FORMATS)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"file.{format}"
    save([PLAIN], path)
    before = path.read_bytes()
    with pytest.raises(InvalidSubscription):
        save([PLAIN, Subscription("", "bob", PLAIN.pattern)], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_keeps_the_permissions_and_the_link(tmp_path: Path) -> None:
    path, link = tmp_path / "file.csv", tmp_path / "link.csv"
    path.touch(mode=0o640)
    link.symlink_to(path)
    save([PLAIN], link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert load(path).subscriptions == (PLAIN,)


def test_a_save_replaces_nothing_but_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidFile, match="no ordinary file"):
        save([PLAIN], tmp_path / "folder.csv")


@pytest.mark.parametrize("data", [float("nan"), float("inf"), {1, 2}, b"x", "\ud800"])
@pytest.mark.parametrize("format", FORMATS)
def test_data_that_json_cannot_say_is_refused(format: str, data: Any) -> None:
    with pytest.raises(InvalidSubscription, match="'s'"):
        write([Subscription("s", "alice", PLAIN.pattern, data=data)], BytesIO(), format)


@pytest.mark.parametrize(
    "subscription",
    [
        Subscription("s", "\ud800", PLAIN.pattern),
        Subscription("s", "alice", PLAIN.pattern, group=""),
        Subscription("s", "alice", parse_pattern("$share/g/a")),
        Subscription("s", "alice", mqtt.parse("$share/g/a", shares=False)),
    ],
)
def test_what_would_be_read_as_something_else_is_not_written(subscription: Subscription) -> None:
    with pytest.raises(InvalidSubscription, match="'s'"):
        write([subscription], BytesIO())


def test_criteria_without_text_are_written_in_canonical_words() -> None:
    file = BytesIO()
    write([Subscription("s", "alice", PLAIN.pattern, Criteria("", Exists(("x",))))], file)
    assert json.loads(file.getvalue())["where"] == "exists(x)"
