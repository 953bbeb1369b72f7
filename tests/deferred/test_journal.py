"""The journal by example: damage, commits, tickets, compaction, and who may open it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.deferred import Edge, GroupCommit, Item, JournaledQueue, Policy, custom, listed
from ramify.deferred.records import MAGIC, Drop, Put, encode, read_records
from ramify.errors import InvalidFile, InvalidPush, InvalidTime, JournalFailed, JournalInUse
from tests.deferred.disk import Disk

LOG = "00000001.log"


def written(path: Path, keys: int) -> None:
    """Make a journal of one log, with the records in the order of the keys."""
    with JournaledQueue(path) as queue:
        for i in range(keys):
            queue.push(f"key-{i}", i, deadline=i)


def listed_keys(queue: JournaledQueue) -> list[str]:
    return [item.key for item in queue]


# ── reopening ─────────────────────────────────────────────────────────────────────────────


def test_a_journal_continues_with_every_deadline_and_datum(tmp_path: Path) -> None:
    data: list[Any] = [None, True, 1, 2.5, "ä", b"\0\xff", [1, {"a": []}], 2**63, -(2**63)]
    with JournaledQueue(tmp_path / "new" / "journal") as queue:
        for i, datum in enumerate(data):
            queue.push(f"key-{i}", datum, deadline=1_700_000_000_000_000 + i)
    with JournaledQueue(tmp_path / "new" / "journal") as queue:
        assert list(queue) == [
            Item(f"key-{i}", datum, 1_700_000_000_000_000 + i) for i, datum in enumerate(data)
        ]
        assert queue.damage == []


def test_what_policies_remember_is_kept() -> None:
    disk, policy = Disk(), Policy(quiet=5, max_wait=8, max_count=4, merge=listed(9))
    queue = JournaledQueue("", policy, files=disk)
    for now in (0, 1):
        queue.push("k", now, now=now, version=10)
    queue.close()
    queue = JournaledQueue("", policy, files=disk)
    queue.push("k", "late", now=2, version=9)
    assert list(queue) == [Item("k", [0, 1, "late"], 6)]
    queue.push("k", 3, now=3)
    assert list(queue) == [Item("k", [0, 1, "late", 3], 3)]


@pytest.mark.parametrize("policy", [Policy(), Policy(merge=listed(9))])
def test_equal_deadlines_keep_their_order_over_a_restart(policy: Policy) -> None:
    disk = Disk()
    queue = JournaledQueue("", policy, files=disk)
    for key, deadline in (("a", 9), ("a", 5), ("b", 5), ("c", 4), ("c", 5), ("a", 5), ("a", 5), ("b", 5)):
        queue.push(key, 1, deadline)
    queue.close()
    assert listed_keys(JournaledQueue("", policy, files=disk)) == ["a", "b", "c"]


def test_an_item_that_was_not_done_is_given_out_again_apart_from_newer_data() -> None:
    disk, policy = Disk(), Policy(merge=custom(lambda older, newer: older + newer))
    queue = JournaledQueue("", policy, files=disk)
    queue.push("k", 1, deadline=1)
    taken = queue.evict(1)
    queue.push("k", 2, deadline=2)
    queue.push("k", 3, deadline=2)
    queue.commit()
    queue = JournaledQueue("", policy, files=disk)
    assert len(queue) == 2
    assert [(item.data, item.deadline) for item in queue.drain(2)] == [(1, 1), (5, 2)]
    assert taken is not None
    assert queue.done(taken.ticket)


def test_a_ticket_from_before_a_crash_is_good_unless_the_key_was_pushed_since() -> None:
    for is_pushed_again in (False, True):
        disk = Disk()
        queue = JournaledQueue("", files=disk)
        queue.push("", 1, deadline=1)
        taken = queue.evict(1)
        assert taken is not None
        queue.commit()
        queue = JournaledQueue("", files=disk)
        if is_pushed_again:
            queue.push("", 2, deadline=1)
        assert not queue.done(taken.ticket, "other")
        assert queue.done(taken.ticket, "") is not is_pushed_again
        assert len(queue) == is_pushed_again


def test_a_ticket_is_never_used_twice_even_if_its_record_was_lost() -> None:
    disk, tickets = Disk(), set()
    for run in range(3):
        queue = JournaledQueue("", files=disk)
        queue.push("k", run, deadline=1)
        item = queue.evict(1)  # Given out, but never committed.
        assert item is not None
        tickets.add(item.ticket)
        disk.crash(lambda most: 0)
    assert len(tickets) == 3


def nested(depth: int) -> list[Any]:
    data: list[Any] = []
    for _ in range(depth):
        data = [data]
    return data


def test_what_a_journal_cannot_hold_is_refused_and_changes_nothing() -> None:
    queue = JournaledQueue("", files=Disk())
    queue.push("k", 1, deadline=1)
    impossible: list[tuple[Any, Any, Any]] = [
        ("k", object(), 9),
        ("k", 2**70, 9),
        ("\ud800", 1, 9),
        ("k", {1: {2: object()}}, 9),
        (5, 1, 9),
        ("k", 1, True),
        ("k", nested(5_000), 9),
    ]
    for key, data, deadline in impossible:
        with pytest.raises(InvalidPush, match="cannot hold"):
            queue.push(key, data, deadline=deadline)
    with pytest.raises(InvalidPush, match="cannot hold"):
        queue.push("k", 1, deadline=9, version="new")  # type: ignore[arg-type]
    queue.push("other", 1, deadline=2)
    assert list(queue) == [Item("k", 1, 1), Item("other", 1, 2)]


# ── damage ────────────────────────────────────────────────────────────────────────────────


def test_a_torn_end_is_reported_and_everything_before_it_kept(tmp_path: Path) -> None:
    written(tmp_path, 10)
    log = tmp_path / LOG
    whole = log.read_bytes()
    log.write_bytes(whole[:-3])
    with JournaledQueue(tmp_path) as queue:
        (damage,) = queue.damage
        assert (damage.file, damage.reason) == (LOG, "a record cut short")
        assert str(damage).endswith(f"at byte {damage.offset}; {damage.lost} bytes were set aside")
        assert listed_keys(queue) == [f"key-{i}" for i in range(9)]
        assert (tmp_path / (LOG + ".torn")).read_bytes() == whole[damage.offset : -3]
    with JournaledQueue(tmp_path) as queue:
        assert queue.damage == []
        assert len(queue) == 9


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_change_to_any_byte_is_noticed_and_everything_before_it_kept(data: st.DataObject) -> None:
    disk = Disk()
    queue = JournaledQueue("", files=disk)
    ends = []
    for i in range(6):
        queue.push(f"key-{i}", "x" * i, deadline=i)
        queue.commit()
        ends.append(disk.size(LOG))
    content = disk.names_now[LOG].content
    position = data.draw(st.integers(len(MAGIC), len(content) - 1))
    is_cut = data.draw(st.booleans())
    if not is_cut:
        content[position] ^= data.draw(st.integers(1, 255))
    else:
        del content[position:]
    queue = JournaledQueue("", files=disk)
    kept = sum(end <= position for end in ends)
    assert listed_keys(queue) == [f"key-{i}" for i in range(kept)]
    is_unnoticeable = is_cut and position in (len(MAGIC), *ends)
    assert len(queue.damage) == (0 if is_unnoticeable else 1)


def test_blocks_that_were_never_written_are_damage_and_not_records() -> None:
    reader = read_records(MAGIC + encode(Drop(1)) + bytes(4096))
    assert [record for record, _ in reader.records()] == [Drop(1)]
    assert reader.damage
    assert reader.lost == 4096


def test_a_whole_record_that_makes_no_sense_is_damage() -> None:
    frame = encode(Put(1, 0, 1, "k", 1, 1, None, 1, None, None, False, False))
    nonsense = encode(Put(1, 0, 1, 5, 1, 1, None, 1, None, None, False, False))  # type: ignore[arg-type]
    reader = read_records(MAGIC + frame + nonsense + frame)
    assert len(list(reader.records())) == 1
    assert "makes no sense" in reader.damage


def test_a_journal_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    written(tmp_path, 3)
    log = tmp_path / LOG
    log.write_bytes(b"ramify deferred 2\n" + log.read_bytes()[len(MAGIC) :])
    before = log.read_bytes()
    for _ in range(2):  # The first refusal leaves the folder unlocked.
        with pytest.raises(InvalidFile, match="version"):
            JournaledQueue(tmp_path)
    assert log.read_bytes() == before


def test_damage_in_one_file_does_not_hide_the_next(tmp_path: Path) -> None:
    written(tmp_path, 3)
    with JournaledQueue(tmp_path) as queue:
        queue.push("later", 1, deadline=99)
    log = tmp_path / LOG
    log.write_bytes(log.read_bytes()[:-1])
    with JournaledQueue(tmp_path) as queue:
        assert listed_keys(queue) == ["key-0", "key-1", "later"]
        assert len(queue.damage) == 1


# ── who may open it ───────────────────────────────────────────────────────────────────────


def test_a_journal_is_open_once(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path), pytest.raises(JournalInUse):
        JournaledQueue(tmp_path)
    JournaledQueue(tmp_path).close()


def test_a_file_is_not_a_journal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    with pytest.raises(InvalidFile, match="folder"):
        JournaledQueue(tmp_path / "file")


def test_opening_tells_how_far_it_is(tmp_path: Path) -> None:
    written(tmp_path, 70_000)
    told: list[tuple[int, int]] = []
    JournaledQueue(tmp_path, progress=lambda done, total: told.append((done, total))).close()
    assert len(told) >= 2
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] == (tmp_path / LOG).stat().st_size


# ── group commit ──────────────────────────────────────────────────────────────────────────


def push_some(queue: JournaledQueue, count: int) -> None:
    for i in range(count):
        queue.push(f"key-{i}", "x" * 80, deadline=i)


def test_a_group_is_committed_by_count_by_bytes_or_by_time() -> None:
    by_count = JournaledQueue("", files=Disk(), group=GroupCommit(records=3))
    push_some(by_count, 4)
    assert (by_count.appended, by_count.committed) == (4, 3)

    by_bytes = JournaledQueue("", files=Disk(), group=GroupCommit(bytes=250))
    push_some(by_bytes, 4)
    assert (by_bytes.appended, by_bytes.committed) == (4, 3)

    by_time = JournaledQueue("", files=Disk(), group=GroupCommit(delay=5))
    push_some(by_time, 1)
    assert [by_time.commit_at, by_time.commit_due(now=100), by_time.commit_at] == [None, False, 105]
    assert not by_time.commit_due(now=104)
    assert by_time.commit_due(now=105)
    assert by_time.committed == 1
    assert not by_time.commit_due(now=200)
    by_time.push("k", 1, deadline=1, now=300)
    by_time.push("l", 1, deadline=1, now=306)
    assert by_time.committed == 3


def test_nothing_counts_as_committed_after_the_disk_failed() -> None:
    disk = Disk()
    queue = JournaledQueue("", files=disk)
    queue.push("a", 1, deadline=1)
    queue.commit()
    queue.push("b", 2, deadline=2)
    disk.fault = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(JournalFailed, match="No space left"):
        queue.commit()
    disk.fault = None
    acts: list[Callable[[], object]] = [
        lambda: queue.push("c", 3, deadline=3),
        lambda: queue.commit(),
        lambda: queue.evict(9),
        lambda: queue.cancel("a"),
        lambda: queue.flush("a"),
        lambda: queue.done(1),
    ]
    for act in acts:
        with pytest.raises(JournalFailed):
            act()
    assert queue.committed == 1
    queue.close()
    assert "a" in JournaledQueue("", files=disk)


# ── compaction ────────────────────────────────────────────────────────────────────────────


def test_compaction_keeps_what_is_to_be_done_and_nothing_else(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path) as queue:
        for i in range(3_000):
            queue.push(f"key-{i % 10}", i, deadline=i)
        taken = queue.drain(2_992)
        queue.done(taken[0].ticket)
        queue.commit()
        before, size = list(queue), sum(file.stat().st_size for file in tmp_path.iterdir())
        queue.compact().wait()
        queue.push("after", 1, deadline=1e6)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < size / 50
    with JournaledQueue(tmp_path) as queue:
        again = queue.drain(2_992)
        assert [item.key for item in again] == [item.key for item in taken[1:]]
        assert list(queue) == [*before, Item("after", 1, 1e6)]


def test_a_journal_compacts_itself_when_most_of_it_is_superfluous(tmp_path: Path) -> None:
    with JournaledQueue(tmp_path, compact_slack=1_000, group=GroupCommit(records=100)) as queue:
        for i in range(20_000):
            queue.push("k", "x" * 50, deadline=i)
            if i % 1_000 == 0 and queue.compaction_under_way is not None:
                queue.compaction_under_way.wait()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_000_000
    with JournaledQueue(tmp_path) as queue:
        assert list(queue) == [Item("k", "x" * 50, 19_999)]


def test_a_compaction_that_fails_costs_nothing_but_space() -> None:
    disk = Disk()
    queue = JournaledQueue("", files=disk)
    push_some(queue, 100)
    steps = queue.compaction()
    disk.fault = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match="No space"):
        list(steps)
    disk.fault = None
    queue.push("after", 1, deadline=1e6)
    queue.close()
    assert len(JournaledQueue("", files=disk)) == 101


def test_asking_at_no_time_is_refused_and_loses_nothing() -> None:
    queue = JournaledQueue("", files=Disk())
    queue.push("k", 1, deadline=1)
    item = queue.evict(1)
    assert item is not None
    queue.give_back(item.ticket)
    with pytest.raises(InvalidTime):
        queue.evict(nan)
    assert queue.evict(1) == item


def test_holds_that_have_ended_are_not_kept_for_ever() -> None:
    disk, policy = Disk(), Policy(quiet=1, edge=Edge.LEADING)
    queue = JournaledQueue("", policy, files=disk)
    for i in range(50):
        queue.push(f"key-{i}", i, now=i)
        for item in queue.drain(i):
            queue.done(item.ticket)
    queue.drain(100)
    list(queue.compaction())
    base = next(name for name in disk.names() if name.endswith(".base"))
    assert disk.read(base) == MAGIC
