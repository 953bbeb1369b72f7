"""The same routing over whole tables, on Spark: route, coalesce, measure, backtest.

Every transform takes DataFrames and gives DataFrames. See docs/pipeline.md for what they mean.
"""

from __future__ import annotations

from importlib.util import find_spec

from ramify.errors import NotInstalled

if find_spec("pyspark") is None:
    raise NotInstalled("pyspark", "ramify.pipeline needs it: pip install 'ramify[spark]'")

from ramify.pipeline.coalescing import Coalesced, coalesce, coalesce_with_rejects
from ramify.pipeline.comparing import backtest
from ramify.pipeline.delivery_ids import with_delivery_id
from ramify.pipeline.java import Java, find_java
from ramify.pipeline.measuring import read_statistics, statistics
from ramify.pipeline.refreshing import LiveSubscriptions, live
from ramify.pipeline.rejects import count_rejects
from ramify.pipeline.routing import Routed, route, route_with_rejects
from ramify.pipeline.sessions import session
from ramify.pipeline.streaming import split_tagged

__all__ = [
    "Coalesced",
    "Java",
    "LiveSubscriptions",
    "Routed",
    "backtest",
    "coalesce",
    "coalesce_with_rejects",
    "count_rejects",
    "find_java",
    "live",
    "read_statistics",
    "route",
    "route_with_rejects",
    "session",
    "split_tagged",
    "statistics",
    "with_delivery_id",
]
