"""What the commands print, and the exit status they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ramify.cli import app, exits
from ramify.files import load
from tests.cli.console import example_file

BAD_LINE = '{"id": "oops", "subscriber": "erin", "pattern": "plant/#/temp"}\n'


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "subscriptions.jsonl"
    path.write_text(example_file(), encoding="utf-8")
    return str(path)


@pytest.fixture
def flawed(tmp_path: Path) -> str:
    path = tmp_path / "flawed.jsonl"
    path.write_text(example_file() + BAD_LINE, encoding="utf-8")
    return str(path)


def run(*arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=given)


def document(*arguments: str, given: str | None = None) -> Any:
    return json.loads(run(*arguments, "--json", given=given).stdout)


# ── match ─────────────────────────────────────────────────────────────────────────────────


def test_match_lists_the_matches_in_the_order_of_the_file(file: str) -> None:
    found = document("match", "plant/7/temp", "-f", '{"value": 31}', "-s", file)
    assert found["topic"] == "plant/7/temp"
    assert [match["id"] for match in found["matches"]] == ["hot", "plant", "seven", "w1"]
    assert found["matches"][0] == {
        "id": "hot",
        "subscriber": "alice",
        "pattern": "plant/+/temp",
        "dialect": "mqtt",
        "match": None,
        "where": "value > 30",
        "group": None,
        "data": {"unit": "C"},
    }


def test_match_shows_all_members_of_a_group_if_asked(file: str) -> None:
    found = document("match", "plant/7/temp", "-s", file, "--all-members")
    assert [match["id"] for match in found["matches"]] == ["plant", "seven", "w1", "w2"]


def test_match_without_matches_is_fine(file: str) -> None:
    result = run("match", "nowhere", "-s", file)
    assert (result.exit_code, result.stdout) == (exits.FINE, "no subscription wants this event\n")


def test_match_reads_subscriptions_from_standard_input() -> None:
    found = document("match", "plant/7/temp", "-s", "-", given=example_file())
    assert len(found["matches"]) == 3


def test_bad_subscriptions_are_told_and_the_others_answer(flawed: str) -> None:
    result = run("match", "plant/7/temp", "-s", flawed, "--json")
    assert result.exit_code == exits.SET_ASIDE
    assert len(json.loads(result.stdout)["matches"]) == 3
    assert result.stderr == f"{flawed}:7: pattern: '#' stands only as the last level at column 7\n"


def test_a_stream_answers_event_by_event_and_skips_what_is_none(file: str) -> None:
    lines = b'plant/7/temp\n\n{"topic": "plant/8/temp", "fields": {"value": 31}}\n{"topic": 1}\n{\n\xff\nx\n'
    result = run("match", "-", "-s", file, "--json", given=lines)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(answer["topic"], len(answer["matches"])) for answer in answers] == [
        ("plant/7/temp", 3),
        ("plant/8/temp", 3),
        ("x", 0),
    ]
    assert [line.split(":")[1] for line in result.stderr.splitlines()] == ["4", "5", "6"]
    assert result.exit_code == exits.SET_ASIDE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["match", "-", "-s", "-"], "subscriptions from a file"),
        (["match", "-", "-s", "x.jsonl", "--fields", "{}"], "come from standard input"),
        (["match", "a", "-s", "x.jsonl", "--fields", "[1]"], "not a JSON object"),
        (["match", "a", "-s", "x.jsonl", "--fields", "{oops"], "not JSON"),
        (["match", "a"], "Missing option"),
        (["match", "a", "-s", "absent.jsonl"], "absent.jsonl: No such file or directory"),
        (["match", "a\0b", "-s", "x.jsonl"], "NUL is not allowed"),
        (["translate", "a/#/b", "--to", "nats"], "  a/#/b\n    ^"),
        (["translate", "a", "--to", "kafka"], "kafka"),
        (["translate", "a", "--to", "nats", "--match", "prefix"], "an option of wamp"),
        (["subscriptions", "convert", "x.jsonl", "x.txt"], "the suffix says no format"),
        (["frobnicate"], "No such command"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.jsonl").touch()
    result = run(*arguments)
    assert result.exit_code == exits.UNUSABLE
    assert words in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


# ── explain ───────────────────────────────────────────────────────────────────────────────


def test_explain_names_the_comparison_that_fails_and_answers_no(file: str) -> None:
    result = run("explain", "plant/7/temp", "-f", '{"value": 3}', "-s", file, "--id", "hot", "--json")
    (explanation,) = json.loads(result.stdout)["explanations"]
    assert (explanation["is_match"], explanation["reason"]) == (False, "value is 3, wanted > 30")
    assert result.exit_code == exits.NO


def test_explain_is_fine_with_a_match(file: str) -> None:
    assert run("explain", "plant/7/temp", "-s", file, "--id", "seven").exit_code == exits.FINE


def test_explain_shows_the_matches_and_then_the_nearest_misses(file: str) -> None:
    found = document("explain", "plant/7/humidity", "-s", file, "--misses", "2")
    assert [(one["id"], one["is_match"]) for one in found["explanations"]] == [
        ("plant", True),
        ("hot", False),
        ("seven", False),
    ]


def test_explain_refuses_an_unknown_id(file: str) -> None:
    result = run("explain", "a", "-s", file, "--id", "who")
    assert (result.exit_code, result.stderr) == (2, "ramify: no subscription has the id 'who'\n")


# ── lint ──────────────────────────────────────────────────────────────────────────────────


def test_lint_answers_no_to_errors_and_warnings(file: str) -> None:
    result = run("lint", file, "--json")
    findings = json.loads(result.stdout)["findings"]
    assert [(one["severity"], one["kind"], one["ids"]) for one in findings] == [
        ("error", "unreachable", ["never"]),
        ("warning", "shadowed", ["seven", "plant"]),
    ]
    assert result.exit_code == exits.NO


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ('{"subscriber": "a", "pattern": "x"}', exits.FINE),
        ('{"subscriber": "a", "pattern": "x", "where": "exists(y)"}', exits.FINE),
        ('{"subscriber": "a", "pattern": "#"}', exits.NO),
        ('{"subscriber": "a", "pattern": "#"}\nnonsense', exits.SET_ASIDE),
    ],
)
def test_the_status_of_lint_tells_notes_from_warnings_and_bad_lines(lines: str, status: int) -> None:
    assert run("lint", "-", given=lines).exit_code == status


# ── translate ─────────────────────────────────────────────────────────────────────────────


def test_translate_prints_the_pattern_alone_and_the_losses_aside() -> None:
    result = run("translate", "a/+", "--to", "nats")
    assert result.stdout == "a.*\n"
    assert result.stderr.startswith("lost: levels split at '.'")
    assert result.exit_code == exits.FINE


def test_translate_says_which_option_the_text_needs() -> None:
    result = run("translate", "foo*", "--from", "glob", "--to", "wamp")
    assert (result.stdout, result.stderr) == ("foo\n", "needs: --match prefix\n")


def test_translate_answers_no_if_there_is_no_such_pattern() -> None:
    result = run("translate", "a/#", "--to", "path")
    assert (result.exit_code, result.stdout) == (exits.NO, "")
    assert result.stderr == "no pattern: path has no sign for the rest of a topic\n"


# ── subscriptions ─────────────────────────────────────────────────────────────────────────


def test_check_counts_and_lists_bad_lines(flawed: str) -> None:
    result = run("subscriptions", "check", flawed, "--json")
    assert json.loads(result.stdout) == {
        "file": flawed,
        "subscriptions": 6,
        "dialects": {"mqtt": 5, "nats": 1},
        "bad": [
            {
                "line": 7,
                "reason": "pattern: '#' stands only as the last level at column 7",
                "text": BAD_LINE[:-1],
            }
        ],
        "notes": [],
    }
    assert result.exit_code == exits.SET_ASIDE


def test_check_of_a_good_file_is_fine(file: str) -> None:
    result = run("subscriptions", "check", file)
    assert result.exit_code == exits.FINE
    assert result.stdout.startswith("6 subscriptions, 0 bad lines\n")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
def test_convert_keeps_every_subscription(file: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    assert run("subscriptions", "convert", file, str(out)).exit_code == exits.FINE
    assert load(out) == load(file)


def test_convert_writes_json_lines_to_standard_output(flawed: str) -> None:
    result = run("subscriptions", "convert", flawed, "-")
    assert len(result.stdout.splitlines()) == 6
    assert result.exit_code == exits.SET_ASIDE


# ── every command ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "command",
    ["match", "explain", "lint", "translate", "subscriptions check", "subscriptions convert"],
)
def test_every_help_has_an_example_and_the_exit_statuses(command: str) -> None:
    shown = run(*command.split(), "--help").stdout
    assert f"Example:\n    ramify {command} " in shown
    assert "3  done, but bad lines of an input were set aside" in shown


def test_control_characters_of_a_file_never_reach_the_terminal() -> None:
    line = json.dumps({"id": "\x1b[2J", "subscriber": "a\nb", "pattern": "x/[red]"})
    shown = run("match", "x/[red]", "-s", "-", given=line).stdout
    assert "\x1b" not in shown
    assert r"\x1b[2J  a\nb        x/[red]" in shown


def test_a_bug_is_owned_up_to_without_a_traceback(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.cli.lint.findings_in", lambda subscriptions: 1 / 0)
    result = run("lint", file)
    assert result.exit_code == exits.BUG
    assert result.stderr.startswith("ramify: this is a bug: ZeroDivisionError: division by zero\n")
