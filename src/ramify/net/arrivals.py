"""How many may come in how short a time: a bucket of tokens for each address."""

from __future__ import annotations

MOST_ADDRESSES = 10_000


class Arrivals:
    """Counts arrivals by address, and forgets addresses that were quiet."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._buckets: dict[str, tuple[float, float]] = {}
        """What is left of the tokens, and when that was."""

    def admit(self, address: str, now: float) -> bool:
        """Whether one more from there may come now; each second brings as many tokens as may come in it."""
        if not self._rate:
            return True
        tokens, since = self._buckets.get(address, (self._rate, now))
        tokens = min(self._rate, tokens + (now - since) * self._rate)
        is_admitted = tokens >= 1
        self._buckets[address] = (tokens - is_admitted, now)
        if len(self._buckets) > MOST_ADDRESSES:
            self._forget(now)
        return is_admitted

    def _forget(self, now: float) -> None:
        """A bucket that is full again says nothing; if all are busy, the oldest half goes."""
        busy = {address: bucket for address, bucket in self._buckets.items() if now - bucket[1] < 1}
        if len(busy) > MOST_ADDRESSES:
            busy = dict(list(busy.items())[MOST_ADDRESSES // 2 :])
        self._buckets = busy
