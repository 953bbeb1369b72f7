"""Where a session cannot be had, an error says so, names the place, and does not take long."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ramify import pipeline
from ramify.errors import CallerError, NoSpark, RamifyError
from ramify.pipeline import sessions


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    for name in ("SPARK_REMOTE", "HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def closed() -> Iterator[str]:
    """An address that is taken, so that nobody else listens there, and at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address where somebody listens and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("scheme", ["spark://", "k8s://https://"])
def test_a_master_that_nobody_is_at_is_named(nothing_runs: None, closed: str, scheme: str) -> None:
    with pytest.raises(NoSpark, match=f"{scheme}{closed}: nobody answers .*refused"):
        pipeline.session(scheme + closed)


@pytest.mark.parametrize("where", ["closed", "silent"])
def test_a_remote_that_does_not_answer_is_named_without_its_token(
    nothing_runs: None, where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = request.getfixturevalue(where)
    monkeypatch.setattr(sessions, "PATIENCE", 0.3)
    with pytest.raises(NoSpark) as refusal:
        pipeline.session(remote=f"sc://{address}/;token=secret")
    assert str(refusal.value) == f"sc://{address}: no Spark Connect answers within 0.3 s"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"master": "local", "remote": "sc://h/;token=secret"}, "not both: 'local' and 'sc://h'"),
        ({"remote": "http://h:1"}, "a remote is sc://host:port"),
        ({"remote": "sc://h:1/path"}, "is no address of Spark Connect"),
        ({"master": "spark://h"}, "names no host and port"),
        ({"master": "spark://h:1,g:x"}, "names no host and port"),
        ({"master": "yarn"}, "HADOOP_CONF_DIR"),
    ],
    ids=str,
)
def test_an_address_that_is_none_is_refused(nothing_runs: None, given: dict[str, str], said: str) -> None:
    with pytest.raises(CallerError) as refusal:
        pipeline.session(**given)  # type: ignore[arg-type]
    assert said in str(refusal.value)


def test_several_masters_and_addresses_without_a_port_are_read() -> None:
    assert sessions.addresses_of("spark://a:7077,[::1]:7078") == [("a", 7077), ("::1", 7078)]
    assert sessions.addresses_of("k8s://https://cluster.example") == [("cluster.example", 443)]
    assert sessions.addresses_of("k8s://http://c:80/path") == [("c", 80)]
    assert sessions.addresses_of("local[2]") == sessions.addresses_of("yarn") == []


def test_the_running_session_is_given_again_and_another_place_is_refused(spark: SparkSession) -> None:
    assert pipeline.session() is spark
    assert pipeline.session("local[2]") is spark
    for given in ({"master": "local[7]"}, {"remote": "sc://h:1"}):
        with pytest.raises(RamifyError, match=r"a session on local\[2\] is running"):
            pipeline.session(**given)  # type: ignore[arg-type]


def test_only_a_local_master_is_bound_to_loopback() -> None:
    assert sessions._settings("local[2]", {})["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in sessions._settings("spark://h:7077", {})


def test_options_for_java_are_kept_beside_the_quiet_log() -> None:
    given = {sessions.JAVA_OPTIONS: "-Xss4m"}
    options = sessions._settings("local", given)[sessions.JAVA_OPTIONS]
    assert options.startswith("-Xss4m -Dlog4j2.configurationFile=file:")
    assert sessions.LOG.is_file()
