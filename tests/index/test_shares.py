"""One member of each group is chosen, and what a policy remembers goes with the group."""

import pytest

from ramify.index.shares import POLICIES, PseudoRandom, RoundRobin, Sticky, collapse, group_of, policy_named
from ramify.model import Match, Subscription
from ramify.patterns import parse_pattern


def member(id: str, pattern: str = "a", group: str | None = "g") -> Match:
    parsed = parse_pattern(pattern)
    return Match(Subscription(id, id, parsed, group=parsed.group or group))


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_each_group_gets_one_and_those_in_none_all_get_it(name: str) -> None:
    matches = [member(id) for id in "abc"] + [member(id, group="h") for id in "de"]
    alone = [member(id, group=None) for id in "xy"]
    chosen = collapse(matches + alone, "topic", policy_named(name))
    assert set(alone) < set(chosen)
    assert len(chosen) == 4
    assert {match.subscription.group for match in chosen} == {None, "g", "h"}


def test_groups_take_their_own_turns() -> None:
    policy = RoundRobin()
    members = [member("a"), member("b")]
    assert policy.choose("g", members, "t") is members[0]
    assert policy.choose("h", members, "t") is members[0]
    assert policy.choose("g", members, "t") is members[1]
    policy.forget("g")
    assert policy.choose("g", members, "t") is members[0]


def test_a_sticky_member_is_let_go_with_its_group() -> None:
    policy, members = Sticky(), [member("a"), member("b")]
    assert policy.choose("g", members, "t") is members[0]
    assert policy.choose("g", members[::-1], "t") is members[0]
    policy.forget("g")
    assert policy.choose("g", members[::-1], "t") is members[1]


def test_the_same_seed_draws_the_same_members() -> None:
    members = [member(id) for id in "abc"]
    draws = [[PseudoRandom(b"x").choose("g", members, "t") for _ in range(3)] for _ in range(2)]
    assert draws[0] == draws[1]


def test_a_group_in_the_pattern_and_one_beside_it_are_two() -> None:
    groups = {
        group_of(member("a", pattern).subscription) for pattern in ("$share/g/a", "$share/g/+", "a", "+")
    }
    assert len(groups) == 3
    assert group_of(member("a", group=None).subscription) is None
