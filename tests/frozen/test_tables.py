"""The tables find what was filed and nothing else, also where hashes collide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.frozen import tables
from ramify.frozen.tables import NOTHING, IntTable, TextTable
from ramify.frozen.texts import U64, Texts

KEYS = st.lists(st.integers(0, 2**64 - 2), unique=True, max_size=60)


def every_hash_is_seven(values: U64, salt: np.uint64) -> U64:
    return np.full_like(values, 7)


@pytest.fixture(params=["spread", "colliding"])
def hashing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "colliding":
        monkeypatch.setattr(tables, "mix", every_hash_is_seven)


@pytest.mark.usefixtures("hashing")
@given(data=st.data())
def test_numbers_are_found_under_their_keys_only(data: st.DataObject) -> None:
    keys, others = data.draw(KEYS), data.draw(KEYS)
    values = np.arange(len(keys), dtype=np.int32)
    table = IntTable.build(np.array(keys, dtype=np.uint64), values, salt=5)
    assert table.look_up(np.array(keys, dtype=np.uint64)).tolist() == values.tolist()
    expected = [keys.index(key) if key in keys else NOTHING for key in others]
    assert table.look_up(np.array(others, dtype=np.uint64)).tolist() == expected


@given(
    st.lists(st.binary(max_size=20), unique=True, max_size=40),
    st.lists(st.binary(max_size=20), max_size=40),
    st.integers(0, 2**63 - 1),
)
def test_texts_are_found_by_their_bytes_only(filed: list[bytes], asked: list[bytes], salt: int) -> None:
    table = TextTable.build(filed, salt)
    texts = Texts.from_bytes(asked + filed)
    expected = [filed.index(text) if text in filed else NOTHING for text in asked + filed]
    assert table.look_up(texts, texts.starts, texts.lengths).tolist() == expected


def test_a_text_with_the_hash_of_another_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "mix", every_hash_is_seven)
    table = TextTable.build([b"filed"], 1)
    texts = Texts.from_bytes([b"other", b"filed"])
    assert table.look_up(texts, texts.starts, texts.lengths).tolist() == [NOTHING, 0]


def test_two_texts_that_share_a_hash_ask_for_another_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "mix", every_hash_is_seven)
    with pytest.raises(tables.HashClash):
        TextTable.build([b"one", b"two"], 1)


def test_the_highest_key_stands_for_nothing_and_is_not_filed() -> None:
    highest = np.array([2**64 - 1], dtype=np.uint64)
    with pytest.raises(tables.HashClash):
        IntTable.build(highest, np.zeros(1, dtype=np.int32), 1)
    table = IntTable.build(np.array([5], dtype=np.uint64), np.zeros(1, dtype=np.int32), 1)
    assert table.look_up(highest).tolist() == [NOTHING]
