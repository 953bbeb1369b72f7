"""What every dialect asks of a text, whether it is a pattern or a topic.

The limits are MQTT's, so that whatever one surface accepts, all of them can carry.
"""

from __future__ import annotations

from collections.abc import Iterator

from ramify.errors import InvalidText

MOST_BYTES = 65_535


def check_text(text: str, error: type[InvalidText]) -> None:
    """Raise the error if the text has a NUL, a lone surrogate or more than 65,535 bytes of UTF-8."""
    # In ASCII a character is a byte, so the three quick answers settle nearly every text.
    if "\0" in text or len(text) > MOST_BYTES or not text.isascii():
        _check_carefully(text, error)


def _check_carefully(text: str, error: type[InvalidText]) -> None:
    if "\0" in text:
        raise error(text, text.index("\0") + 1, "NUL is not allowed")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as refusal:
        raise error(text, refusal.start + 1, "a lone surrogate is not allowed") from None
    if size > MOST_BYTES:
        fitting = text.encode()[:MOST_BYTES].decode(errors="ignore")
        raise error(text, len(fitting) + 1, f"the text goes on after {MOST_BYTES:,} bytes of UTF-8")


def check_whitespace(text: str, error: type[InvalidText]) -> None:
    """Raise the error if any character is whitespace."""
    if text and text.split() != [text]:
        column = next(column for column, char in enumerate(text, 1) if char.isspace())
        raise error(text, column, "whitespace is not allowed")


def with_columns(words: list[str], first: int = 1) -> Iterator[tuple[int, str]]:
    """Each word of a text that was split at one character, with the column where it starts."""
    for word in words:
        yield first, word
        first += len(word) + 1
