"""Which addresses are served without being asked twice."""

from __future__ import annotations

import pytest

from ramify.deferred.endpoints import checked_address, checked_endpoint
from ramify.errors import InvalidEndpoint


@pytest.mark.parametrize(
    ("endpoint", "bound"),
    [
        ("tcp://127.0.0.1:4444", "tcp://127.0.0.1:4444"),
        ("tcp://127.9.9.9:0", "tcp://127.9.9.9:0"),
        ("tcp://localhost:4444", "tcp://127.0.0.1:4444"),
        ("tcp://[::1]:4444", "tcp://[::1]:4444"),
        ("ipc:///tmp/x", "ipc:///tmp/x"),
    ],
)
def test_this_machine_is_bound(endpoint: str, bound: str) -> None:
    assert checked_endpoint(endpoint, allow_remote=False) == bound


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "*", "10.0.0.1", "eth0", "[::]", "example.org", "127.0.0.1.example.org"]
)
def test_others_are_refused_unless_asked_for(host: str) -> None:
    with pytest.raises(InvalidEndpoint, match="--allow-remote"):
        checked_endpoint(f"tcp://{host}:4444", allow_remote=False)
    assert checked_endpoint(f"tcp://{host}:4444", allow_remote=True) == f"tcp://{host}:4444"


@pytest.mark.parametrize(
    "endpoint",
    ["", "127.0.0.1:4444", "udp://127.0.0.1:1", "tcp://127.0.0.1", "tcp://:1", "tcp://a:70000", "ipc://"],
)
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidEndpoint):
        checked_endpoint(endpoint)


def test_an_address_has_a_host_and_a_port() -> None:
    assert checked_address("localhost:9464", allow_remote=False) == ("127.0.0.1", 9464)
    with pytest.raises(InvalidEndpoint, match=r"0\.0\.0\.0"):
        checked_address("0.0.0.0:9464", allow_remote=False)
