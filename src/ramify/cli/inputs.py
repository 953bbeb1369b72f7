"""What commands read: files of subscriptions, fields, and events on standard input.

`-` stands for standard input. A bar on the terminal shows how far a long load has come.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from ramify.cli.complaints import complain_of_lines
from ramify.errors import CallerError, InvalidSubscription
from ramify.files import Loaded, load, read
from ramify.files.json_text import json_object
from ramify.files.lines import TOO_LONG, Progress, lines
from ramify.model import Fields
from ramify.patterns import validate_topic
from ramify.router import Router

STANDARD = "-"
SUBSCRIPTIONS_PER_STEP = 10_000


def load_subscriptions(path: str, *, quiet: bool = False) -> Loaded:
    """Read a file of subscriptions; unless told to be quiet, complain of its bad lines."""
    with bar(f"reading {path}") as on_progress, _building():
        loaded = read(sys.stdin.buffer) if path == STANDARD else load(path, on_progress=on_progress)
    if not quiet:
        complain_of_lines(path, loaded)
    return loaded


def router_of(loaded: Loaded) -> Router:
    """A router with all the subscriptions of a file."""
    router, total = Router(), len(loaded.subscriptions)
    with bar("indexing") as on_progress, _building():
        for number, subscription in enumerate(loaded.subscriptions, 1):
            router.add(subscription)
            if number % SUBSCRIPTIONS_PER_STEP == 0:
                on_progress(number / total)
    return router


def fields_of(text: str | None) -> dict[str, Any] | None:
    """Read the value of `--fields`."""
    if text is None:
        return None
    try:
        return json_object(text)
    except InvalidSubscription as refusal:
        raise typer.BadParameter(str(refusal), param_hint="--fields") from None


def checked_topic(topic: str) -> str:
    """A topic that events in some dialect can have."""
    return validate_topic(topic, "glob")


# ── events ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class EventLine:
    """One line of standard input: an event, or what is wrong with it."""

    number: int
    topic: str = ""
    fields: Fields | None = None
    flaw: str | None = None


def events() -> Iterator[EventLine]:
    """Each event on standard input: a JSON object of topic and fields, or a bare topic."""
    for number, line, is_whole in lines(sys.stdin.buffer):
        content = line.strip()
        if not is_whole:
            yield EventLine(number, flaw=TOO_LONG)
        elif content:
            yield _event(number, content)


def _event(number: int, content: bytes) -> EventLine:
    try:
        if not content.startswith(b"{"):
            return EventLine(number, checked_topic(content.decode()))
        event = json_object(content)
        topic, fields = event.get("topic"), event.get("fields")
        if not isinstance(topic, str) or not isinstance(fields, dict | None):
            return EventLine(number, flaw='an event is {"topic": a text, "fields": an object}')
        return EventLine(number, checked_topic(topic), fields)
    except UnicodeDecodeError:
        return EventLine(number, flaw="not UTF-8")
    except CallerError as refusal:
        return EventLine(number, flaw=str(refusal))


# ── long work ──────────────────────────────────────────────────────────────────────────────


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """A bar on the terminal, from the first progress on: short work never draws one."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    bars = Bars(console=Console(stderr=True), transient=True)
    task = bars.add_task(what, total=1.0)

    def advance(share: float) -> None:
        bars.start()
        bars.update(task, completed=share)

    try:
        yield advance
    finally:
        bars.stop()


@contextmanager
def _building() -> Iterator[None]:
    """Let no garbage be looked for among things that are all kept; it would take a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
