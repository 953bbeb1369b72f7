"""Texts are split and read eight bytes at a time just as Python would do it one by one."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.frozen.texts import MASKS, Texts, split

TEXTS = st.lists(st.text(alphabet="ab/.é", max_size=12), max_size=12)


def pieces(texts: Texts) -> list[bytes]:
    data = texts.data.tobytes()
    pairs = zip(texts.starts.tolist(), texts.lengths.tolist(), strict=True)
    return [data[start : start + length] for start, length in pairs]


@given(TEXTS, st.sampled_from("/."))
def test_splitting_a_batch_is_splitting_each_text(texts: list[str], separator: str) -> None:
    segments = split(Texts.from_arrow(pa.array(texts, pa.string())), separator)
    words = pieces(segments.words)
    found = [
        words[first : first + depth]
        for first, depth in zip(segments.first.tolist(), segments.depths.tolist(), strict=True)
    ]
    assert found == [text.encode().split(separator.encode()) for text in texts]


@given(TEXTS)
def test_eight_bytes_at_any_place_are_the_bytes_there(texts: list[str]) -> None:
    laid = Texts.from_bytes([text.encode() for text in texts])
    data = laid.data.tobytes()
    expected = [int.from_bytes(data[at : at + 8], "little") for at in range(len(data) - 7)]
    assert laid.eights().tolist() == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_arrow_text_type_is_read(kind: pa.DataType) -> None:
    array = pa.array(["a", None, "é/b"], kind)
    assert pieces(Texts.from_arrow(array)) == [b"a", b"", "é/b".encode()]


def test_a_mask_keeps_just_so_many_bytes() -> None:
    assert [int(mask).bit_count() for mask in MASKS] == [8 * kept for kept in range(9)]
