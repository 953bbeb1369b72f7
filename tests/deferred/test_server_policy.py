"""Policies of a served queue, and of single pushes to it."""

from __future__ import annotations

import pytest

from ramify.deferred import COUNT, SUM, Edge, GroupCommit, Policy, listed, wire
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))


def test_the_policy_of_the_server_merges_what_was_pushed() -> None:
    for merge, merged in ((SUM, 6), (COUNT, 3), (listed(2), [2, 3])):
        played = Played(Policy(quiet=5, merge=merge))
        played.take("a")
        assert [played.push("k", number) for number in (1, 2, 3)] == ["accepted"] * 3
        played.now += 5
        (item,) = played.delivered()["a"]
        assert wire.decode_data(item.data) == merged
        played.ack("a", item)
        assert played.server.held_bytes == 0


def test_data_that_cannot_be_merged_is_refused_and_changes_nothing() -> None:
    played = Played(Policy(quiet=5, merge=SUM))
    played.take("a")
    assert [played.push("k", data) for data in (2**63, "text", 2**63)] == ["accepted", "invalid", "invalid"]
    played.now += 5
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == 2**63


def test_a_leading_edge_fires_at_once_and_absorbs_the_rest() -> None:
    played = Played(Policy(quiet=5, edge=Edge.LEADING))
    played.take("a")
    played.push("k", 1)
    (item,) = played.delivered()["a"]
    played.push("k", 2)
    played.ack("a", item)
    played.now += 4.9
    played.take("a")
    assert played.keys() == {}
    assert played.server.held_bytes == 0


def test_an_older_version_never_overwrites_a_newer_one() -> None:
    played = Played()
    played.take("a")
    played.push("k", "new", 1.0, version=2.0)
    played.push("k", "older", 1.0, version=1.0)
    played.now += 1.0
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == "new"


# ── of a single push ──────────────────────────────────────────────────────────────────────


def test_a_push_may_bring_a_policy_of_its_own() -> None:
    played = Played(Policy(quiet=60))
    played.take("a")
    for number in (1, 2, 3):
        assert played.push("k", number, policy=wire.PushPolicy(quiet=5, merge="sum")) == "accepted"
    played.push("other", 1)
    played.now += 5
    (item,) = played.delivered()["a"]
    assert (item.key, wire.decode_data(item.data)) == ("k", 6)
    played.ack("a", item)
    assert played.server.held_bytes == len(wire.encode_data(1)), "only the other key is left"


def test_a_policy_of_a_push_bounds_the_wait_and_the_count() -> None:
    played = Played()
    played.take("a")
    for _ in range(3):
        played.push("waits", None, policy=wire.PushPolicy(quiet=4, max_wait=6))
        played.now += 3
    assert played.keys() == {"a": ["waits"]}
    for number in (1, 2):
        played.push("full", number, policy=wire.PushPolicy(quiet=60, max_count=2, merge="list:2"))
    assert played.keys() == {"a": ["full"]}


def test_a_leading_edge_of_a_push_fires_at_once_and_absorbs_the_rest() -> None:
    played = Played()
    played.take("a")
    leading = wire.PushPolicy(quiet=5, edge="leading")
    assert [played.push("k", number, policy=leading) for number in (1, 2)] == ["accepted"] * 2
    (item,) = played.delivered()["a"]
    assert played.push("k", 3, policy=leading) == "accepted"
    played.ack("a", item)
    played.now += 4.9
    assert played.keys() == {}
    assert played.server.held_bytes == 0


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (wire.PushPolicy(quiet=5, max_wait=1), "max_wait is below quiet"),
        (wire.PushPolicy(quiet=-1), "quiet is not a duration"),
        (wire.PushPolicy(max_count=0), "max_count is below one push"),
        (wire.PushPolicy(edge="leading"), "a leading edge needs quiet"),
        (wire.PushPolicy(quiet=1, edge="middle"), "unknown edge 'middle'"),
        (wire.PushPolicy(quiet=1, merge="median"), "unknown merge 'median'"),
        (wire.PushPolicy(quiet=1, merge="list:0"), "a list holds at least one item"),
    ],
)
def test_an_impossible_policy_is_refused_and_changes_nothing(policy: wire.PushPolicy, words: str) -> None:
    played = Played()
    (answer,) = played.say_pushes([wire.Push("k", policy=policy), wire.Push("good", delay=0.0)])
    assert (answer.accepted, played.server.waiting) == (1, 1)
    (refusal,) = answer.refused
    assert (refusal.index, refusal.code) == (0, "policy")
    assert words in refusal.reason
