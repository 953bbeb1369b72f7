"""The broker beside others, under one load generator in C: `python -m bench mqtt_broker`.

python -m bench.mqtt_broker [--quick] [--only NAME …]

Every broker runs on the first core and the generator on the second, one broker at a time. Rates by the
clock suffer from whatever else the machine does; rates by the broker's own processor time do not, and
the ratios are of those. Mosquitto is Debian's; aedes comes from npm and amqtt from PyPI, into
`bench/peers`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent
PEERS = FOLDER / "peers"
PATIENCE = 30.0
TICKS = os.sysconf("SC_CLK_TCK")

LOADS: dict[str, tuple[str, ...]] = {
    "one to one": ("--messages", "200000"),
    "ten pairs": ("--publishers", "10", "--subscribers", "10", "--messages", "200000"),
    "one to a hundred": ("--subscribers", "100", "--messages", "5000"),
    "20,000 wildcards": ("--messages", "100000", "--wildcards", "20000"),
    "one to one, QoS 1": ("--qos", "1", "--messages", "60000"),
    "ten pairs, QoS 1": ("--publishers", "10", "--subscribers", "10", "--qos", "1", "--messages", "60000"),
    "one to a hundred, QoS 1": ("--subscribers", "100", "--qos", "1", "--messages", "2000"),
}
AT_LEAST = {"mosquitto": 0.4, "aedes": 1.0, "amqtt": 4.0}
"""How many times a peer's rate we want to reach."""

Command = Callable[[int, Path], list[str]]


def ramify(port: int, folder: Path) -> list[str]:
    """Us; the generator subscribes one client to all wildcards."""
    options = ["--max-subscriptions", "50000", "--log-level", "error"]
    return [sys.executable, "-m", "ramify", "serve", "--port", str(port), *options]


def mosquitto(port: int, folder: Path) -> list[str]:
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "max_queued_messages 0"]
    if os.geteuid() == 0:
        lines.append("user root")
    (folder / "mosquitto.conf").write_text("\n".join([*lines, "max_inflight_messages 1000", ""]))
    return [shutil.which("mosquitto") or "/usr/sbin/mosquitto", "-c", str(folder / "mosquitto.conf")]


def aedes(port: int, folder: Path) -> list[str]:
    home = PEERS / "aedes"
    if not (home / "node_modules" / "aedes").exists():
        home.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(home), "aedes@0.51"]
        subprocess.run(npm, check=True)
    serve = f"require('net').createServer(require('aedes')().handle).listen({port}, '127.0.0.1')"
    return ["env", f"NODE_PATH={home / 'node_modules'}", "node", "-e", serve]


def amqtt(port: int, folder: Path) -> list[str]:
    home = PEERS / "amqtt"
    if not (home / "bin" / "amqtt").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin/python"), "-m", "pip", "install", "-qq", "amqtt"], check=True)
    settings = f"listeners:\n  default:\n    type: tcp\n    bind: 127.0.0.1:{port}\n"
    plugins = "plugins:\n  amqtt.plugins.authentication.AnonymousAuthPlugin:\n    allow_anonymous: true\n"
    (folder / "amqtt.yaml").write_text(settings + plugins)
    return [str(home / "bin" / "amqtt"), "-c", str(folder / "amqtt.yaml")]


BROKERS: dict[str, Command] = {"ramify": ramify, "mosquitto": mosquitto, "aedes": aedes, "amqtt": amqtt}


def generator(folder: Path) -> str:
    """The load generator, compiled."""
    program = str(folder / "mqtt_load")
    subprocess.run(["cc", "-O2", "-o", program, str(FOLDER / "mqtt_load.c")], check=True)
    return program


@contextmanager
def running(command: Command) -> Iterator[tuple[int, int]]:
    """The port and the process id of a broker on the first core."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            ["taskset", "-c", "0", *command(port, Path(folder))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port)
            yield port, process.pid
        finally:
            process.kill()
            process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nobody listens on port {port}")


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(program: str, broker: Command, load: tuple[str, ...]) -> dict[str, Any] | None:
    """What the generator says, with the deliveries for each second of the broker's processor time.

    What it takes to connect and subscribe is found by a run of few messages, and is not counted.
    """
    with running(broker) as (port, pid):
        _, setting_up = _run(program, port, pid, (*load, "--messages", "10"))
        said, taken = _run(program, port, pid, load)
        return said and {**said, "cpu_rate": said["delivered"] / max(0.01, taken - setting_up)}


def _run(program: str, port: int, pid: int, load: tuple[str, ...]) -> tuple[dict[str, Any] | None, float]:
    before = _processor_time(pid)
    command = ["taskset", "-c", "1", program, "--port", str(port), *load]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    said = None if done.returncode else json.loads(done.stdout)
    return said, _processor_time(pid) - before


def compare(program: str, what: str, names: list[str], repeats: int, shrink: int) -> None:
    """One load for every broker, in turns, so that the machine's moods are everyone's."""
    load = LOADS[what]
    if shrink > 1 and "--wildcards" not in load:  # of wildcards each topic is to come more than once
        place = load.index("--messages") + 1
        load = (*load, "--messages", str(int(load[place]) // shrink))
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            run = measure(program, BROKERS[name], load)
            if run is not None:
                runs[name].append(run)
    print(f"\n{what}")
    for name in names:
        print(f"  {name:10} " + _shown(runs[name], runs["ramify"], AT_LEAST.get(name)))


def _shown(runs: list[dict[str, Any]], ours: list[dict[str, Any]], target: float | None) -> str:
    if not runs:
        return "did not finish"
    rate, cpu = (median(run[key] for run in runs) for key in ("rate", "cpu_rate"))
    line = f"{rate:10,.0f}/s   {cpu:10,.0f} per second of processor time"
    if target is None or not ours:
        return line
    ratio = median(run["cpu_rate"] for run in ours) / cpu
    return f"{line}   we: {ratio:.2f}×, target {target:g}× {'reached' if ratio >= target else 'missed'}"


def latencies(program: str, names: list[str], rate: int) -> None:
    """How long an event takes at a rate that every broker can bear."""
    print(f"\nlatency at {rate:,} events/s, one to one")
    for name in names:
        load = ("--rate", str(rate), "--messages", str(rate * 3))
        run = measure(program, BROKERS[name], load)
        keys = ("p50_us", "p90_us", "p99_us", "p999_us")
        shown = (
            "did not finish" if run is None else "  ".join(f"{key[:-3]} {run[key]:,.0f} µs" for key in keys)
        )
        print(f"  {name:10} {shown}")


def main(quick: bool = False) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", default=quick)
    parser.add_argument("--only", nargs="*", default=[], choices=list(BROKERS), help="these beside us")
    options = parser.parse_args()
    chosen = options.only or (["mosquitto"] if options.quick else list(BROKERS))
    names = ["ramify", *(name for name in chosen if name != "ramify")]
    with tempfile.TemporaryDirectory() as folder:
        program = generator(Path(folder))
        for what in LOADS:
            compare(program, what, names, 1 if options.quick else 5, 5 if options.quick else 1)
        latencies(program, names, 2_000)


if __name__ == "__main__":
    main()
