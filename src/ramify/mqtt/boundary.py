"""What passes between a connection and the broker behind it, besides packets."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from ramify.errors import BadPacket
from ramify.mqtt.packets import Ack, Connect, Publish, SubAck, Subscribe, UnsubAck, Unsubscribe
from ramify.mqtt.reasons import Reason


class Limits(Struct, frozen=True):
    """What a server takes from a client, and gives it at most."""

    maximum_packet_size: int = 1_048_576
    receive_maximum: int = 1_024
    """Messages of QoS 1 and 2 that a client may have unacknowledged; MQTT 3.1.1 has no such limit."""
    send_maximum: int = 1_024
    """The same for what is sent to a client, which may ask for less."""
    topic_alias_maximum: int = 64
    """Topic aliases that a client may use."""
    send_alias_maximum: int = 64
    """The same for what is sent to a client, which must ask for them."""
    connect_timeout: float = 10.0
    """Seconds that a client has to send its CONNECT."""
    checks_payload_format: bool = True
    """Whether a payload that is said to be UTF-8 must be."""


class Closed(Struct, frozen=True):
    """The connection is over."""

    reason: Reason
    publishes_will: bool
    """Whether a will is to be published, after its delay: an accepted client did not say good-bye."""
    session_expiry: int | None = None
    """What the client's DISCONNECT said about it; `None` leaves it as it was."""
    error: BadPacket | None = None
    """What was wrong with the client's last packet."""


Input = Connect | Publish | Ack | Subscribe | Unsubscribe | Closed
"""What a client may say that is the broker's to answer."""

Answer = Ack | SubAck | UnsubAck
"""What the broker says to packets with an id."""


class Delivered(Enum):
    """What became of a message to a client."""

    SENT = "sent"
    TOO_LARGE = "larger than the client takes: it counts as delivered"
    NO_ROOM = "not now: the client has too many unacknowledged, or is not connected"
