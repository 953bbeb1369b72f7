"""What parts of a pipeline contradict each other, or the machine, though each of them is well written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ramify.deferred import Edge, Policy
from ramify.errors import CallerError, InvalidFile
from ramify.jobs.description import Coalesce, Pipeline, Sink, Source
from ramify.jobs.formats import SERVED, format_of_source
from ramify.jobs.reading import check_there
from ramify.jobs.stream_checks import check_stream
from ramify.jobs.toml_lines import Path as Keys
from ramify.jobs.writing import check_sink
from ramify.pipeline.coalescing import KEEPS
from ramify.pipeline.durations import microseconds

Found = Iterator[tuple[Keys, str]]

KAFKA_NEEDS = ("kafka.bootstrap.servers", "subscribe")


def contradictions(pipeline: Pipeline) -> Found:
    """Each with the key that it is about."""
    found = [each for check in (_session, _sources, _sinks, _coalesce) for each in check(pipeline)]
    # The stream's own check stops at the first flaw, so it comes last and speaks for itself only.
    yield from found or _stream(pipeline)


def _session(pipeline: Pipeline) -> Found:
    if pipeline.session.master is not None and pipeline.session.remote is not None:
        yield ("session", "remote"), "stands beside session.master; a session has one of them"


def _sources(pipeline: Pipeline) -> Found:
    yield from _source(pipeline.events, ("events",))
    if pipeline.subscriptions.format in (*SERVED, "kafka"):
        yield (
            ("subscriptions", "format"),
            f"is {pipeline.subscriptions.format!r}; subscriptions lie in files or tables",
        )
    else:
        yield from _source(pipeline.subscriptions, ("subscriptions",))
    if pipeline.route.statistics is not None:
        yield from _source(pipeline.route.statistics, ("route", "statistics"))


def _source(source: Source, keys: Keys) -> Found:
    if source.format in SERVED or source.format == "kafka":
        needed = ("url",) if source.format in SERVED else KAFKA_NEEDS
        missing = [name for name in needed if name not in source.options]
        yield from (((*keys, "options"), f"lacks {name!r}, which {source.format} needs") for name in missing)
        return
    if source.path is None:
        yield (*keys, "path"), "is missing"
        return
    yield from _tried((*keys, "path"), lambda: _check_source(source))


def _check_source(source: Source) -> None:
    check_there(source)
    format_of_source(source)


def _sinks(pipeline: Pipeline) -> Found:
    if not pipeline.sinks:
        yield ("sinks",), "is empty; there is at least one"
    sources = (pipeline.events, pipeline.subscriptions)
    named: list[tuple[Keys, Sink]] = [(("sinks", at), sink) for at, sink in enumerate(pipeline.sinks)]
    named += [] if pipeline.rejects is None else [(("rejects",), pipeline.rejects)]
    seen: set[str] = set()
    for keys, sink in named:
        yield from _sink(sink, keys, sources, pipeline.is_stream)
        if sink.path is not None and sink.path in seen:
            yield (*keys, "path"), "is the path of another sink, too"
        seen.add(sink.path or "")


def _sink(sink: Sink, keys: Keys, sources: tuple[Source, ...], is_stream: bool) -> Found:
    if sink.format in SERVED:
        if "url" not in sink.options:
            yield (*keys, "options"), f"lacks 'url', which {sink.format} needs"
    elif sink.path is None and sink.format != "kafka":
        yield (*keys, "path"), "is missing"
    elif not is_stream:
        # A stream goes on where it ended; so what is there already is its own.
        yield from _tried((*keys, "path"), lambda: check_sink(sink, sources))


def _stream(pipeline: Pipeline) -> Found:
    stream = pipeline.stream
    if stream is None:
        return
    if stream.until_caught_up and stream.trigger is not None:
        yield ("stream", "trigger"), "says when the next batch begins, and until_caught_up that there is none"
    yield from _tried(("stream",), lambda: check_stream(pipeline))


def _coalesce(pipeline: Pipeline) -> Found:
    policy = pipeline.coalesce
    if policy is None:
        return
    if not policy.key:
        yield ("coalesce", "key"), "is empty; at least one column tells what comes once"
    yield from _tried(("coalesce",), lambda: policy_of(policy))


def policy_of(coalesce: Coalesce) -> Policy:
    """The deferred queue's own idea of it, which refuses what cannot be."""
    longest = None if coalesce.max_wait is None else microseconds(coalesce.max_wait)
    quiet = microseconds(coalesce.quiet)
    return Policy(quiet, longest, coalesce.max_count, Edge(coalesce.edge), KEEPS[coalesce.keep])


def _tried(keys: Keys, check: Callable[[], object]) -> Found:
    try:
        check()
    except InvalidFile as refusal:
        yield keys, f"is {refusal.path!r}: {refusal.reason}"
    except CallerError as refusal:
        yield keys, f"cannot be: {refusal}"
