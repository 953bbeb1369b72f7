"""Events to the connections of those who get them: encoded once for all who get the same bytes.

Receivers get the same bytes if they speak the same version of MQTT and get the same quality, retain
flag and identifiers. For plain traffic the broker gives the very same deliveries again and again;
what was worked out about them is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ramify.broker import Delivery, Event, FanOut
from ramify.mqtt import PublishTemplate, Version
from ramify.net.mqtt_words import publish_of

if TYPE_CHECKING:
    from ramify.net.mqtt_clients import Client

WORTH_KEEPING = 4
"""Receivers from which on a plan pays."""
MOST_PLANS = 4_096


class _Plan:
    """Deliveries of quality 0 to the same clients, by what bytes they get."""

    __slots__ = ("clients", "deliveries", "receivers", "turn")

    def __init__(self, deliveries: tuple[Delivery, ...], clients: dict[str, Client]) -> None:
        self.deliveries = deliveries
        self.receivers: dict[tuple[Any, ...], list[Callable[[PublishTemplate], object]]] = {}
        self.clients: list[Client] = []
        self.turn = -1
        """The turn in which its clients were last noted down to be written to."""
        for delivery in deliveries:
            client = clients.get(delivery.client)
            if client is not None:
                key = (client.version, delivery.is_retained, delivery.identifiers)
                self.receivers.setdefault(key, []).append(client.deliver)
                self.clients.append(client)


class FanOuts:
    """Hands deliveries to connections."""

    def __init__(self, clients: dict[str, Client], dirty: set[Client], now: Callable[[], float]) -> None:
        self._clients, self._dirty, self._now = clients, dirty, now
        self._plans: dict[int, _Plan] = {}
        self.turn = 0
        """The number of the loop's turn."""
        self.sent = 0

    def carry_out(self, fan_out: FanOut) -> None:
        """Hand an event to everyone who gets it."""
        deliveries = fan_out.deliveries
        self.sent += len(deliveries)
        if len(deliveries) >= WORTH_KEEPING and not deliveries[0].ticket:
            self._by_plan(fan_out.event, deliveries)
        else:
            self._one_by_one(fan_out.event, deliveries)

    def _one_by_one(self, event: Event, deliveries: tuple[Delivery, ...]) -> None:
        templates: dict[tuple[Any, ...], PublishTemplate] = {}
        clients, dirty = self._clients, self._dirty
        for each in deliveries:
            client = clients.get(each.client)
            if client is None:
                continue
            key = (client.version, each.quality, each.is_retained, each.identifiers)
            template = templates.get(key)
            if template is None:
                template = templates[key] = self._template(event, *key)
            client.give(template, each.ticket, each.is_again)
            dirty.add(client)

    def _by_plan(self, event: Event, deliveries: tuple[Delivery, ...]) -> None:
        plan = self._plans.get(id(deliveries))
        if plan is None or plan.deliveries is not deliveries:
            if any(each.ticket for each in deliveries):
                self._one_by_one(event, deliveries)
                return
            plan = self._planned(deliveries)
        for (version, is_retained, identifiers), receivers in plan.receivers.items():
            template = self._template(event, version, 0, is_retained, identifiers)
            for deliver in receivers:
                deliver(template)
        if plan.turn != self.turn:
            plan.turn = self.turn
            self._dirty.update(plan.clients)

    def _planned(self, deliveries: tuple[Delivery, ...]) -> _Plan:
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        plan = self._plans[id(deliveries)] = _Plan(deliveries, self._clients)
        return plan

    def forget(self) -> None:
        """Somebody came or went: plans may name connections that are gone."""
        self._plans.clear()

    def _template(
        self, event: Event, version: Version, quality: int, is_retained: bool, identifiers: tuple[int, ...]
    ) -> PublishTemplate:
        now = 0.0 if event.expires_at is None else self._now()
        return PublishTemplate(publish_of(event, quality, is_retained, identifiers, version, now), version)
