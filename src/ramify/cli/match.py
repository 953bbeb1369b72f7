"""`ramify match`: who wants an event, or each event of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ramify.cli import exits
from ramify.cli.documents import data_text, entry_document, show_json, subscription_document
from ramify.cli.inputs import (
    STANDARD,
    EventLine,
    checked_topic,
    events,
    fields_of,
    load_subscriptions,
    router_of,
)
from ramify.cli.options import FieldsText, Json, Subscriptions
from ramify.cli.tables import plain, printable, show_table
from ramify.files import Loaded
from ramify.model import Entry, Fields, Subscription
from ramify.router import Router

Found = Sequence[Subscription] | Sequence[Entry]

_MATCH_COLUMNS = ("id", "subscriber", "pattern", "dialect", "data")
_ENTRY_COLUMNS = ("subscriber", "pattern", "ref_count", "data")


def match(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic; - reads events, one a line.")],
    subscriptions: Subscriptions,
    fields: FieldsText = None,
    search: Annotated[
        bool, typer.Option("--search", help="Group what a subscriber holds on one pattern.")
    ] = False,
    all_members: Annotated[
        bool, typer.Option("--all-members", help="Show every member of a share group, not one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which subscriptions want an event.

    An event on standard input is a JSON object {"topic": …, "fields": {…}}, or a bare topic.

    \b
    Example:
      ramify match plant/7/temp --fields '{"value": 31}' -s subscriptions.jsonl
    """
    if topic == STANDARD and (subscriptions == STANDARD or fields is not None):
        raise typer.BadParameter(
            "with -, events and their fields come from standard input, and subscriptions from a file"
        )
    content = fields_of(fields)
    loaded = load_subscriptions(subscriptions)
    finder = _Finder(loaded, search, not all_members)
    if topic == STANDARD:
        is_clean = _answer_stream(finder, as_json)
    else:
        is_clean = _answer_one(finder, checked_topic(topic), content, as_json)
    if loaded.bad or not is_clean:
        raise typer.Exit(exits.SET_ASIDE)


class _Finder:
    """Asks a router, and puts what it finds in the order of the file."""

    def __init__(self, loaded: Loaded, search: bool, collapse_groups: bool) -> None:
        self._router: Router = router_of(loaded)
        self._places = {subscription.id: place for place, subscription in enumerate(loaded.subscriptions)}
        self._search, self._collapse_groups = search, collapse_groups

    def find(self, topic: str, fields: Fields | None) -> Found:
        if self._search:
            entries = self._router.search(topic, fields, collapse_groups=self._collapse_groups)
            return sorted(entries, key=lambda entry: min(self._places[id] for id in entry.data))
        matches = self._router.match(topic, fields, collapse_groups=self._collapse_groups)
        return sorted((match.subscription for match in matches), key=lambda found: self._places[found.id])

    def document(self, topic: str, found: Found) -> dict[str, Any]:
        name = "entries" if self._search else "matches"
        return {"topic": topic, name: [_document(item) for item in found]}

    @property
    def columns(self) -> tuple[str, ...]:
        return _ENTRY_COLUMNS if self._search else _MATCH_COLUMNS


def _answer_one(finder: _Finder, topic: str, fields: Fields | None, as_json: bool) -> bool:
    found = finder.find(topic, fields)
    if as_json:
        show_json(finder.document(topic, found))
    elif found:
        show_table(finder.columns, [_row(item) for item in found])
    else:
        typer.echo("no subscription wants this event")
    return True


def _answer_stream(finder: _Finder, as_json: bool) -> bool:
    """Answer each event as it comes; say whether all of them could be read."""
    is_clean = True
    for event in events():
        if event.flaw is not None:
            is_clean = False
            typer.echo(f"-:{event.number}: {printable(event.flaw)}", err=True)
        else:
            _answer_event(finder, event, as_json)
    return is_clean


def _answer_event(finder: _Finder, event: EventLine, as_json: bool) -> None:
    found = finder.find(event.topic, event.fields)
    if as_json:
        show_json(finder.document(event.topic, found))
        return
    typer.echo(f"{printable(event.topic)}: {len(found)}")
    if found:
        first, *others = [[printable(cell) for cell in _row(item)] for item in found]
        typer.echo("  " + plain(first, others).replace("\n", "\n  "))


def _document(item: Subscription | Entry) -> dict[str, Any]:
    return entry_document(item) if isinstance(item, Entry) else subscription_document(item)


def _row(item: Subscription | Entry) -> tuple[str, ...]:
    if isinstance(item, Entry):
        return item.subscriber, item.pattern, str(item.ref_count), data_text(item.data)
    pattern = item.pattern
    return item.id, item.subscriber, pattern.text, pattern.dialect, data_text(item.data)
