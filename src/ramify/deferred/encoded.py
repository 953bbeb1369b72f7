"""Merges over data that stays encoded, so that a server reads data only where a merge must."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ramify.deferred.merge import FIRST, LAST, Merge, parse_merge
from ramify.deferred.policy import Policy, parse_edge
from ramify.deferred.wire import PushPolicy, decode_data, encode_data


@dataclass(frozen=True, slots=True)
class EncodedMerge(Merge):
    """A merge whose data is encoded before and after."""

    inner: Merge = LAST

    def check(self, key: str, data: Any) -> None:
        """Refuse what the merge itself refuses."""
        self.inner.check(key, decode_data(data))


def over_encoded(policy: Policy) -> Policy:
    """The same policy, for data that is encoded."""
    if policy.merge in (LAST, FIRST):
        return policy  # They choose between data and never look into it.
    return replace(policy, merge=_encoded(policy.merge))


@lru_cache(maxsize=1_000)
def policy_of(said: PushPolicy) -> Policy:
    """The policy that a push brings, for data that is encoded; an impossible one is refused."""
    edge, merge = parse_edge(said.edge), parse_merge(said.merge)
    return over_encoded(Policy(said.quiet, said.max_wait, said.max_count, edge, merge))


def _encoded(merge: Merge) -> EncodedMerge:
    def step(inner: Callable[[Any, Any], Any]) -> Callable[[bytes, bytes], bytes]:
        return lambda waiting, data: encode_data(inner(decode_data(waiting), decode_data(data)))

    def start(data: bytes) -> bytes:
        return encode_data(merge.start(decode_data(data)))

    return EncodedMerge(merge.name, start, step(merge.newer), step(merge.older), inner=merge)
