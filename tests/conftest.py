"""What all tests share: how Hypothesis tries and tells what failed; one Spark, one Redis, one Mosquitto."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.services import mosquitto, redis_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Not derandomised: every run tries new seeds, and a failure prints the blob that brings it back.
settings.register_profile("default-of-ramify", deadline=None, print_blob=True, derandomize=False)
settings.load_profile("default-of-ramify")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from tests.spark import running_spark  # only where it is needed: importing Spark takes a second

    with running_spark() as session:
        yield session


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def mqtt_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mosquitto(tmp_path_factory.mktemp("mosquitto")) as url:
        yield url
