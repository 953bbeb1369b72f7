"""On which line of a TOML text each key stands: Python's reader does not tell.

The text is known to be TOML, so this reads only as much of the grammar as leads from one key to
the next: headers, keys, and the ends of values. Inside a value the line is that of its key.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_PIECE = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'''
    r"""|'{3}(?:[^']|'(?!''))*'{3,5}"""
    r'''|"(?:[^"\\\n]|\\.)*"'''
    r"""|'[^'\n]*'|\#[^\n]*|[\[{]|[\]}]|\n|[^"'\#\[\]{}\n]+""",
    re.DOTALL,
)


def lines_of_keys(text: str) -> dict[Path, int]:
    """The line, from 1, of each table and key; the tables of an array are told by number."""
    return _Scanner(text.replace("\r\n", "\n")).scanned()


def line_of(path: Path, lines: dict[Path, int]) -> int:
    """The line of a key, or of the nearest one that it lies in."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._lines: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        """How many tables each array has so far."""

    def scanned(self) -> dict[Path, int]:
        prefix: Path = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                prefix = self._header()
            else:
                self._note(prefix, self._key())
                self._at += 1  # the equals sign
                self._skip_value()
        return self._lines

    def _header(self) -> Path:
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        parts, line = self._key(), self._line()
        self._at += 2 if is_array else 1
        path = self._numbered(parts[:-1]) + parts[-1:]
        if is_array:
            number = self._counts[path] = self._counts.get(path, -1) + 1
            self._lines.setdefault(path, line)
            path = (*path, number)
        else:
            path = self._numbered(parts)
        self._lines.setdefault(path, line)
        return path

    def _numbered(self, parts: Path) -> Path:
        """A header below an array of tables means its last one."""
        path: Path = ()
        for part in parts:
            path = (*path, part)
            if path in self._counts:
                path = (*path, self._counts[path])
        return path

    def _note(self, prefix: Path, parts: Path) -> None:
        for end in range(1, len(parts) + 1):
            self._lines.setdefault(prefix + parts[:end], self._line())

    def _key(self) -> Path:
        parts: list[str | int] = []
        while True:
            self._skip(_SPACE)
            found = _PART.match(self._text, self._at)
            if found is None:
                return tuple(parts)
            self._at = found.end()
            parts.append(_plain(found[0]))
            self._skip(_SPACE)
            if self._text[self._at : self._at + 1] != ".":
                return tuple(parts)
            self._at += 1

    def _skip_value(self) -> None:
        depth = 0
        while found := _PIECE.match(self._text, self._at):
            self._at = found.end()
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
            if found[0] == "\n" and depth == 0:
                return

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        self._at = self._at if found is None else found.end()
        return self._at

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1


def _plain(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    import tomllib

    # The reader itself knows best what an escape means.
    return str(tomllib.loads(f"key = {part}")["key"])
