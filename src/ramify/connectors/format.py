"""`spark.read.format("ramify")`, and `readStream`, `write`, `writeStream`: Redis Streams and MQTT.

A Python Data Source: no jar is needed. Python on the executors must have ramify and the client
libraries. See docs/streaming.md for the options and for what is guaranteed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from ramify.connectors.addresses import MQTT
from ramify.errors import CallerError, NotInstalled

if TYPE_CHECKING:
    from ramify.connectors.sinks import SinkWriter

NAME = "ramify"
LIBRARIES = {"redis": "redis", "paho": "paho-mqtt"}


def register(spark: SparkSession) -> None:
    """Make the format `ramify` known to a session; once is enough, and twice does no harm."""
    for module, package in LIBRARIES.items():
        if find_spec(module) is None:
            raise NotInstalled(package, "is not installed; pip install 'ramify[streams]'")
    spark.dataSource.register(RamifySource)


class RamifySource(DataSource):
    """Redis Streams and MQTT, as tables and streams of events."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return NAME

    def schema(self) -> str:
        """The columns of events."""
        from ramify.connectors.entries import SCHEMA

        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Read a Redis Stream as a table."""
        from ramify.connectors.redis_source import RedisReader
        from ramify.connectors.source_options import source_options

        options = source_options(self.options)
        if options.address.kind == MQTT:
            raise CallerError(f"{options.address}: an MQTT broker keeps no history; read it with readStream")
        return RedisReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Read Redis Streams or MQTT as a stream."""
        from ramify.connectors.mqtt_source import MqttStreamReader
        from ramify.connectors.redis_source import RedisStreamReader
        from ramify.connectors.source_options import source_options

        options = source_options(self.options)
        if options.address.kind != MQTT:
            return RedisStreamReader(options)
        if not self.options.get("log"):
            raise CallerError(
                f"{options.address} needs the option 'log': a folder, best next to the checkpoint, "
                "for messages that were received and not yet taken"
            )
        return MqttStreamReader(options)

    def writer(self, schema: StructType, overwrite: bool) -> SinkWriter:
        """Write a table."""
        if overwrite:
            raise CallerError("format ramify only appends; write with mode('append')")
        return self.streamWriter(schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> SinkWriter:  # noqa: N802
        """Write a stream."""
        from ramify.connectors.sinks import SinkWriter
        from ramify.connectors.source_options import sink_options

        return SinkWriter(sink_options(self.options, schema.names))
