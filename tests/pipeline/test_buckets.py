"""A bucket gives out what a queue would, whatever the order and the batches in which rows arrive."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random, randrange

import pyarrow as pa
import pytest

from ramify.deferred import FIRST, DeferredQueue, Edge, Policy
from ramify.errors import InvalidPolicy, StateTooLarge
from ramify.pipeline.buckets import Rules, packed, read, step, unpacked, written
from ramify.pipeline.keying import AT, KEY, TIE

Row = tuple[str | None, int | None, int]
NUMBER = "_ramify_0"

POLICIES = [
    Policy(5),
    Policy(5, 12, merge=FIRST),
    Policy(5, 30, 3),
    Policy(7, 12, edge=Edge.BOTH),
    Policy(7, 25, edge=Edge.LEADING),
]


def rules(policy: Policy, most_rows: int = 1_000) -> Rules:
    return Rules(policy, (NUMBER,), policy.in_words, most_rows)


def arriving(rows: Sequence[Row]) -> pa.Table:
    keys, times, numbers = ([row[at] for row in rows] for at in range(3))
    columns = {NUMBER: numbers, AT: pa.array(times, pa.int64()), TIE: [0] * len(rows)}
    table = pa.table({**columns, KEY: pa.array(keys, pa.string())})
    return unpacked(packed(table))


class Stream:
    """A bucket as Spark drives it: bytes in between, and a watermark behind the newest row."""

    def __init__(self, policy: Policy, lateness: int) -> None:
        self.rules, self.lateness = rules(policy), lateness
        self.pack: bytes | None = None
        self.newest = 0
        self.fired: list[tuple[int, int]] = []
        self.aside: list[int] = []

    @property
    def watermark(self) -> int:
        return max(0, self.newest - self.lateness)

    def take(self, rows: Sequence[Row]) -> None:
        """A micro-batch, and then one without rows because the watermark has moved."""
        self._step([arriving(rows)])
        self.newest = max([self.newest, *(at for _, at, _ in rows if at is not None)])
        self._step([])

    def _step(self, arrived: list[pa.Table]) -> None:
        bucket = None if self.pack is None else read(self.pack, self.rules)
        done = step(bucket, arrived, self.watermark, self.rules)
        for table in done.given_out:
            for row in table.to_pylist():
                at = row["fired_at"]
                self.aside.append(row[NUMBER]) if at is None else self.fired.append((row[NUMBER], at))
        self.pack = None if done.bucket is None else written(done.bucket, self.rules)
        due = None if done.bucket is None else done.bucket.due
        assert due is None or due > self.watermark


def by_queue(rows: list[tuple[str, int, int]], policy: Policy) -> list[tuple[int, int]]:
    queue, fired = DeferredQueue(policy), []
    for key, at, number in sorted(rows, key=lambda row: (row[1], row[2])):
        fired += queue.drain(at)
        queue.push(key, number, now=at)
    return sorted((item.data, int(item.deadline)) for item in [*fired, *queue.drain(float("inf"))])


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.in_words)
def test_rows_that_are_not_late_fire_as_in_a_queue_in_whatever_order_they_come(policy: Policy) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    for _ in range(20):
        rows = [(dice.choice("abcde"), dice.randrange(1, 120), number) for number in range(80)]
        came = sorted(rows, key=lambda row: row[1] + dice.randrange(20))
        stream = Stream(policy, lateness=20)
        while came:
            size = dice.randrange(1, 40)
            stream.take(came[:size])
            came = came[size:]
        stream.take([("flush", 10_000, -1)])
        assert sorted(each for each in stream.fired if each[0] >= 0) == by_queue(rows, policy)
        assert stream.aside == []


def test_a_late_row_is_set_aside_and_changes_nothing() -> None:
    stream = Stream(Policy(5), lateness=10)
    stream.take([("a", 10, 1), ("b", 13, 2)])
    stream.take([("b", 40, 3)])  # the watermark is 30 from now on
    assert sorted(stream.fired) == [(1, 15), (2, 18)]
    stream.take([("a", 30, 4), ("b", 12, 5), (None, 50, 6), ("a", None, 7), ("a", 31, 8)])
    assert sorted(stream.aside) == [4, 5, 6, 7]
    stream.take([("flush", 10_000, -1)])
    assert sorted(stream.fired)[2:] == [(3, 45), (8, 36)]


def test_a_bucket_that_holds_too_much_says_what_would_help() -> None:
    rows: list[Row] = [("a", at, at) for at in range(100, 150)]
    with pytest.raises(StateTooLarge, match=r"holds 50 rows.*may hold 49.*more buckets"):
        step(None, [arriving(rows)], 0, rules(Policy(5), most_rows=49))
    assert step(None, [arriving(rows)], 0, rules(Policy(5), most_rows=50)).bucket is not None


def test_superseded_rows_are_not_kept() -> None:
    bucket = step(None, [arriving([("a", at, at) for at in range(100, 150)])], 0, rules(Policy(5))).bucket
    assert bucket is not None
    assert bucket.rows.num_rows == 50
    lived = step(bucket, [], 149, rules(Policy(5))).bucket
    assert lived is not None
    assert lived.rows.column(NUMBER).to_pylist() == [149]
    assert step(lived, [], 154, rules(Policy(5))).bucket is None


def test_a_bucket_that_lived_by_other_rules_is_refused() -> None:
    bucket = step(None, [arriving([("a", 100, 1)])], 0, rules(Policy(5))).bucket
    assert bucket is not None
    pack = written(bucket, rules(Policy(5)))
    with pytest.raises(InvalidPolicy, match=r"quiet=5.*quiet=6.*new checkpoint"):
        read(pack, rules(Policy(6)))


def test_values_that_are_no_number_are_ordered_as_spark_does_it() -> None:
    values = pa.array([float("nan"), 1.0, None, float("inf"), -1.0])
    table = arriving([("a", 10, number) for number in range(5)]).append_column("value", values)
    one = Rules(Policy(0), ("value",), "", 100)
    given_out = step(step(None, [table], 0, one).bucket, [], 10, one).given_out[0]
    assert given_out.column(NUMBER).to_pylist() == [2, 4, 1, 3, 0]
