r"""Reads and writes the texts of `like`: `%` is any text, `\%` and `\\` are plain, `_` is nothing special."""

from __future__ import annotations


class EscapeError(ValueError):
    """A backslash stands before something that needs none."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


def read_like(text: str) -> tuple[str, ...]:
    """Cut a text at its `%` into literal pieces; runs of `%` mean the same as one."""
    if "\\" not in text:
        return _without_empty_middle(text.split("%"))
    pieces, piece, position = [], "", 0
    while position < len(text):
        letter = text[position]
        if letter == "%":
            pieces.append(piece)
            piece = ""
        elif letter == "\\":
            position += 1
            if text[position : position + 1] not in ("%", "\\"):
                raise EscapeError(position - 1)
            piece += text[position]
        else:
            piece += letter
        position += 1
    return _without_empty_middle([*pieces, piece])


def write_like(pieces: tuple[str, ...]) -> str:
    """Write pieces so that `read_like` gives them back."""
    return "%".join(piece.replace("\\", "\\\\").replace("%", "\\%") for piece in pieces)


def _without_empty_middle(pieces: list[str]) -> tuple[str, ...]:
    if len(pieces) < 3:
        return tuple(pieces)
    return (pieces[0], *filter(None, pieces[1:-1]), pieces[-1])
