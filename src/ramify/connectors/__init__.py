"""The Spark format `ramify`: Redis Streams and MQTT as sources and sinks, without a jar.

See docs/streaming.md for what each of them guarantees.
"""

from __future__ import annotations

import ramify.pipeline  # noqa: F401  (says clearly what is missing where there is no Spark)
from ramify.connectors.format import register

__all__ = ["register"]
