"""A whole pipeline in one TOML file: read, checked, and every flaw named with its line.

All flaws are found in one go. Paths are relative to the file, and `${NAME}` stands for a variable
of the environment, so that no password need be written down.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields as fields_of

from ramify.errors import InvalidFile, InvalidPolicy
from ramify.jobs.description import Pipeline
from ramify.jobs.flaws import contradictions
from ramify.jobs.toml_lines import Path as Keys
from ramify.jobs.toml_lines import line_of, lines_of_keys
from ramify.pipeline.durations import microseconds

DURATIONS = ("quiet", "max_wait", "trigger", "watermark", "refresh")
LARGEST = 1_048_576
"""A file of more bytes is none that a person wrote."""

_VARIABLE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True, order=True)
class Flaw:
    """Something in a pipeline file that cannot be."""

    line: int
    key: str
    words: str

    def __str__(self) -> str:
        return f"{self.key} {self.words}".strip()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file describes, unless it has flaws."""

    pipeline: Pipeline | None
    flaws: tuple[Flaw, ...]


def read_pipeline(path: Path, environment: Mapping[str, str]) -> Checked:
    """Read a file, or say all that is wrong with it."""
    try:
        content = path.read_bytes()[: LARGEST + 1]
        text = content.decode()
    except OSError as refusal:
        raise InvalidFile(str(path), refusal.strerror or str(refusal)) from None
    except UnicodeDecodeError:
        raise InvalidFile(str(path), "is not UTF-8") from None
    if len(content) > LARGEST:
        raise InvalidFile(
            str(path), f"has more than {LARGEST:,} bytes; a pipeline is described in a few lines"
        )
    return check_text(text, path.parent, environment)


def check_text(text: str, folder: Path, environment: Mapping[str, str]) -> Checked:
    """The same of a text, whose paths are relative to a folder."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as refusal:
        return Checked(None, (_misspelt(str(refusal), text),))
    lines = lines_of_keys(text)
    reader = _Reader(folder, environment)
    pipeline = reader.struct(Pipeline, document, ())
    found = reader.flaws + ([] if reader.flaws or pipeline is None else list(contradictions(pipeline)))
    flaws = sorted(Flaw(line_of(keys, lines), _dotted(keys), words) for keys, words in found)
    return Checked(None if flaws else pipeline, tuple(flaws))


def _misspelt(said: str, text: str) -> Flaw:
    place = _PLACE.search(said)
    line = int(place[1]) if place and place[1] else text.count("\n") + 1
    words = _PLACE.sub("", said)
    return Flaw(line, "", f"not TOML: {words[:1].lower()}{words[1:]}")


def _dotted(keys: Keys) -> str:
    """`sinks[0].path`."""
    text = ""
    for key in keys:
        text += f"[{key + 1}]" if isinstance(key, int) else f".{key}"
    return text.removeprefix(".")


class _Reader:
    """Makes values of tables, and gathers what does not fit."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self.flaws: list[tuple[Keys, str]] = []

    def struct(self, kind: type[Struct], table: Any, keys: Keys) -> Any:
        """A table as a value; nothing, if it has a flaw."""
        if not isinstance(table, dict):
            return self._refuse(keys, f"is {_shown(table)}, wanted a table")
        known = {field.name: field for field in fields_of(kind)}
        before, values = len(self.flaws), {}
        for name, value in table.items():
            if name not in known:
                self._refuse((*keys, name), f"is unknown{_nearest(name, known)}")
            else:
                values[name] = self._value(known[name].type, value, (*keys, name))
        for name, field in known.items():
            if field.required and name not in table:
                self._refuse((*keys, name) if keys else (name,), "is missing")
        return kind(**values) if len(self.flaws) == before else None

    def _value(self, kind: Any, value: Any, keys: Keys) -> Any:
        kinds = _alternatives(kind)
        nested = next((each for each in kinds if isinstance(each, type) and issubclass(each, Struct)), None)
        if nested is not None:
            return self.struct(nested, value, keys)
        if get_origin(kinds[0]) is tuple:
            return self._list(get_args(kinds[0])[0], value, keys)
        if get_origin(kinds[0]) is dict:
            return self._options(value, keys)
        return self._plain(kinds, self._filled_in(value, keys), keys)

    def _list(self, kind: Any, value: Any, keys: Keys) -> Any:
        if not isinstance(value, list):
            if kind is not str or not isinstance(value, str):
                return self._refuse(keys, f"is {_shown(value)}, wanted a list")
            value = [value]
        return tuple(self._value(kind, each, (*keys, at)) for at, each in enumerate(value))

    def _options(self, value: Any, keys: Keys) -> Any:
        if not isinstance(value, dict):
            return self._refuse(keys, f"is {_shown(value)}, wanted a table")
        flat = dict(_flattened(value))
        for name, each in flat.items():
            if not isinstance(each, str | int | float):
                self._refuse((*keys, name), f"is {_shown(each)}, wanted a text")
        return {name: _option(self._filled_in(each, (*keys, name))) for name, each in flat.items()}

    def _plain(self, kinds: list[Any], value: Any, keys: Keys) -> Any:
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if choices and value not in choices:
            return self._refuse(keys, f"is {_shown(value)}; one of {', '.join(choices)}")
        if not choices and not _fits(value, kinds):
            return self._refuse(
                keys, f"is {_shown(value)}, wanted {' or '.join(_WORDS[kind] for kind in kinds)}"
            )
        return self._meant(value, keys)

    def _meant(self, value: Any, keys: Keys) -> Any:
        """What a value stands for beyond its type: a duration, a place on disk."""
        if keys[-1] in DURATIONS:
            try:
                microseconds(value)
            except InvalidPolicy as refusal:
                return self._refuse(keys, f"is no duration: {refusal}")
        if keys[-1] in ("path", "checkpoint") and isinstance(value, str) and "://" not in value:
            return str(self._folder / value)
        return value

    def _filled_in(self, value: Any, keys: Keys) -> Any:
        if not isinstance(value, str):
            return value

        def fill(found: re.Match[str]) -> str:
            if found[1]:
                return found[0][1:]
            if found[2] not in self._environment:
                self._refuse(keys, f"needs the environment variable {found[2]}, which is not set")
            return self._environment.get(found[2], "")

        return _VARIABLE.sub(fill, value)

    def _refuse(self, keys: Keys, words: str) -> None:
        self.flaws.append((keys, words))


_WORDS: dict[Any, str] = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


def _alternatives(kind: Any) -> list[Any]:
    if get_origin(kind) in (Union, UnionType):
        return [each for each in get_args(kind) if each is not NoneType]
    return [kind]


def _fits(value: Any, kinds: list[Any]) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    return any(isinstance(value, kind) or (kind is float and isinstance(value, int)) for kind in kinds)


def _flattened(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Options such as `kafka.bootstrap.servers` are nested tables to TOML unless they stand in quotes."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: Any) -> str:
    text = "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}"
