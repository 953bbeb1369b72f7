"""A Spark session with settings that suit the pipeline: on this machine, on a cluster, or through Connect.

Any other session will do as well: `route` and its kin take the one that their tables belong to.
Spark itself may wait for a minute or for ever where nobody answers, so an address is tried first.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, is_remote

from ramify.errors import CallerError, NoSpark, NotInstalled
from ramify.pipeline.java import find_java

PATIENCE = 10.0
"""So many seconds an address has to answer."""

LOCAL = "local[*]"
LOG = Path(__file__).with_name("log4j2.properties")
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
PYTHON = "spark.pyspark.python"

EVERYWHERE = {
    # The vectorised index works best on batches of this size.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    # Times mean the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # Coalescing a stream keeps its state there; Spark's other store cannot.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
ON_A_CLUSTER = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
ON_THIS_MACHINE = {
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.driver.memory": "2g",
    # A laptop's name often leads nowhere; its own address always does, and nobody else reaches it.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def session(
    master: str | None = None,
    remote: str | None = None,
    *,
    name: str = "ramify",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The running session, or a new one: on this machine, or where `master` or `remote` says.

    `master` is `spark://host:port`, `yarn`, `k8s://…` or `local[n]`, and `remote` is
    `sc://host:port`. Raises `NoJava` without a Java, and `NoSpark` if nobody answers.
    """
    if master is not None and remote is not None:
        raise CallerError(f"a session has a master or a remote, not both: {master!r} and {_shown(remote)!r}")
    running = SparkSession.getActiveSession()
    if running is not None:
        _check_same(running, master, remote)
        return running
    if master is None and remote is None:
        remote = os.environ.get("SPARK_REMOTE")
    if remote is not None:
        return _connected(remote, settings or {})
    return _started(master, name, settings or {})


def _check_same(running: SparkSession, master: str | None, remote: str | None) -> None:
    """Refuse another place than the session has that runs: a process has one at a time."""
    where = "Spark Connect" if is_remote() else running.sparkContext.master
    if (remote is not None and not is_remote()) or (master is not None and master != where):
        raise CallerError(f"a session on {where} is running; stop it before one on {master or remote}")


# ── a Spark of our own ────────────────────────────────────────────────────────────────────


def _started(master: str | None, name: str, settings: Mapping[str, str]) -> SparkSession:
    os.environ["JAVA_HOME"] = str(find_java().home)
    builder = SparkSession.builder.appName(name)
    # What spark-submit started has its master, and settings that we would override.
    is_submitted = master is None and "PYSPARK_GATEWAY_PORT" in os.environ
    master = master or LOCAL
    if not is_submitted:
        _check_reachable(master)
        builder = builder.master(master)
    for key, value in ({**EVERYWHERE, **settings} if is_submitted else _settings(master, settings)).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise NoSpark(master, f"Spark does not start: {_reason(error)}") from error


def _settings(master: str, given: Mapping[str, str]) -> dict[str, str]:
    is_local = master.startswith("local")
    settings = {**EVERYWHERE, **ON_A_CLUSTER, **(ON_THIS_MACHINE if is_local else {}), **given}
    # Workers on this machine are of the same Python, and see the same packages. Of others we cannot
    # know; PySpark reads this setting only where spark-submit has started it.
    python = settings.get(PYTHON, sys.executable if is_local else None)
    if python is not None:
        os.environ.setdefault("PYSPARK_PYTHON", python)
    options = settings.get(JAVA_OPTIONS, "")
    if "log4j2.configurationFile" not in options:
        settings[JAVA_OPTIONS] = f"{options} -Dlog4j2.configurationFile={LOG.as_uri()}".strip()
    return settings


def _check_reachable(master: str) -> None:
    """Refuse a master that nobody is at; of several, one is enough."""
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise CallerError("yarn is found by HADOOP_CONF_DIR or YARN_CONF_DIR, and neither is set")
    seen = []
    for host, port in addresses_of(master):
        try:
            with socket.create_connection((host, port), timeout=PATIENCE):
                return
        except OSError as refusal:
            seen.append(f"{host}:{port} {refusal.strerror or refusal}")
    if seen:
        raise NoSpark(master, f"nobody answers ({'; '.join(seen)})")


def addresses_of(master: str) -> list[tuple[str, int]]:
    """The hosts and ports that a master's address names, if it names any."""
    scheme, _, rest = master.partition("://")
    if scheme not in ("spark", "k8s"):
        return []
    secure = 80 if rest.startswith("http://") else 443
    found = []
    for each in re.sub("^https?://", "", rest).split(","):
        host, _, port = each.partition("/")[0].rpartition(":") if ":" in each else (each, "", "")
        if not host or not (port.isdecimal() if port or scheme == "spark" else True):
            raise CallerError(f"{master!r} names no host and port; a master is spark://host:port")
        found.append((host.strip("[]"), int(port) if port else secure))
    return found


def _reason(error: Exception) -> str:
    said = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
    return next((line.strip() for line in str(said).splitlines() if line.strip()), type(error).__name__)


# ── somebody else's ───────────────────────────────────────────────────────────────────────


def _connected(remote: str, settings: Mapping[str, str]) -> SparkSession:
    if not remote.startswith("sc://"):
        raise CallerError(f"a remote is sc://host:port, not {_shown(remote)!r}")
    _check_answers(remote)
    builder = SparkSession.builder.remote(remote)
    for key, value in {**EVERYWHERE, **settings}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        raise NoSpark(_shown(remote), f"Spark Connect refuses: {_reason(error)}") from error


def _check_answers(remote: str) -> None:
    """Shake hands with a server: Spark's own client would try for many minutes."""
    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder

        channel = DefaultChannelBuilder(remote).toChannel()
    except ImportError as missing:
        raise NotInstalled("pyspark[connect]", f"pip install 'ramify[connect]' ({missing})") from missing
    except PySparkException as refusal:
        raise CallerError(f"{_shown(remote)!r} is no address of Spark Connect: {_reason(refusal)}") from None
    with closing(channel):
        try:
            grpc.channel_ready_future(channel).result(timeout=PATIENCE)
        except grpc.FutureTimeoutError:
            raise NoSpark(_shown(remote), f"no Spark Connect answers within {PATIENCE:g} s") from None


def _shown(remote: str) -> str:
    """An address without what follows it: that may hold a token."""
    return remote.partition("/;")[0]
