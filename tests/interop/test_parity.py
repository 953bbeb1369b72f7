"""Random subscriptions and events through real connections come to exactly the reference's deliveries."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

from ramify.criteria import parse_criteria
from ramify.criteria.evaluate import holds
from ramify.model import ALWAYS
from ramify.mqtt import Version
from ramify.mqtt.packets import PingReq, PingResp, Publish
from ramify.patterns import reference
from tests.net.mqtt_served import Talker, served_broker

WORDS = ("a", "b", "c")
WILD = {
    "mqtt": ("/", ("+",), "#"),
    "path": ("/", ("*",), None),
    "glob": ("/", ("*", "a*"), None),
    "nats": (".", ("*",), ">"),
    "wamp": (".", ("",), None),
}
CRITERIA = ("", "", "n > 4", "side = 'back'", "n in (1, 2, 3) and side != 'lay'", "not exists(side)")


def random_pattern(random: Random, dialect: str) -> str:
    separator, wilds, rest = WILD[dialect]
    levels = [random.choice(WORDS if random.random() < 0.6 else wilds) for _ in range(random.randint(1, 3))]
    if rest is not None and random.random() < 0.3:
        levels.append(rest)
    return separator.join(levels) or "a"


def random_event(random: Random) -> tuple[str, dict[str, object]]:
    topic = random.choice("/.").join(random.choice(WORDS) for _ in range(random.randint(1, 4)))
    fields: dict[str, object] = {"n": random.randint(0, 8)}
    if random.random() < 0.7:
        fields["side"] = random.choice(["back", "lay"])
    return topic, fields


def wants(subscription: tuple[str, str, str], topic: str, fields: dict[str, object]) -> bool:
    """Whether a subscription wants an event, slowly and obviously."""
    dialect, pattern, where = subscription
    criteria = parse_criteria(where) if where else ALWAYS
    return reference.matches(dialect, pattern, topic) and holds(criteria, fields)


def asked_for(client: Talker, subscription: tuple[str, str, str]) -> None:
    """Subscribe in the way of the client's version."""
    dialect, pattern, where = subscription
    options = {"dialect": dialect, **({"where": where} if where else {})}
    if client.version is Version.V5:
        reasons = client.subscribe(pattern, user=tuple(options.items())).reasons
    else:
        reasons = client.subscribe(f"$ramify/{json.dumps(options)}/{pattern}").reasons
    assert reasons == (0,), subscription


def heard(client: Talker) -> Counter[tuple[str, bytes]]:
    """Everything that has come so far."""
    client.say(PingReq())
    seen: Counter[tuple[str, bytes]] = Counter()
    while (packet := client.hear()) != PingResp():
        assert isinstance(packet, Publish)
        seen[packet.topic, packet.payload] += 1
    return seen


def test_real_clients_get_what_the_reference_says() -> None:
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    random = Random(seed)
    with served_broker("--sys-interval", "0") as broker:
        clients = [Talker(broker.port, (Version.V311, Version.V5)[each % 2]) for each in range(12)]
        wanted: list[list[tuple[str, str, str]]] = []
        for number, client in enumerate(clients):
            client.connect(f"c{number}")
            dialects = [random.choice(list(WILD)) for _ in range(6)]
            mine = [(each, random_pattern(random, each), random.choice(CRITERIA)) for each in dialects]
            # Subscribing again under the same pattern and dialect replaces: the last one counts.
            wanted.append(
                list(
                    {
                        (dialect, pattern): (dialect, pattern, where) for dialect, pattern, where in mine
                    }.values()
                )
            )
            for subscription in mine:
                asked_for(client, subscription)
        events = [random_event(random) for _ in range(300)]
        clients[0].say(*(Publish(topic, json.dumps(fields).encode()) for topic, fields in events))
        seen = [heard(client) for client in clients]
        for subscriptions, deliveries in zip(wanted, seen, strict=True):
            expected = Counter(
                (topic, json.dumps(fields).encode())
                for topic, fields in events
                if any(wants(each, topic, fields) for each in subscriptions)
            )
            assert deliveries == expected
        assert sum(map(len, seen)) > 100
        for client in clients:
            client.close()
