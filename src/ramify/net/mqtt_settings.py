"""How MQTT clients are served: every limit in one place."""

from __future__ import annotations

from msgspec import Struct, field

from ramify.broker import Limits as BrokerLimits
from ramify.mqtt import Limits as MqttLimits


class Settings(Struct, frozen=True):
    """What a server allows."""

    mqtt: MqttLimits = field(default_factory=MqttLimits)
    broker: BrokerLimits = field(default_factory=BrokerLimits)
    connections: int = 16_000
    strangers: int = 2_000
    """Connections that have not yet been let in."""
    connects_per_second: float = 2_000.0
    """From one address; as many may come at once. 0 is no limit."""
    write_buffer: int = 262_144
    """Bytes that may wait in a socket before its client counts as slow."""
    origins: tuple[str, ...] = ()
    """Web sites whose pages may connect over WebSocket, beside this machine's own."""
    keep_alive: int = 0
    """The longest keep alive in seconds that is agreed to (MQTT 5); 0 agrees to any, and to none."""
    system_interval: float = 10.0
    """Seconds between two rounds of $SYS topics; 0 is never."""
    grace: float = 5.0
    """Seconds that clients have to take their leave when the server stops."""
