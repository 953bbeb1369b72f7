"""A set of subscriptions that no longer changes: compact, memory-mapped, asked by whole batches.

`match_batch` takes Arrow arrays and works on them with numpy, many topics to an operation, so
it is several times faster than asking a `Router` topic by topic. A file of it opens in
milliseconds however large it is, and processes on one machine share its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
import pyarrow as pa

from ramify.frozen import file
from ramify.frozen.build import build_arrays
from ramify.frozen.content import FrozenContent, Pairs
from ramify.frozen.csr import Lists
from ramify.frozen.globs import FrozenGlobs
from ramify.frozen.levels import Hits, LevelTrie
from ramify.frozen.probes import LevelProbes
from ramify.frozen.seen import STEP, SeenTopics
from ramify.frozen.tables import NOTHING, Arrays, TextTable
from ramify.frozen.texts import I64, Texts, split
from ramify.frozen.words import Words
from ramify.model import LevelRules, Statistics, Subscription

MANY = 1_000_000
"""So many matches at most are told at a time, unless a single event has more."""

MATCHES = pa.schema([pa.field("row", pa.int64()), pa.field("subscription_id", pa.large_string())])


class FrozenIndex:
    """The subscriptions of a moment, and who among them wants each event of a batch."""

    def __init__(self, arrays: Arrays, about: bytes) -> None:
        self._arrays, self._about = arrays, about
        said = msgspec.json.decode(about)
        salt = int(said["salt"])
        self.realm: str = said["realm"]
        self._exact = TextTable.from_arrays("exact", arrays, salt)
        self._words = TextTable.from_arrays("words", arrays, salt)
        self._levels = [
            (
                rules,
                LevelProbes(rules, f"probes{at}", arrays, salt),
                LevelTrie.from_arrays(f"levels{at}", rules, arrays, salt),
            )
            for at, rules in enumerate(LevelRules(*each) for each in said["rules"])
        ]
        self._globs = FrozenGlobs(arrays, salt)
        self._plain = Lists.from_arrays("plain", arrays)
        self._content = FrozenContent(arrays, salt)
        self._seen = SeenTopics(self._match, self._plain, self._content.is_behind)

    @classmethod
    def build(
        cls,
        subscriptions: Iterable[Subscription],
        *,
        realm: str = "default",
        statistics: Statistics | None = None,
        seed: int = 0,
    ) -> Self:
        """Freeze subscriptions; the seed salts the hashes of texts that strangers choose."""
        return cls(*build_arrays(list(subscriptions), realm, statistics, seed))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Map a saved index into memory."""
        return cls(*file.read(path))

    def save(self, path: str | Path) -> None:
        """Write the index to one Arrow IPC file."""
        file.write(path, self._arrays, self._about)

    def __len__(self) -> int:
        return len(self.subscription_ids)

    @property
    def subscription_ids(self) -> pa.Array:
        """The id of each subscription, by the number that `match_numbers` gives."""
        return self._arrays["subscriptions.id"]

    @property
    def subscribers(self) -> pa.Array:
        """The subscriber of each subscription, by its number."""
        return self._arrays["subscriptions.subscriber"]

    def match_batch(self, topics: pa.Array, fields: pa.Array | None = None) -> pa.RecordBatch:
        """The rows of the batch and the ids of the subscriptions that want them; no share group is collapsed.

        `fields` is the content of each row: an Arrow struct, a map, or JSON texts. A null topic
        matches nothing.
        """
        rows, numbers = self.match_numbers(topics, fields)
        ids = self.subscription_ids.take(pa.array(numbers))
        return pa.record_batch([pa.array(rows), ids], schema=MATCHES)

    def match_numbers(self, topics: pa.Array, fields: pa.Array | None = None) -> Pairs:
        """The same, with the numbers of the subscriptions instead of their ids."""
        found = list(self.match_steps(topics, fields))
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        return np.concatenate([rows for rows, _ in found]), np.concatenate([numbers for _, numbers in found])

    def match_steps(self, topics: pa.Array, fields: pa.Array | None = None) -> Iterator[Pairs]:
        """The same, in pieces that fit into memory whatever there is in all; a row is in one of them."""
        topics, fields = _one_array(topics), None if fields is None else _one_array(fields)
        if not len(topics):
            return
        numbers = self._seen.numbers_of(topics)
        is_valid = topics.is_valid().to_numpy(zero_copy_only=False) if topics.null_count else None
        for begin, end in _cut(self._seen.plain.counts(numbers)):
            content = None if fields is None else fields.slice(begin, end - begin)
            rows, found = self._step(numbers[begin:end], content)
            if is_valid is not None:
                kept = is_valid[begin + rows]
                rows, found = rows[kept], found[kept]
            yield rows + begin, found

    def _step(self, topics: I64, fields: pa.Array | None) -> Pairs:
        rows, found = self._seen.plain.expand(topics)
        conditional_rows, patterns = self._seen.conditional.expand(topics)
        if not len(patterns):
            return rows, found
        conditional_rows, more = self._content.find(conditional_rows, patterns, fields, len(topics))
        return np.concatenate([rows, conditional_rows]), np.concatenate([found, more])

    def _match(self, topics: Texts) -> Hits:
        hits: Hits = []
        found = self._exact.look_up(topics, topics.starts, topics.lengths)
        rows = np.flatnonzero(found != NOTHING)
        hits.append((rows, self._arrays["exact.patterns"][found[rows]]))
        self._match_levels(topics, hits)
        self._globs.find(topics, hits)
        return hits

    def _match_levels(self, topics: Texts, hits: Hits) -> None:
        is_internal = (topics.data[topics.starts] == ord("$")) & (topics.lengths > 0)
        split_at: dict[str, Words] = {}
        for rules, probes, trie in self._levels:
            words = split_at.get(rules.separator)
            if words is None:
                parts = split(topics, rules.separator)
                ids = self._words.look_up(topics, parts.words.starts, parts.words.lengths)
                words = Words(parts.first, parts.depths, ids, parts.words.lengths == 0, is_internal)
                split_at[rules.separator] = words
            probes.find(words, hits)
            trie.find(words, hits)


def _cut(counts: I64) -> Iterator[tuple[int, int]]:
    """Stretches of rows: no more than a step, and with no more matches than can be told at a time."""
    told = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        room = told[begin] - counts[begin] + MANY
        end = max(begin + 1, min(begin + STEP, int(np.searchsorted(told, room, side="right"))))
        yield begin, end
        begin = end


def _one_array(array: Any) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = array if isinstance(array, pa.Array) else pa.array(array)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
