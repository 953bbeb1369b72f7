"""`ramify explain`: why a subscription wants an event, or what it fails by."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ramify.cli import exits
from ramify.cli.documents import show_json
from ramify.cli.inputs import checked_topic, fields_of, load_subscriptions, router_of
from ramify.cli.nearest import nearest
from ramify.cli.options import FieldsText, Json, Subscriptions
from ramify.cli.tables import show_table
from ramify.files import Loaded
from ramify.model import Explanation, Fields
from ramify.router import Router


def explain(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic of the event.")],
    subscriptions: Subscriptions,
    fields: FieldsText = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Explain this subscription only.")
    ] = None,
    misses: Annotated[int, typer.Option("--misses", min=0, help="How many misses to show.")] = 5,
    as_json: Json = False,
) -> None:
    """Say why subscriptions want an event, or by which level or comparison they miss it.

    Without --id, every match is shown, and the misses that come nearest.

    \b
    Example:
      ramify explain plant/7/temp --fields '{"value": 3}' -s subscriptions.jsonl --id hot
    """
    content, topic = fields_of(fields), checked_topic(topic)
    loaded = load_subscriptions(subscriptions)
    router = router_of(loaded)
    if id is None:
        explanations = _explain_all(router, loaded, topic, content, misses)
    else:
        explanations = [router.explain(topic, content, id)]
    _show(topic, explanations, as_json)
    if loaded.bad:
        raise typer.Exit(exits.SET_ASIDE)
    if id is not None and not explanations[0].is_match:
        raise typer.Exit(exits.NO)


def _explain_all(
    router: Router, loaded: Loaded, topic: str, fields: Fields | None, misses: int
) -> list[Explanation]:
    found = {match.subscription.id for match in router.match(topic, fields, collapse_groups=False)}
    matching = [subscription for subscription in loaded.subscriptions if subscription.id in found]
    missing = (subscription for subscription in loaded.subscriptions if subscription.id not in found)
    shown = [*matching, *nearest(missing, topic, misses)]
    return [router.explain(topic, fields, subscription.id) for subscription in shown]


def _show(topic: str, explanations: list[Explanation], as_json: bool) -> None:
    if as_json:
        show_json({"topic": topic, "explanations": [_document(found) for found in explanations]})
    elif explanations:
        show_table(("id", "subscriber", "pattern", "match", "why"), [_row(found) for found in explanations])
    else:
        typer.echo("there are no subscriptions")


def _document(explanation: Explanation) -> dict[str, Any]:
    subscription = explanation.subscription
    return {
        "id": subscription.id,
        "subscriber": subscription.subscriber,
        "pattern": subscription.pattern.text,
        "is_match": explanation.is_match,
        "reason": explanation.reason,
    }


def _row(explanation: Explanation) -> tuple[str, ...]:
    subscription, answer = explanation.subscription, "yes" if explanation.is_match else "no"
    return subscription.id, subscription.subscriber, subscription.pattern.text, answer, explanation.reason
