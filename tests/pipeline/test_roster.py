"""The roster leaves those of the event's realm and time, and one member of each group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ramify.pipeline.roster import ALONE, Batch, Roster

NEVER = np.zeros(0, dtype=np.int64)


def roster(groups: list[int], realms: list[str]) -> Roster:
    names = sorted(set(realms))
    codes = np.array([names.index(name) for name in realms], dtype=np.int32)
    none = np.zeros(len(groups), dtype=np.int32)
    return Roster(names, codes, NEVER, NEVER, np.array(groups, dtype=np.int32), none, False)


@given(
    st.lists(st.tuples(st.integers(ALONE, 3), st.sampled_from(["default", "red"])), min_size=1, max_size=12),
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["default", "red", None])),
        min_size=1,
        max_size=6,
    ),
)
def test_a_group_is_counted_off_in_the_order_of_numbers(
    members: list[tuple[int, str]], events: list[tuple[int, str | None]]
) -> None:
    groups, realms = zip(*members, strict=True)
    draws, of_events = zip(*events, strict=True)
    everyone = [(row, number) for row in range(len(events)) for number in range(len(members))]
    rows, numbers = np.array(everyone, dtype=np.int64).T
    batch = Batch(
        pa.array(["a"] * len(events)), realms=pa.array(of_events, pa.string()), draws=pa.array(draws)
    )
    # A group is of one realm: which one is part of its number.
    apart = [group if group == ALONE else 2 * group + (realm == "red") for group, realm in members]
    found = roster(apart, list(realms)).decide(rows, numbers.astype(np.int32), batch)
    wanted = set()
    for row, (draw, realm) in enumerate(events):
        there = [at for at, each in enumerate(realms) if each == (realm or "default")]
        wanted |= {(row, at) for at in there if groups[at] == ALONE}
        for group in {groups[at] for at in there} - {ALONE}:
            of_group = [at for at in there if groups[at] == group]
            wanted.add((row, of_group[draw % len(of_group)]))
    assert set(zip(found[0].tolist(), found[1].tolist(), strict=True)) == wanted
    assert len(found[0]) == len(wanted)
