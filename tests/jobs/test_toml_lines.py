"""Each key of a TOML text is found on its line."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ramify.jobs.toml_lines import Path, line_of, lines_of_keys

TEXT = '''# a comment with a = sign and [brackets]
name = "plain"   # line 2

[events]
path = "x"
options = { url = "redis://x", a.b = 1 }
"quoted key" = 1
'literal.key' = 2
dotted . deep."er" = 3

[route]
long = """
[not.a.table]
key = "no key"
"""
after = \'\'\'
also = 'none' \'\'\'
list = [
  "a]", # ]
  'b',
  { c = 1 },
]
last = 2026-01-01T00:00:00Z

[[sinks]]
path = "one"

[sinks.options]
a = 1

[[sinks]]
path = "two"
  [sinks.options]
  b = "#"
'''


def test_every_kind_of_key_is_found_on_its_line() -> None:
    assert tomllib.loads(TEXT)
    lines = lines_of_keys(TEXT)
    assert lines == {
        ("name",): 2,
        ("events",): 4,
        ("events", "path"): 5,
        ("events", "options"): 6,
        ("events", "quoted key"): 7,
        ("events", "literal.key"): 8,
        ("events", "dotted"): 9,
        ("events", "dotted", "deep"): 9,
        ("events", "dotted", "deep", "er"): 9,
        ("route",): 11,
        ("route", "long"): 12,
        ("route", "after"): 16,
        ("route", "list"): 18,
        ("route", "last"): 23,
        ("sinks",): 25,
        ("sinks", 0): 25,
        ("sinks", 0, "path"): 26,
        ("sinks", 0, "options"): 28,
        ("sinks", 0, "options", "a"): 29,
        ("sinks", 1): 31,
        ("sinks", 1, "path"): 32,
        ("sinks", 1, "options"): 33,
        ("sinks", 1, "options", "b"): 34,
    }


def test_windows_line_ends_count_once() -> None:
    assert lines_of_keys('a = 1\r\n\r\n[t]\r\nb = """x\r\ny"""\r\nc = 2\r\n')[("t", "c")] == 6


def test_what_lies_inside_a_value_is_found_at_its_key() -> None:
    lines = lines_of_keys("[events]\n\nlist = [\n 1,\n]\n")
    assert line_of(("events", "list", 0), lines) == 3
    assert line_of(("events", "gone"), lines) == 1
    assert line_of(("nowhere",), lines) == 1


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)
VALUES = st.one_of(
    st.sampled_from(
        ['"""\n[a]\nb = 1\n"""', "'''\nx = '' '''", "[\n 1, # ]\n]", '"""a\\"""" # c', "{ a = [1] }"]
    ),
    texts.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    st.integers().map(str),
)
KEYS = st.sampled_from(["a", "b", '"c d"', "'e.f'", "a1.g", "b1 . 'h'"])


@given(
    st.lists(
        st.tuples(st.sampled_from(["t", "u", "v"]), st.dictionaries(KEYS, VALUES, max_size=4)), max_size=4
    )
)
def test_no_value_hides_a_key(tables: list[tuple[str, dict[str, str]]]) -> None:
    """Whatever the values are, each key is found on the line that it was written on."""
    text = ""
    expected: dict[Path, int] = {}
    for number, (name, values) in enumerate(tables):
        text += f"[[{name}]]\n"
        place = sum(1 for each, _ in tables[:number] if each == name)
        for key, value in values.items():
            parts = tuple(
                part.strip().strip("'\"") for part in ([key] if key[0] in "'\"" else key.split("."))
            )
            expected[(name, place, *parts)] = text.count("\n") + 1
            text += f"{key} = {value}\n"
    lines = lines_of_keys(text)
    assert {path: lines[path] for path in expected} == expected
    assert {path for path in lines if _is_leaf(path, tomllib.loads(text))} == set(expected)


def _is_leaf(path: Path, document: Any) -> bool:
    for part in path:
        document = document[part]
    at_key = isinstance(path[-1], str) and len(path) > 2
    return at_key and (path[-1] not in ("a1", "b1"))
