"""Topics are matched once: of each that was seen lately, the patterns and subscriptions are remembered.

Events come on the same topics over and over. Arrow numbers the topics of a batch together with
those that are known, so that known ones keep their numbers; only the new ones are matched.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ramify.frozen.csr import Lists
from ramify.frozen.levels import Hits
from ramify.frozen.texts import I32, I64, Flags, Texts

STEP = 32_768
"""So many topics are matched in one go: their bytes and numbers stay in the processor's cache."""

REMEMBERED = 4
"""So many times as many topics as a batch has rows are kept: numbering them again has to be worth it."""

Match = Callable[[Texts], Hits]
Judge = Callable[[I32], Flags]


class SeenTopics:
    """What is known of topics, by numbers that hold until the next batch."""

    def __init__(self, match: Match, plain: Lists, has_content: Judge) -> None:
        self._match, self._plain_of, self._has_content = match, plain, has_content
        self._forget()

    def _forget(self) -> None:
        self._topics: pa.Array | None = None
        self.plain = Lists.build([])
        """The subscriptions without criteria that want each topic."""
        self.conditional = Lists.build([])
        """The patterns with criteria behind them that match each topic."""

    def numbers_of(self, topics: pa.Array) -> I64:
        """The number of each row's topic; a null has any."""
        known = self._topics
        if known is not None and (known.type != topics.type or len(known) > REMEMBERED * len(topics)):
            self._forget()
            known = None
        chunks = [topics] if known is None else [known, topics]
        encoded = pa.chunked_array(chunks).dictionary_encode()
        found = encoded.chunk(encoded.num_chunks - 1)
        first = 0 if known is None else len(known)
        self._topics = found.dictionary
        self._learn(found.dictionary.slice(first))
        return np.asarray(found.indices.fill_null(0).to_numpy().astype(np.int64))

    def _learn(self, topics: pa.Array) -> None:
        for start in range(0, len(topics), STEP):
            step = topics.slice(start, STEP)
            hits = self._match(Texts.from_arrow(step))
            rows = np.concatenate([rows for rows, _ in hits])
            patterns = np.concatenate([patterns for _, patterns in hits])
            origins, numbers = self._plain_of.expand(patterns)
            self.plain = self.plain.followed_by(Lists.by_position(rows[origins], numbers, len(step)))
            is_conditional = self._has_content(patterns)
            conditional = Lists.by_position(rows[is_conditional], patterns[is_conditional], len(step))
            self.conditional = self.conditional.followed_by(conditional)
