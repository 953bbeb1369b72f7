"""Whole jobs: read what is described, route and coalesce it on Spark, and write what comes of it.

The commands and files of pipelines stand on this. See docs/jobs.md and docs/streaming.md.
"""

from __future__ import annotations

import ramify.pipeline  # noqa: F401  (says clearly what is missing where there is no Spark)
from ramify.jobs.streaming import MicroBatch, RunningStream, stream

__all__ = ["MicroBatch", "RunningStream", "stream"]
