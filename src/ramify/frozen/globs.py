"""Finds the globs that match a batch of topics, by the same keys as the live index.

`abc*` and `*abc` are looked up at each length in use. Any other glob is filed under its rarest
bit, as `index.grams` chose it; a gram is at most eight bytes, so a topic's grams are the
numbers that stand at each of its bytes. UTF-8 never lets one character's bytes look like
part of another's, so bytes may stand in for characters everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ramify.frozen.csr import Lists, ranges
from ramify.frozen.levels import Hits
from ramify.frozen.tables import NOTHING, Arrays, IntTable, TextTable
from ramify.frozen.texts import I32, I64, MASKS, Texts
from ramify.index.grams import GRAM_SIZES, GramIndex
from ramify.index.lengths import MANY_LENGTHS
from ramify.model import Glob

_ENDS = ("prefixes", "suffixes", "heads", "tails")


class FrozenGlobs:
    """Globs, found by topics."""

    def __init__(self, arrays: Mapping[str, Any], salt: int) -> None:
        self._arrays = arrays
        self._anchors = {end: TextTable.from_arrays(f"globs.{end}", arrays, salt) for end in _ENDS}
        self._lists = {end: Lists.from_arrays(f"globs.{end}.globs", arrays) for end in _ENDS}
        self._grams = {
            size: (
                IntTable.from_arrays(f"globs.gram{size}", arrays, salt),
                Lists.from_arrays(f"globs.gram{size}.globs", arrays),
            )
            for size in GRAM_SIZES
        }
        self._piece_starts: I64 = arrays["globs.piece_starts"]
        self._pieces: dict[int, tuple[bytes, ...]] = {}

    def find(self, topics: Texts, hits: Hits) -> None:
        """Add every (topic, pattern) pair."""
        numbers: I32 = self._arrays["globs.numbers"]
        for glob in self._arrays["globs.every"]:
            hits.append((np.arange(len(topics)), np.full(len(topics), numbers[glob], dtype=np.int32)))
        for end in ("prefixes", "suffixes"):
            hits.extend((rows, numbers[globs]) for rows, globs in self._anchored(end, topics))
        candidates = [pair for end in ("heads", "tails") for pair in self._anchored(end, topics)]
        candidates += [pair for size in GRAM_SIZES for pair in self._with_gram(size, topics)]
        hits.extend((rows, numbers[globs]) for rows, globs in self._verified(topics, candidates))

    def _anchored(self, end: str, topics: Texts) -> Iterable[tuple[I64, I32]]:
        """Each topic with the globs that stand under its first, or last, so many bytes."""
        table, lists = self._anchors[end], self._lists[end]
        for length in self._arrays[f"globs.{end}.in_use"]:
            rows = np.flatnonzero(topics.lengths >= length)
            starts = topics.starts[rows]
            if end in ("suffixes", "tails"):
                starts = starts + topics.lengths[rows] - length
            found = table.look_up(topics, starts, np.full(len(rows), length))
            yield _expanded(lists, rows, found)

    def _with_gram(self, size: int, topics: Texts) -> Iterable[tuple[I64, I32]]:
        table, lists = self._grams[size]
        if not len(lists.items):
            return
        counts = np.maximum(topics.lengths - size + 1, 0)
        rows = np.repeat(np.arange(len(topics)), counts)
        grams = topics.eights()[ranges(topics.starts, counts)] & MASKS[size]
        found = table.look_up(grams)
        met = np.flatnonzero(found != NOTHING)
        # A gram that a topic has twice leads to the same globs twice.
        pairs = np.unique(rows[met] << np.int64(32) | found[met])
        yield _expanded(lists, pairs >> np.int64(32), (pairs & np.int64(0xFFFFFFFF)).astype(np.int32))

    def _verified(self, topics: Texts, candidates: list[tuple[I64, I32]]) -> Iterable[tuple[I64, I32]]:
        data = topics.data.tobytes()
        shortest: I32 = self._arrays["globs.shortest"]
        for rows, globs in candidates:
            long_enough = topics.lengths[rows] >= shortest[globs]
            rows, globs = rows[long_enough], globs[long_enough]
            starts = topics.starts[rows]
            ends = starts + topics.lengths[rows]
            checks = zip(globs.tolist(), starts.tolist(), ends.tolist(), strict=True)
            kept = [_matches(self._pieces_of(glob), data, start, end) for glob, start, end in checks]
            is_match = np.array(kept, dtype=np.bool_)
            yield rows[is_match], globs[is_match]

    def _pieces_of(self, glob: int) -> tuple[bytes, ...]:
        pieces = self._pieces.get(glob)
        if pieces is None:
            start, stop = self._piece_starts[glob : glob + 2].tolist()
            pieces = tuple(self._stored_pieces[start:stop].to_pylist())
            self._pieces[glob] = pieces
        return pieces

    @cached_property
    def _stored_pieces(self) -> pa.Array:
        return self._arrays["globs.pieces"]


def build_globs(globs: list[tuple[int, Glob]], salt: int) -> Arrays:
    """The arrays that `FrozenGlobs` reads, for globs and the numbers of their patterns."""
    laid = [Glob(tuple(piece.encode().decode("latin-1") for piece in glob.pieces)) for _, glob in globs]
    pure = _pure_ends(laid)
    under: dict[str, dict[str, list[int]]] = {end: {} for end in (*_ENDS, *map(str, GRAM_SIZES))}
    every: list[int] = []
    others = GramIndex()
    for at, glob in enumerate(laid):
        if not any(glob.pieces):
            every.append(at)
        elif (end := pure.get(at)) is not None:
            under[end].setdefault(max(glob.pieces, key=len), []).append(at)
        else:
            others.add(glob, at)
    for place, key, glob_items in others.filed():
        under[place].setdefault(key, []).extend(glob_items)
    arrays: Arrays = {
        "globs.numbers": np.array([number for number, _ in globs], dtype=np.int32),
        "globs.every": np.array(every, dtype=np.int32),
        "globs.shortest": np.array([sum(map(len, glob.pieces)) for glob in laid], dtype=np.int32),
        **_stored(laid),
    }
    for end in _ENDS:
        arrays |= _anchor_arrays(end, under[end], salt)
    for size in GRAM_SIZES:
        arrays |= _gram_arrays(size, under[str(size)], salt)
    return arrays


def _pure_ends(globs: list[Glob]) -> dict[int, str]:
    """The globs that are a prefix or a suffix alone, at the lengths that most of them have."""
    found: dict[int, str] = {}
    for at, glob in enumerate(globs):
        if len(glob.pieces) == 2 and any(glob.pieces) and not all(glob.pieces):
            found[at] = "prefixes" if glob.pieces[0] else "suffixes"
    lengths = Counter((end, len("".join(globs[at].pieces))) for at, end in found.items())
    common = {
        end: {
            length
            for length, _ in Counter({n: c for (e, n), c in lengths.items() if e == end}).most_common(
                MANY_LENGTHS
            )
        }
        for end in ("prefixes", "suffixes")
    }
    return {at: end for at, end in found.items() if len("".join(globs[at].pieces)) in common[end]}


def _anchor_arrays(end: str, under: dict[str, list[int]], salt: int) -> Arrays:
    table = TextTable.build([text.encode("latin-1") for text in under], salt)
    return {
        **table.to_arrays(f"globs.{end}"),
        **Lists.build(list(under.values())).to_arrays(f"globs.{end}.globs"),
        f"globs.{end}.in_use": np.array(sorted({len(text) for text in under}), dtype=np.int64),
    }


def _gram_arrays(size: int, under: dict[str, list[int]], salt: int) -> Arrays:
    keys = np.array([int.from_bytes(gram.encode("latin-1"), "little") for gram in under], dtype=np.uint64)
    table = IntTable.build(keys, np.arange(len(keys), dtype=np.int32), salt)
    lists = Lists.build(list(under.values()))
    return {**table.to_arrays(f"globs.gram{size}"), **lists.to_arrays(f"globs.gram{size}.globs")}


def _stored(globs: list[Glob]) -> Arrays:
    starts = np.zeros(len(globs) + 1, dtype=np.int64)
    np.cumsum([len(glob.pieces) for glob in globs], out=starts[1:])
    pieces = [piece.encode("latin-1") for glob in globs for piece in glob.pieces]
    return {"globs.piece_starts": starts, "globs.pieces": pa.array(pieces, type=pa.large_binary())}


def _expanded(lists: Lists, rows: I64, found: I32) -> tuple[I64, I32]:
    met = np.flatnonzero(found != NOTHING)
    origins, globs = lists.expand(found[met])
    return rows[met][origins], globs


def _matches(pieces: tuple[bytes, ...], data: bytes, start: int, end: int) -> bool:
    first, *inner, last = pieces
    at, end = start + len(first), end - len(last)
    if at > end or not data.startswith(first, start) or not data.startswith(last, end):
        return False
    for piece in inner:
        at = data.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
