"""Topic aliases of one connection: numbers that stand for topics, in each direction their own.

They begin and end with the connection. [MQTT-3.3.2-7]
"""

from __future__ import annotations

from msgspec import structs

from ramify.errors import BadPacket
from ramify.mqtt.packets import Publish
from ramify.mqtt.reasons import Reason, protocol_error


class InboundAliases:
    """What the peer's aliases stand for."""

    __slots__ = ("_most", "_topics")

    def __init__(self, most: int) -> None:
        self._most = most
        self._topics: dict[int, str] = {}

    def resolved(self, publish: Publish) -> Publish:
        """The message with its topic, and without its alias."""
        alias = publish.properties.topic_alias
        if alias is None:
            return publish
        if alias > self._most:
            raise BadPacket(
                Reason.TOPIC_ALIAS_INVALID, f"topic alias {alias}, of {self._most} at most", "MQTT-3.3.2-9"
            )
        topic = publish.topic or self._topics.get(alias)
        if topic is None:
            raise protocol_error(f"topic alias {alias} stands for nothing yet")
        self._topics[alias] = topic
        bare = structs.replace(publish.properties, topic_alias=None)
        return structs.replace(publish, topic=topic, properties=bare)


class OutboundAliases:
    """Which aliases stand for our topics: the first topics get them, and keep them."""

    __slots__ = ("_aliases", "_most")

    def __init__(self, most: int) -> None:
        # [MQTT-3.1.2-26] [MQTT-3.1.2-27] [MQTT-3.3.2-11] Not more than the client takes.
        self._most = most
        self._aliases: dict[str, int] = {}

    def known(self, topic: str) -> int | None:
        """The alias that the peer knows for the topic."""
        return self._aliases.get(topic)

    @property
    def free(self) -> int | None:
        """A number that stands for nothing yet, if one is left."""
        return len(self._aliases) + 1 if len(self._aliases) < self._most else None

    def learn(self, topic: str, alias: int) -> None:
        """The peer has been told what a number stands for."""
        self._aliases[topic] = alias
