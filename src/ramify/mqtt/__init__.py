"""MQTT 3.1.1 and 5.0 without any I/O: bytes become packets, packets become bytes, in either direction.

`Decoder` and `encode` are the codec. `Connection` is what a server keeps of one client while it is
connected. `PublishTemplate` is one message for many receivers.
"""

from ramify.mqtt.boundary import Answer, Closed, Delivered, Input, Limits
from ramify.mqtt.connection import Connection
from ramify.mqtt.decode import Decoder
from ramify.mqtt.encode import encode
from ramify.mqtt.packets import Packet, Version
from ramify.mqtt.reasons import Reason
from ramify.mqtt.template import PublishTemplate
from ramify.mqtt.topics import pattern_of

__all__ = [
    "Answer",
    "Closed",
    "Connection",
    "Decoder",
    "Delivered",
    "Input",
    "Limits",
    "Packet",
    "PublishTemplate",
    "Reason",
    "Version",
    "encode",
    "pattern_of",
]
