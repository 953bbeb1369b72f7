"""`ramify serve`, as a person would use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ramify.cli import app, exits
from ramify.mqtt import Version
from ramify.mqtt.packets import Publish
from tests.net.mqtt_served import ServedBroker, Talker, served_broker, talker


def refused(*arguments: str) -> str:
    """What is said when it does not start."""
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert result.exit_code == exits.UNUSABLE
    assert result.stdout == ""
    return result.stderr


def test_help_shows_an_example() -> None:
    result = CliRunner().invoke(app, ["serve", "--help"])
    assert result.exit_code == exits.FINE
    assert "ramify serve --port 1883 --ws-port 8080" in result.stdout


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_others_are_not_served_without_authentication(host: str) -> None:
    assert "no authentication is configured" in refused("--host", host, "--port", "0")


def test_a_port_that_is_taken_is_named() -> None:
    with served_broker() as broker:
        said = refused("--port", str(broker.port), "--log-level", "error")
        assert f"mqtt://127.0.0.1:{broker.port}: cannot be bound" in said


def test_tls_needs_files_and_files_need_a_port(tmp_path: Path) -> None:
    assert "TLS needs --tls-cert and --tls-key" in refused("--tls-port", "0")
    missing = str(tmp_path / "none.pem")
    files = ("--tls-cert", missing, "--tls-key", missing)
    assert "used nowhere" in refused("--port", "0", *files)
    said = refused("--port", "0", "--tls-port", "0", "--log-level", "error", *files)
    assert f"{missing}: cannot be used for TLS" in said


def test_the_log_is_json_lines_with_stable_names() -> None:
    broker = ServedBroker("--log-level", "debug")
    with talker(broker.port, "ann") as client:
        client.socket.sendall(b"\x00\x00")
        client.hear()
        client.hear_end()
    status, log = broker.stop()
    assert status == exits.FINE
    lines = [json.loads(line) for line in log.splitlines()]
    lines = [line for line in lines if line["event"] != "server.few_files"]
    names = [line["event"] for line in lines]
    assert names == [
        "server.started",
        "client.connected",
        "client.bad_packet",
        "client.disconnected",
        "server.stopped",
    ]
    assert lines[2]["client"] == "ann"
    assert all({"timestamp", "level"} <= line.keys() for line in lines)


def test_system_topics_tell_how_it_is_doing() -> None:
    with served_broker("--sys-interval", "0.1") as broker, talker(broker.port, "ann", Version.V311) as client:
        client.subscribe("$SYS/broker/#")
        client.say(Publish("a", b""))
        wanted = {
            "$SYS/broker/clients/connected": b"1",
            "$SYS/broker/messages/received": b"1",
            "$SYS/broker/subscriptions/count": b"1",
        }
        seen: dict[str, bytes] = {}
        while not wanted.items() <= seen.items():
            topic, payload = client.hear_event()
            seen[topic] = payload
        assert seen["$SYS/broker/version"].startswith(b"ramify ")
        assert int(seen["$SYS/broker/bytes/sent"]) > 0


def test_a_longer_keep_alive_than_allowed_is_shortened() -> None:
    with served_broker("--keep-alive", "60", "--sys-interval", "0") as broker:
        for asked, agreed in [(0, 60), (61, 60), (60, None)]:
            client = Talker(broker.port)
            assert client.connect("ann", keep_alive=asked).properties.server_keep_alive == agreed
            client.close()
