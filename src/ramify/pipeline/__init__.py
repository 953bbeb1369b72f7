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
from ramify.pipeline.java import Java, find_java
from ramify.pipeline.measuring import read_statistics, statistics
from ramify.pipeline.rejects import count_rejects
from ramify.pipeline.routing import Routed, route, route_with_rejects
from ramify.pipeline.session import local_session

__all__ = [
    "Coalesced",
    "Java",
    "Routed",
    "backtest",
    "coalesce",
    "coalesce_with_rejects",
    "count_rejects",
    "find_java",
    "local_session",
    "read_statistics",
    "route",
    "route_with_rejects",
    "statistics",
]
