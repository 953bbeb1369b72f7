"""What a pipeline is made of, as values: sources, subscriptions, route, coalesce, sinks.

Options of a command and tables of a TOML file become the same values, so a job does not know
which of them described it. Nothing here touches Spark, a file or a network.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Format = Literal["parquet", "jsonl", "csv", "delta", "iceberg", "kafka", "redis", "mqtt"]
Strategy = Literal["auto", "broadcast", "join"]
Keep = Literal["last", "first"]
EdgeName = Literal["leading", "trailing", "both"]


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where rows are read from, in a batch or as a stream."""

    path: str | None = None
    """A file, a folder, a glob; of Delta a folder, of Iceberg a table's name. Kafka and Redis have none."""
    format: Format | None = None
    """`None` is what the suffix of the path says."""
    schema: str | None = None
    """The columns as DDL, such as `topic string, ts timestamp`; files are looked at if there is none."""
    options: dict[str, str] = {}
    """For the reader, under its own names: `url` and `stream` of Redis, `kafka.bootstrap.servers`, …"""


class Route(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How events find their subscriptions."""

    strategy: Strategy = "auto"
    fields: str | None = None
    """The column with the content, if it is not `fields`."""
    identity: tuple[str, ...] | None = None
    """The columns that tell an event from others."""
    statistics: Source | None = None
    """What `ramify stats` wrote, to plan by."""


class Coalesce(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How deliveries of one key become one; the names are those of `pipeline.coalesce`."""

    key: tuple[str, ...]
    quiet: str | float
    max_wait: str | float | None = None
    max_count: int | None = None
    keep: Keep = "last"
    edge: EdgeName = "trailing"
    order: tuple[str, ...] = ()


class Sink(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where rows are written to."""

    path: str | None = None
    """A folder; of Iceberg a table's name. Kafka, Redis and MQTT have none."""
    format: Format | None = None
    """`None` is what the suffix of the path says, and Parquet if it says nothing."""
    overwrite: bool = False
    """Whether what is there already is replaced; otherwise a batch refuses to begin."""
    partition_by: tuple[str, ...] = ()
    options: dict[str, str] = {}


class Stream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What only a stream has."""

    checkpoint: str
    """The folder where a stream remembers how far it has come."""
    trigger: str | float | None = None
    """How long a micro-batch waits for the next; `None` is not at all."""
    until_caught_up: bool = False
    """Whether the stream ends once it has read all that is there."""
    watermark: str | float = "10s"
    """How late an event may be and still be coalesced."""
    refresh: str | float = "5s"
    """How often the subscriptions are looked at, whether they have changed."""


class Session(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which Spark does the work."""

    master: str | None = None
    """Such as `local[4]` or `spark://host:7077`; `None` is this machine, all cores."""
    remote: str | None = None
    """Spark Connect, such as `sc://host:15002`."""
    settings: dict[str, str] = {}


class Pipeline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole pipeline: events come in, find their subscriptions, are coalesced and written."""

    events: Source
    subscriptions: Source
    sinks: tuple[Sink, ...]
    route: Route = Route()
    coalesce: Coalesce | None = None
    rejects: Sink | None = None
    """Where rows that were set aside go, each with the reason; without it they are only counted."""
    stream: Stream | None = None
    """`None` is a batch."""
    session: Session = Session()
    name: str = "ramify"

    @property
    def is_stream(self) -> bool:
        """Whether the pipeline goes on until it is stopped."""
        return self.stream is not None


class CoalesceJob(Struct, frozen=True, kw_only=True):
    """Deliveries, or events, of one key become one."""

    deliveries: Source
    coalesce: Coalesce
    sinks: tuple[Sink, ...]
    rejects: Sink | None = None


class StatisticsJob(Struct, frozen=True, kw_only=True):
    """Topics and values are counted."""

    events: Source
    sinks: tuple[Sink, ...]
    fields: str | None = None
    top: int = 1_000
    rejects: Sink | None = None


class BacktestJob(Struct, frozen=True, kw_only=True):
    """Events are routed to two sets of subscriptions, and the answers compared."""

    events: Source
    current: Source
    candidate: Source
    sinks: tuple[Sink, ...]
    route: Route = Route()
    rejects: Sink | None = None


Job = Pipeline | CoalesceJob | StatisticsJob | BacktestJob


SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
}


def format_by_suffix(path: str | None) -> Format | None:
    """What the end of a path says; a compressed file and a glob such as `day=*/part-*.csv.gz` say it too."""
    for part in reversed((path or "").rstrip("/").split("/")):
        name = part.lower().rstrip("*")
        for packed in (".gz", ".zst", ".bz2", ".snappy"):
            name = name.removesuffix(packed)
        found = next((format for suffix, format in SUFFIXES.items() if name.endswith(suffix)), None)
        if found is not None:
            return found
    return None
