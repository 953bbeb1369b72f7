"""A frozen index answers batches exactly as the plain meaning does, whatever form the content has."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import FrozenIndex, Router
from ramify.criteria import parse_criteria
from ramify.errors import InvalidContent, InvalidFile
from ramify.frozen import index as frozen_index
from ramify.model import ALWAYS, All, Criteria, Pattern, Subscription, Term
from ramify.patterns import parse_pattern
from tests.criteria_strategies import contents, terms
from tests.implementations import by_reference
from tests.strategies import parsed_patterns, topics, topics_of

Event = tuple[str, dict[str, Any]]
Answers = list[set[str]]


def answers(frozen: FrozenIndex, topics: list[str | None], fields: pa.Array | None = None) -> Answers:
    batch = frozen.match_batch(pa.array(topics, pa.string()), fields)
    found: Answers = [set() for _ in topics]
    for row, id in zip(
        batch.column("row").to_pylist(), batch.column("subscription_id").to_pylist(), strict=True
    ):
        assert id not in found[row], "a subscription was found twice"
        found[row].add(id)
    return found


def subscription(number: int, pattern: Pattern, term: Term | None) -> Subscription:
    criteria = ALWAYS if term is None else Criteria("generated", term)
    return Subscription(str(number), "someone", pattern, criteria, group=pattern.group)


@st.composite
def sets_and_events(draw: st.DrawFn) -> tuple[list[Subscription], list[Event]]:
    patterns = draw(st.lists(parsed_patterns(), min_size=1, max_size=12))
    subscriptions = [
        subscription(number, pattern, draw(st.none() | terms())) for number, pattern in enumerate(patterns)
    ]
    known = st.one_of([topics_of(pattern) for pattern in patterns])
    events = draw(st.lists(st.tuples(topics() | known, contents()), min_size=1, max_size=12))
    return subscriptions, [(topic, dict(fields)) for topic, fields in events]


@given(sets_and_events(), st.integers(0, 2**63 - 1))
@settings(max_examples=150)
def test_a_batch_gets_the_reference_s_answers(
    case: tuple[list[Subscription], list[Event]], seed: int
) -> None:
    subscriptions, events = case
    frozen = FrozenIndex.build(subscriptions, seed=seed)
    fields = pa.array([json.dumps(each) for _, each in events])
    expected = [by_reference(subscriptions, topic, each) for topic, each in events]
    assert answers(frozen, [topic for topic, _ in events], fields) == expected


ROWS: list[dict[str, Any]] = [
    {"n": 5, "x": 2.5, "name": "Foo", "ok": True, "meta": {"source": "a"}},
    {"n": -1, "x": float("nan"), "name": "bar", "ok": False, "meta": {"source": None}},
    {"n": None, "x": None, "name": None, "ok": None, "meta": None},
    {"n": 2**53 + 1, "x": -0.0, "name": "", "ok": True, "meta": {"source": "Foo"}},
    {"n": 0, "x": 1e300, "name": "Zoë", "ok": None, "meta": {"source": "b"}},
]
CRITERIA = [
    "n = 5",
    "n != 5",
    "n = 5.0",
    "n = true",
    "ok = true",
    "ok != false",
    "ok = 1",
    f"n = {2**53}",
    f"n = {2**53 + 1}",
    f"n > {2**53}",
    "n between -3 and 4",
    "n > -2 and n < 6",
    "n >= 0",
    "x < 3",
    "x = 0",
    "not x < 3",
    "x > 1e299 and x < 1e301",
    "name = 'Foo'",
    "name != 'Foo'",
    "name in ('Foo', 'Zoë', '')",
    "name like '%o%'",
    "name > 'Fa'",
    "name > 'Fa' and name < 'Fz'",
    "meta.source = 'a'",
    "exists(meta.source)",
    "not exists(meta)",
    "exists(nothing)",
    "not exists(nothing)",
    "n = 5 or name = 'bar' or x > 2",
    "n in (5, -1) and ok in (true, false)",
]


def content_subscriptions() -> list[Subscription]:
    pattern = parse_pattern("a/+")
    return [Subscription(text, "someone", pattern, parse_criteria(text)) for text in CRITERIA]


def as_map(values: list[dict[str, Any]], key: str, kind: pa.DataType) -> pa.Array:
    pairs = [None if row[key] is None else [(key, row[key])] for row in values]
    return pa.array(pairs, pa.map_(pa.string(), kind))


def test_struct_content_is_read_by_type() -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    expected = [by_reference(content_subscriptions(), "a/b", row) for row in ROWS]
    assert answers(frozen, ["a/b"] * len(ROWS), pa.array(ROWS)) == expected


@pytest.mark.parametrize("width", [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64()])
def test_numbers_of_every_width_are_numbers(width: pa.DataType) -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    fields = pa.StructArray.from_arrays([pa.array([5, 0, None], width)], ["n"])
    rows: list[dict[str, Any]] = [{"n": 5}, {"n": 0}, {}]
    expected = [by_reference(content_subscriptions(), "a/b", row) for row in rows]
    assert answers(frozen, ["a/b"] * 3, fields) == expected


@pytest.mark.parametrize(
    ("key", "kind"), [("n", pa.int64()), ("name", pa.large_string()), ("ok", pa.bool_()), ("x", pa.float64())]
)
def test_map_content_is_read_by_key(key: str, kind: pa.DataType) -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    expected = [by_reference(content_subscriptions(), "a/b", {key: row[key]}) for row in ROWS]
    assert answers(frozen, ["a/b"] * len(ROWS), as_map(ROWS, key, kind)) == expected


def test_texts_behind_a_dictionary_are_texts() -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    names = pa.array(["Foo", "bar", None, "Foo"]).dictionary_encode()
    fields = pa.StructArray.from_arrays([names], ["name"])
    rows: list[dict[str, Any]] = [{"name": "Foo"}, {"name": "bar"}, {}, {"name": "Foo"}]
    expected = [by_reference(content_subscriptions(), "a/b", row) for row in rows]
    assert answers(frozen, ["a/b"] * 4, fields) == expected


def test_a_value_that_is_neither_number_nor_text_only_exists() -> None:
    subscriptions = [
        Subscription(text, "someone", parse_pattern("a"), parse_criteria(text))
        for text in ("exists(tags)", "tags = 1", "tags != 1", "not exists(tags)")
    ]
    frozen = FrozenIndex.build(subscriptions)
    assert answers(frozen, ["a"], pa.array([{"tags": [1, 2]}])) == [{"exists(tags)", "tags != 1"}]


def test_events_without_content_have_no_fields() -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    assert answers(frozen, ["a/b"]) == [by_reference(content_subscriptions(), "a/b", {})]


def test_content_that_is_not_json_names_its_row() -> None:
    frozen = FrozenIndex.build(content_subscriptions())
    with pytest.raises(InvalidContent, match="row 1"):
        frozen.match_batch(pa.array(["a/b", "a/b"]), pa.array(["{}", "{"]))


def test_a_null_topic_matches_nothing() -> None:
    everything = [Subscription("all", "someone", parse_pattern("*", "glob"))]
    assert answers(FrozenIndex.build(everything), [None, "", "a"]) == [set(), {"all"}, {"all"}]


def test_topics_that_repeat_are_answered_in_every_row() -> None:
    router = Router()
    router.subscribe("a/+", "someone", id="x", where="n = 1")
    router.subscribe("a/b", "someone", id="y")
    fields = pa.array([{"n": number % 2} for number in range(10)])
    expected = [{"x", "y"} if number % 2 else {"y"} for number in range(10)]
    assert answers(router.freeze(), ["a/b"] * 10, fields) == expected


def test_batches_longer_than_a_step_are_answered_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen_index, "STEP", 3)
    router = Router()
    router.subscribe("t/+", "someone", id="x", where="n >= 4")
    names: list[str | None] = [f"t/{number}" for number in range(10)]
    fields = pa.array([{"n": number} for number in range(10)])
    assert answers(router.freeze(), names, fields) == [
        {"x"} if number >= 4 else set() for number in range(10)
    ]


def test_chunked_and_sliced_arrays_are_taken() -> None:
    router = Router()
    router.subscribe("a/+", "someone", id="x")
    chunked = pa.chunked_array([["q", "a/1"], ["a/2"]])
    batch = router.freeze().match_batch(chunked)
    assert sorted(batch.column("row").to_pylist()) == [1, 2]
    sliced = pa.array(["zzz", "a/1", "a/2", "zzz"]).slice(1, 2)
    assert sorted(router.freeze().match_batch(sliced).column("row").to_pylist()) == [0, 1]


def test_nobody_subscribed_and_nobody_asking_are_fine() -> None:
    assert answers(FrozenIndex.build([]), ["a", "b/c"]) == [set(), set()]
    assert answers(FrozenIndex.build(content_subscriptions()), []) == []


def test_a_crowd_under_one_value_is_told_apart_by_a_second_key() -> None:
    router = Router()
    for number in range(500):
        where = f"side = 'back' and price > {number} and price < {number + 2}"
        router.subscribe("bets", "someone", id=str(number), where=where)
    fields = pa.array([{"side": "back", "price": 250.5}, {"side": "lay", "price": 250.5}])
    assert answers(router.freeze(), ["bets", "bets"], fields) == [{"249", "250"}, set()]


def test_a_saved_index_answers_as_the_one_that_was_saved(tmp_path: Path) -> None:
    frozen = FrozenIndex.build(content_subscriptions(), realm="r", seed=3)
    frozen.save(tmp_path / "index.arrow")
    opened = FrozenIndex.open(tmp_path / "index.arrow")
    assert (opened.realm, len(opened)) == ("r", len(CRITERIA))
    topics: list[str | None] = ["a/b"] * len(ROWS)
    assert answers(opened, topics, pa.array(ROWS)) == answers(frozen, topics, pa.array(ROWS))
    assert [path.name for path in tmp_path.iterdir()] == ["index.arrow"]


def test_opening_maps_the_file_and_copies_nothing(tmp_path: Path) -> None:
    router = Router()
    for number in range(20_000):
        router.subscribe(f"plant/{number}/+", "someone")
    router.freeze().save(tmp_path / "index.arrow")
    before = pa.total_allocated_bytes()
    opened = FrozenIndex.open(tmp_path / "index.arrow")
    assert len(opened) == 20_000
    assert pa.total_allocated_bytes() - before < 100_000


def test_a_file_that_is_no_index_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InvalidFile, match="text: not a frozen index"):
        FrozenIndex.open(tmp_path / "text")
    with pytest.raises(InvalidFile, match="missing"):
        FrozenIndex.open(tmp_path / "missing")


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("a", pa.int64())], metadata={"ramify.frozen.version": "99"})
    with pa.OSFile(str(tmp_path / "new"), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch([pa.array([1])], schema=schema))
    with pytest.raises(InvalidFile, match="version 99"):
        FrozenIndex.open(tmp_path / "new")


def test_criteria_that_ask_for_nothing_always_hold() -> None:
    frozen = FrozenIndex.build([subscription(0, parse_pattern("a"), All((All(()),)))])
    assert answers(frozen, ["a", "b"]) == [{"0"}, set()]


def test_topics_that_were_seen_before_are_answered_as_new_ones_are() -> None:
    subscriptions = [
        Subscription(f"s{at}", "me", parse_pattern(text, "mqtt"), where)
        for at, (text, where) in enumerate(
            [
                ("a/+", ALWAYS),
                ("#", ALWAYS),
                ("a/b", parse_criteria("n = 1")),
                ("b/#", parse_criteria("n > 0")),
            ]
        )
    ]
    index = FrozenIndex.build(subscriptions)
    for batch in (
        ["a/b", "c"],
        ["c", "b/c", None, "a/b"],
        ["a/b"] * 3,
        [],
        ["x", "y", "z", "b", "c", "a/b"],
    ):
        fields = pa.array([{"n": at % 2} for at in range(len(batch))], pa.struct([("n", pa.int64())]))
        array = pa.array(batch, pa.string())
        afresh = FrozenIndex.build(subscriptions).match_numbers(array, fields)
        again = index.match_numbers(array, fields)
        assert sorted(np.transpose(again).tolist()) == sorted(np.transpose(afresh).tolist())


def test_a_crowd_is_told_in_steps_that_keep_each_row_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.frozen.index.MANY", 15)
    index = FrozenIndex.build([Subscription(f"s{at}", "me", parse_pattern("#", "mqtt")) for at in range(7)])
    steps = list(index.match_steps(pa.array(["a"] * 5)))
    assert [sorted(set(rows.tolist())) for rows, _ in steps] == [[0, 1], [2, 3], [4]]
    assert all(len(numbers) == 7 * len(set(rows.tolist())) for rows, numbers in steps)
