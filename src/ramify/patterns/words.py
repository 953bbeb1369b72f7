"""One text object for all patterns that share a word.

A hundred thousand patterns use a few hundred words. Split apart, each pattern would hold its own
copies; shared, a set takes half the memory, and a match meets the same few objects again and
again in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

# Not sys.intern: newer Pythons never let go of a text that was interned once.
MOST_SHARED = 65_536

_shared: dict[str, str] = {}


def levels_of(words: Iterable[str], wildcards: Container[str]) -> tuple[str | None, ...]:
    """The levels that words stand for: the shared word itself, or `None` for a wildcard."""
    if len(_shared) > MOST_SHARED:
        _shared.clear()  # starting anew costs some sharing, and nothing else
    share = _shared.setdefault
    return tuple([None if word in wildcards else share(word, word) for word in words])
