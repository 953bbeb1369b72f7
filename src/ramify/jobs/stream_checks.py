"""What can be said against a stream before Spark is started."""

from __future__ import annotations

from ramify.connectors.addresses import parse_address
from ramify.connectors.source_options import source_options
from ramify.errors import CallerError, InvalidFile
from ramify.jobs.checkpoints import place_of_checkpoint
from ramify.jobs.description import Pipeline, Sink, Source, Stream
from ramify.jobs.formats import format_of_sink, format_of_source, local_path
from ramify.jobs.places import shown
from ramify.jobs.reading import check_there
from ramify.pipeline.durations import microseconds

ON_SERVERS = ("redis", "mqtt")


def check_stream(described: Pipeline) -> Stream:
    """Refuse a stream that cannot be; gives what it says of itself."""
    how = described.stream
    if how is None:
        raise CallerError("this pipeline is a batch: it says nothing of a stream")
    if not described.sinks:
        raise CallerError("a stream needs somewhere to write to")
    _check_times(described, how)
    _check_source(described.events)
    _check_source(described.subscriptions)
    sinks = described.sinks if described.rejects is None else (*described.sinks, described.rejects)
    for sink in sinks:
        _check_sink(sink, described.events)
    _check_apart(place_of_checkpoint(described), described.events)
    return how


def _check_times(described: Pipeline, how: Stream) -> None:
    times = [how.trigger, how.watermark, how.refresh]
    if described.coalesce is not None:
        times += [described.coalesce.quiet, described.coalesce.max_wait]
    for each in times:
        if each is not None:
            microseconds(each)


def _check_source(source: Source) -> None:
    if source.format in ON_SERVERS:
        source_options(source.options)
        return
    check_there(source)
    format_of_source(source)


def _check_sink(sink: Sink, events: Source) -> None:
    format = format_of_sink(sink)
    if format in ON_SERVERS:
        address = parse_address(sink.options.get("url", ""), {})
        if address.kind != format:
            raise CallerError(f"{address} is no address of {format}")
    elif sink.path is None:
        if format != "kafka":
            raise CallerError(f"{format} is written to a path, and none is given")
    else:
        _check_apart(sink.path, events)


def _check_apart(place: str, events: Source) -> None:
    """Refuse to write where events are read: each micro-batch would feed the next."""
    ours, theirs = local_path(place), None if events.path is None else local_path(events.path)
    if ours is None or theirs is None:
        return
    ours, theirs = ours.resolve(), theirs.resolve()
    if ours == theirs or theirs in ours.parents:
        raise InvalidFile(place, f"lies in {shown(events)}, where events are read from; write elsewhere")
