"""Good lines load; bad lines are set aside with their number and the reason."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.errors import InvalidFile
from ramify.files import FORMATS, Loaded, load, read
from ramify.files.lines import LINES_PER_REPORT, LONGEST_LINE

GOOD = '{"id": "s", "subscriber": "alice", "pattern": "a/b"}'


def loaded(*lines: str | bytes, format: str = "jsonl") -> Loaded:
    whole = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return read(BytesIO(whole), format)


BAD_LINES = [
    ("hello", "not JSON: invalid character (byte 0)"),
    ("[1]", "not a JSON object"),
    ("NaN", "not JSON: invalid character (byte 0)"),
    ("[" * 100_000, "not JSON that can be read: it is nested too deep"),
    (b'{"subscriber": "\xff"}', "not UTF-8"),
    ('{"pattern": "a"}', "subscriber is missing"),
    ('{"subscriber": "alice"}', "pattern is missing"),
    ('{"subscriber": null, "pattern": "a"}', "subscriber is null, wanted a text"),
    ('{"subscriber": "alice", "pattern": 5}', "pattern is a number, wanted a text"),
    ('{"id": 5, "subscriber": "alice", "pattern": "a"}', "id is a number, wanted a text"),
    ('{"where": true, "subscriber": "alice", "pattern": "a"}', "where is a boolean, wanted a text"),
    ('{"group": ["g"], "subscriber": "alice", "pattern": "a"}', "group is a list, wanted a text"),
    (
        '{"subscriber": "alice", "pattern": "a/#/b"}',
        "pattern: '#' stands only as the last level at column 3",
    ),
    (
        '{"subscriber": "alice", "pattern": "a", "dialect": "kafka"}',
        "unknown dialect 'kafka'; the dialects are mqtt, wamp, path, glob, nats",
    ),
    (
        '{"subscriber": "alice", "pattern": "a", "match": "prefix"}',
        "match='prefix' is an option of wamp, and the dialect is mqtt",
    ),
    (
        '{"subscriber": "alice", "pattern": "$share/g/a", "group": "h"}',
        "the pattern names the group 'g', the option names 'h'",
    ),
    ('{"id": "s", "subscriber": "bob", "pattern": "a"}', "id 's' is given again; first on line 1"),
    ('"' + "x" * LONGEST_LINE + '"', "the line is longer than 1,048,576 bytes"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES, ids=[reason for _, reason in BAD_LINES])
def test_a_bad_line_is_set_aside_and_the_others_load(line: str | bytes, reason: str) -> None:
    found = loaded(GOOD, line, '{"subscriber": "carol", "pattern": "c"}')
    assert [(bad.line, bad.reason) for bad in found.bad] == [(2, reason)]
    assert [subscription.subscriber for subscription in found.subscriptions] == ["alice", "carol"]
    assert len(found.bad[0].text) <= 81


def test_refused_criteria_name_their_column() -> None:
    (bad,) = loaded('{"subscriber": "alice", "pattern": "a", "where": "price >"}').bad
    assert bad.reason.startswith("where: ")
    assert bad.reason.endswith("at column 8")


def test_blank_lines_and_a_byte_order_mark_mean_nothing() -> None:
    found = loaded(b"\xef\xbb\xbf" + GOOD.encode(), "", "   ", "\r")
    assert (len(found.subscriptions), found.bad) == (1, ())


def test_a_line_without_an_id_is_named_after_its_number() -> None:
    nameless = '{"subscriber": "a", "pattern": "a"}'
    taken = '{"id": "line-1", "subscriber": "a", "pattern": "a"}'
    found = loaded(nameless, nameless, taken)
    assert [subscription.id for subscription in found.subscriptions] == ["line-1-2", "line-2", "line-1"]


def test_an_id_may_be_called_subscription_id() -> None:
    assert loaded('{"subscription_id": "x", "subscriber": "a", "pattern": "a"}').subscriptions[0].id == "x"


def test_unknown_columns_are_left_out_and_noted_once() -> None:
    line = '{"subscriber": "a", "pattern": "a", "colour": 1, "size": 2}'
    found = loaded(line, line)
    assert len(found.subscriptions) == 2
    assert found.notes == ("unknown columns are left out: 'colour', 'size'",)


@pytest.mark.parametrize("format", FORMATS)
@given(content=st.binary(max_size=60))
def test_no_content_makes_a_load_fail_but_by_refusing_the_file(format: str, content: bytes) -> None:
    try:
        read(BytesIO(b"subscriber,pattern\n" + content if format == "csv" else content), format)
    except InvalidFile:
        assert format == "parquet"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("absent.jsonl", "No such file or directory"), ("folder.csv", "Is a directory")],
)
def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidFile, match=reason) as refused:
        load(tmp_path / name)
    assert refused.value.path == str(tmp_path / name)


def test_progress_is_told_and_never_exceeds_the_whole(tmp_path: Path) -> None:
    path, shares = tmp_path / "many.jsonl", list[float]()
    path.write_text("\n" * (3 * LINES_PER_REPORT))
    load(path, on_progress=shares.append)
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])


# ── CSV ───────────────────────────────────────────────────────────────────────────────────

HEADER = "id,subscriber,pattern,where,data"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("s,alice,a", "the row has 3 cells, the header has 5"),
        ("s,alice,a,,{", "data: not JSON: input data was truncated"),
        (b"s,al\xffice,a,,", "not UTF-8"),
        ('s,"a"b,a,,', "not CSV: ',' expected after '\"'"),
        ("s,alice," + "x" * LONGEST_LINE + ",,", "the line is longer than 1,048,576 bytes"),
        ("s,alice,a/#/b,,", "pattern: '#' stands only as the last level at column 3"),
    ],
)
def test_a_bad_row_is_set_aside_and_the_others_load(line: str | bytes, reason: str) -> None:
    found = loaded(HEADER, line, "", "t,bob,b,,", format="csv")
    assert [(bad.line, bad.reason) for bad in found.bad] == [(2, reason)]
    assert [subscription.id for subscription in found.subscriptions] == ["t"]


def test_a_row_is_numbered_by_the_line_it_starts_on() -> None:
    found = loaded(HEADER, '"s","al', 'ice",a,,', ",bob,b/+x,,", ",carol,c,,", format="csv")
    assert [bad.line for bad in found.bad] == [4]
    assert [subscription.id for subscription in found.subscriptions] == ["s", "line-5"]


def test_a_quote_that_is_never_closed_does_not_swallow_the_file() -> None:
    filler = "x" * 1000
    found = loaded(HEADER, '"open', *[filler] * 1100, "t,bob,b,,", format="csv")
    assert found.bad[0].reason.startswith("not CSV: field larger than field limit")
    assert [subscription.id for subscription in found.subscriptions] == ["t"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "there is no column 'subscriber'"),
        ("id,subscriber", "there is no column 'pattern'"),
        ("subscriber,pattern,id,id", "there are two columns 'id'"),
    ],
)
def test_a_header_that_cannot_hold_subscriptions_refuses_the_file(header: str, reason: str) -> None:
    with pytest.raises(InvalidFile, match=reason):
        loaded(header, format="csv")


# ── Parquet ───────────────────────────────────────────────────────────────────────────────


def parquet(**columns: pa.Array) -> Loaded:
    file = BytesIO()
    pq.write_table(pa.table(columns), file)
    return read(BytesIO(file.getvalue()), "parquet")


def test_bad_rows_of_parquet_are_set_aside() -> None:
    texts = pa.array([b"alice", b"\xff", None, b"dave"], pa.binary()).view(pa.string())
    found = parquet(subscriber=texts, pattern=pa.array(["a", "b", "c", "d+"]), odd=pa.array([1, 2, 3, 4]))
    assert [(bad.line, bad.reason) for bad in found.bad] == [
        (2, "not UTF-8"),
        (3, "subscriber is null, wanted a text"),
        (4, "pattern: '+' must fill its level at column 2"),
    ]
    assert [subscription.id for subscription in found.subscriptions] == ["line-1"]
    assert found.notes == ("unknown columns are left out: 'odd'",)


def test_texts_of_parquet_may_be_large_or_in_a_dictionary() -> None:
    found = parquet(
        subscriber=pa.array(["alice"]).dictionary_encode(), pattern=pa.array(["a"], pa.large_string())
    )
    assert len(found.subscriptions) == 1


def test_columns_of_parquet_that_are_no_texts_refuse_the_file() -> None:
    with pytest.raises(InvalidFile, match="the column 'id' holds int64, wanted texts"):
        parquet(id=pa.array([1]), subscriber=pa.array(["alice"]), pattern=pa.array(["a"]))
