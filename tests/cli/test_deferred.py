"""`ramify deferred`: serve, produce and consume, as a person would use them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ramify.cli import app, exits
from ramify.deferred import JournaledQueue
from tests.net.served import SECONDS, Served, serving

RAMIFY = [sys.executable, "-m", "ramify", "deferred"]


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as served:
        yield served


def run(*arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["deferred", *arguments], input=given)


def produce(served: Served, *arguments: str, given: str | None = None) -> Result:
    return run("produce", "--to", served.inbound, *arguments, given=given)


def consume(served: Served, *arguments: str) -> Result:
    return run("consume", "--from", served.outbound, *arguments)


# ── produce and consume ───────────────────────────────────────────────────────────────────


def test_arguments_become_a_push_that_is_printed_when_due(served: Served) -> None:
    result = produce(served, "order-17", "paid", "--delay", "0.05")
    assert (result.exit_code, result.stdout) == (exits.FINE, "1 accepted, 0 refused\n")
    result = consume(served, "--count", "1")
    assert (result.exit_code, result.stdout) == (exits.FINE, "order-17\tpaid\n")


def test_json_goes_in_and_comes_out(served: Served) -> None:
    produce(served, "k", '{"a": [1, null]}', "--json", "--delay", "0")
    item = json.loads(consume(served, "--count", "1", "--json").stdout)
    assert (item["key"], item["data"]) == ("k", {"a": [1, None]})
    assert item.keys() == {"key", "data", "deadline", "ticket"}


def test_a_file_is_pushed_and_its_bad_lines_are_set_aside(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "pushes.jsonl"
    lines = [
        '{"key": "a", "data": 1, "delay": 0}',
        "nonsense",
        '{"key": 5}',
        '{"key": "b", "data": 2}',
        '{"key": "c", "delay": "soon"}',
        '{"key": "d", "color": "red"}',
        "",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    result = produce(served, "--file", str(file), "--delay", "0.02")
    assert result.exit_code == exits.SET_ASIDE
    assert result.stdout == "2 accepted, 0 refused, 4 bad lines\n"
    assert "line 5: delay is not a number" in result.stderr
    assert consume(served, "--count", "2").stdout == "a\t1\nb\t2\n"


def test_lines_in_the_text_form_are_pushed_and_printed_so(served: Served) -> None:
    result = produce(served, "--file", "-", "--text", given="a:b:1000:str|x|y\nbad\nc:-1:str|x\n")
    assert (result.exit_code, result.stdout) == (exits.SET_ASIDE, "1 accepted, 0 refused, 2 bad lines\n")
    assert consume(served, "--count", "1", "--text").stdout == "a:b:str|3:x|y\n"


def test_a_refused_push_is_told_with_its_reason(served: Served) -> None:
    result = produce(served, "k", "x")
    assert (result.exit_code, result.stdout) == (exits.NO, "0 accepted, 1 refused\n")
    assert "refused 'k': invalid: a push needs a deadline" in result.stderr


def test_pushes_can_be_made_up(served: Served) -> None:
    options = ("--simulate", "--keys", "5", "--messages", "1200", "--quiet-min", "0.3", "--quiet-max", "0.4")
    result = produce(served, *options, "--rate", "50000")
    assert (result.exit_code, result.stdout) == (exits.FINE, "1,200 accepted, 0 refused\n")
    printed = consume(served, "--count", "5").stdout.splitlines()
    assert {line.split("\t")[0] for line in printed} == {f"key-{number}" for number in range(5)}


def test_a_server_that_is_not_there_is_told_after_the_timeout() -> None:
    result = run("produce", "k", "--delay", "0", "--to", "tcp://127.0.0.1:9", "--timeout", "0.1")
    assert (result.exit_code, result.stdout) == (exits.UNUSABLE, "")
    assert "no answer within 0.1 seconds" in result.stderr


# ── commands per item ─────────────────────────────────────────────────────────────────────


def command(*arguments: str) -> str:
    return " ".join(f"'{argument}'" for argument in (sys.executable, "-c", *arguments))


def test_a_command_gets_the_key_and_the_data_and_no_shell(served: Served, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = 'import os, sys; open(sys.argv[1], "w").write(os.environ["RAMIFY_KEY"] + sys.stdin.read())'
    produce(served, "$(touch x)", "a; `b`", "--delay", "0")
    result = consume(served, "--count", "1", "--exec", command(script, str(out)))
    assert result.exit_code == exits.FINE
    assert out.read_text(encoding="utf-8") == "$(touch x)a; `b`"


def test_a_command_that_fails_ends_it_and_leaves_the_item_to_others(served: Served) -> None:
    produce(served, "k", "x", "--delay", "0")
    result = consume(served, "--count", "1", "--exec", command("raise SystemExit(3)"))
    assert result.exit_code == exits.NO
    assert "k: the command ended with 3" in result.stderr
    assert consume(served, "--count", "1").stdout == "k\tx\n"


def test_with_keep_going_a_failed_item_is_acknowledged(served: Served) -> None:
    produce(served, "k", "x", "--delay", "0")
    failing = command("raise SystemExit(3)")
    assert consume(served, "--count", "1", "--keep-going", "--exec", failing).exit_code == exits.FINE
    produce(served, "l", "y", "--delay", "0")
    assert consume(served, "--count", "1").stdout == "l\ty\n"


# ── a policy of one's own ─────────────────────────────────────────────────────────────────


def test_pushes_may_bring_a_policy_of_their_own(served: Served) -> None:
    for number in ("1", "2", "4"):
        assert (
            produce(served, "k", number, "--json", "--quiet", "0.2", "--merge", "sum").exit_code == exits.FINE
        )
    assert consume(served, "--count", "1").stdout == "k\t7\n"


def test_a_line_may_bring_a_policy_of_its_own_and_an_impossible_one_is_set_aside(served: Served) -> None:
    policies: list[object] = [
        {"quiet": 0.1, "merge": "list:5"},
        {"quiet": 5, "max_wait": 1},
        {"quiet": "soon"},
        {"calm": 5},
        7,
    ]
    lines = [json.dumps({"key": "k", "data": 1, "policy": policy}) for policy in policies]
    result = produce(served, "--file", "-", given="\n".join(lines))
    assert (result.exit_code, result.stdout) == (exits.SET_ASIDE, "1 accepted, 0 refused, 4 bad lines\n")
    for complaint in (
        "line 2: max_wait is below quiet",
        "line 3: policy: Expected `float | null`, got `str`",
        "line 4: a policy is an object with some of quiet, max_wait, max_count, edge, merge",
        "line 5: a policy is an object",
    ):
        assert complaint in result.stderr
    assert consume(served, "--count", "1").stdout == "k\t[1]\n"


# ── what cannot be used ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--inbound", "tcp://0.0.0.0:4444"], "--allow-remote"),
        (["serve", "--outbound", "tcp://*:5444"], "--allow-remote"),
        (["serve", "--metrics", "0.0.0.0:9464"], "--allow-remote"),
        (["serve", "--inbound", "nowhere"], "an endpoint is tcp://HOST:PORT or ipc://PATH"),
        (["serve", "--quiet", "5", "--max-wait", "1"], "max_wait is below quiet"),
        (["serve", "--merge", "median"], "unknown merge 'median'"),
        (["serve", "--edge", "middle"], "unknown edge 'middle'; the edges are trailing, leading, both"),
        (["produce"], "give a KEY, or --file, or --simulate"),
        (["produce", "k", "--simulate"], "give a KEY, or --file, or --simulate"),
        (["produce", "k", "{", "--json"], "not JSON"),
        (["produce", "--simulate", "--quiet-min", "3"], "below --quiet-min"),
        (["produce", "--file", "absent.jsonl"], "No such file"),
        (["produce", "k", "--quiet", "5", "--max-wait", "1"], "max_wait is below quiet"),
        (["produce", "k", "--merge", "median"], "unknown merge 'median'"),
        (["consume", "--exec", "no-such-command-anywhere"], "no such command"),
        (["consume", "--exec", "'"], "No closing quotation"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == exits.UNUSABLE
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["serve", "produce", "consume"])
def test_every_help_has_an_example_and_the_exit_statuses(name: str) -> None:
    shown = run(name, "--help").stdout
    assert f"Example:\n    ramify deferred {name} " in shown
    assert "3  done, but bad lines of an input were set aside" in shown


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.cli.deferred_options.find_spec", lambda name: None)
    result = run("consume")
    assert result.exit_code == exits.UNUSABLE
    assert "pip install 'ramify[deferred]'" in result.stderr


def test_the_commands_load_zeromq_only_when_it_is_needed() -> None:
    code = "import sys, ramify.cli; print(*{'zmq', 'prometheus_client'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "\n"


# ── signals and terminals ─────────────────────────────────────────────────────────────────


def test_sigterm_ends_a_consumer_and_its_items_are_for_others(served: Served) -> None:
    produce(served, "k", "x", "--delay", "0")
    endless = command("import signal; print(1, flush=True); signal.pause()")
    arguments = ["consume", "--from", served.outbound, "--exec", endless]
    with subprocess.Popen([*RAMIFY, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n", "the command is at work"
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
    assert consume(served, "--count", "1").stdout == "k\tx\n"


def test_a_terminal_sees_how_far_a_journal_was_read(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path / "journal") as queue:
        queue.push("k", b"\xc0", 1e9)
    ours, theirs = pty.openpty()
    anywhere = ["--inbound", "tcp://127.0.0.1:0", "--outbound", "tcp://127.0.0.1:0"]
    command = [*RAMIFY, "serve", *anywhere, "--journal", str(tmp_path / "journal")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"waiting 1" not in shown:
            shown += os.read(ours, 65_536)
        process.terminate()
        assert process.wait(SECONDS) == 0
    os.close(ours)
    before, _, _ = shown.partition(b"1 item in ")
    assert b"reading " in before, "the bar is there until the journal is read"


def test_a_terminal_gets_a_live_line() -> None:
    ours, theirs = pty.openpty()
    anywhere = ["--inbound", "tcp://127.0.0.1:0", "--outbound", "tcp://127.0.0.1:0"]
    with subprocess.Popen([*RAMIFY, "serve", *anywhere], stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"waiting 0" not in shown:
            shown += os.read(ours, 65_536)
        process.terminate()
        assert process.wait(SECONDS) == 0
    os.close(ours)
    assert b"in 0 (0/s)  out 0 (0/s done)" in shown
    assert b"MiB" in shown
