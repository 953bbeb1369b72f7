"""The JSON that `--json` prints: stable shapes, in UTF-8 whatever the terminal speaks."""

from __future__ import annotations

from typing import Any

import typer
from msgspec.json import encode

from ramify.files import BadLine
from ramify.model import Entry, Subscription


def show_json(document: Any) -> None:
    """Print a document on one line."""
    typer.echo(encode(document))


def subscription_document(subscription: Subscription) -> dict[str, Any]:
    """A subscription, with the columns of its file."""
    return {
        "id": subscription.id,
        "subscriber": subscription.subscriber,
        "pattern": subscription.pattern.text,
        "dialect": subscription.pattern.dialect.value,
        "match": subscription.pattern.match,
        "where": subscription.criteria.text or None,
        "group": subscription.group,
        "data": subscription.data,
    }


def entry_document(entry: Entry) -> dict[str, Any]:
    """All that one subscriber holds on one pattern."""
    return {
        "subscriber": entry.subscriber,
        "pattern": entry.pattern,
        "ref_count": entry.ref_count,
        "data": entry.data,
    }


def bad_line_document(bad: BadLine) -> dict[str, Any]:
    """A line that was set aside."""
    return {"line": bad.line, "reason": bad.reason, "text": bad.text}


def data_text(data: Any) -> str:
    """The data of a subscription, for a cell of a table."""
    return "" if data is None else encode(data).decode()
