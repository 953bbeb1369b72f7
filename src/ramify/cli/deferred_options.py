"""What the commands of `ramify deferred` share."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from ramify.errors import NotInstalled

Inbound = Annotated[str, typer.Option("--inbound", metavar="ENDPOINT", help="Where producers connect.")]
Outbound = Annotated[str, typer.Option("--outbound", metavar="ENDPOINT", help="Where consumers connect.")]
Journal = Annotated[
    str | None, typer.Option("--journal", metavar="FOLDER", help="Keep everything there, over restarts.")
]
SpeakText = Annotated[bool, typer.Option("--text", help="Speak the plain text form as well.")]
Metrics = Annotated[
    str | None, typer.Option("--metrics", metavar="HOST:PORT", help="Serve figures for Prometheus there.")
]
AllowRemote = Annotated[
    bool, typer.Option("--allow-remote", help="Bind addresses that other machines can reach.")
]
Quiet = Annotated[float | None, typer.Option("--quiet", help="Seconds from the latest push to the deadline.")]
MaxWait = Annotated[float | None, typer.Option("--max-wait", help="Seconds from the first push at most.")]
MaxCount = Annotated[int | None, typer.Option("--max-count", help="Pushes that make a key due.")]
EdgeName = Annotated[str, typer.Option("--edge", help="trailing, leading or both.")]
MergeName = Annotated[str, typer.Option("--merge", help="last, first, sum, min, max, count or list:BOUND.")]
OwnQuiet = Annotated[
    float | None, typer.Option("--quiet", help="A policy of its own: seconds from this push to the deadline.")
]
OwnMaxWait = Annotated[
    float | None, typer.Option("--max-wait", help="… seconds from the first push at most.")
]
OwnMaxCount = Annotated[int | None, typer.Option("--max-count", help="… pushes that make the key due.")]
OwnEdge = Annotated[str | None, typer.Option("--edge", help="… trailing, leading or both.")]
OwnMerge = Annotated[
    str | None, typer.Option("--merge", help="… last, first, sum, min, max, count or list:BOUND.")
]
MaxKeys = Annotated[int, typer.Option("--max-keys", min=1, help="Keys that wait at most.")]
MaxBytes = Annotated[int, typer.Option("--max-bytes", min=1, help="Bytes of data that are held at most.")]
InFlight = Annotated[
    int, typer.Option("--in-flight", min=1, help="Items that consumers hold at most, all together.")
]
ConsumerTimeout = Annotated[
    float, typer.Option("--consumer-timeout", min=0.01, help="Seconds of silence until one is dead.")
]
CommitRecords = Annotated[
    int, typer.Option("--commit-records", min=1, help="Records that make a group for one flush.")
]
CommitDelay = Annotated[
    float, typer.Option("--commit-delay", min=0.0, help="Seconds that a group waits at most.")
]
Tick = Annotated[
    float,
    typer.Option("--tick", min=0.0, help="Seconds between two evictions at least; 0: at every deadline."),
]
Grace = Annotated[float, typer.Option("--grace", min=0.0, help="Seconds for acknowledgements after SIGTERM.")]
KeyArgument = Annotated[str | None, typer.Argument(metavar="KEY", help="The key to push.")]
DataArgument = Annotated[str | None, typer.Argument(metavar="DATA", help="Its data, a text.")]
JsonData = Annotated[bool, typer.Option("--json", help="DATA is JSON.")]
Delay = Annotated[
    float | None, typer.Option("--delay", help="Seconds until it is due, where a push does not say.")
]
PushFile = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="FILE", help="Lines with key, data, delay or deadline, version, policy; - is stdin."
    ),
]
TextLines = Annotated[
    bool, typer.Option("--text", help="The lines have the form key:microseconds:type|payload.")
]
Simulate = Annotated[bool, typer.Option("--simulate", help="Make up pushes.")]
MadeUpKeys = Annotated[int, typer.Option("--keys", min=1, help="Made up: different keys.")]
MadeUpMessages = Annotated[int, typer.Option("--messages", min=0, help="Made up: pushes.")]
QuietMin = Annotated[float, typer.Option("--quiet-min", min=0.0, help="Made up: shortest delay.")]
QuietMax = Annotated[float, typer.Option("--quiet-max", min=0.0, help="Made up: longest delay.")]
Rate = Annotated[
    float | None, typer.Option("--rate", min=0.001, help="Pushes a second; as many as possible if none.")
]
Seed = Annotated[int, typer.Option("--seed", help="Made up: the same seed makes the same pushes.")]
ToEndpoint = Annotated[str, typer.Option("--to", metavar="ENDPOINT", help="The server's inbound endpoint.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds to wait for answers.")]
PrintText = Annotated[bool, typer.Option("--text", help="Print key:type|length:data.")]
ExecCommand = Annotated[
    str | None,
    typer.Option(
        "--exec", metavar="COMMAND", help="Run this for each item, without a shell; data on its stdin."
    ),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="With --exec: acknowledge even if the command fails.")
]
Count = Annotated[
    int | None, typer.Option("--count", min=1, help="End after so many items; never if not given.")
]
Window = Annotated[
    int | None, typer.Option("--window", min=1, help="Items to hold at a time; 1 with --exec.")
]
FromEndpoint = Annotated[
    str, typer.Option("--from", metavar="ENDPOINT", help="The server's outbound endpoint.")
]


def needs_zeromq() -> None:
    """Say what to install where the libraries of the extra are not there."""
    for module, name in (("zmq", "pyzmq"), ("prometheus_client", "prometheus-client")):
        if find_spec(module) is None:
            raise NotInstalled(name, "is not installed; pip install 'ramify[deferred]'")
