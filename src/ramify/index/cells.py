"""Files intervals of numbers so that one look-up per width finds those around a value.

Numbers are cut into cells of equal width, and an interval is filed under the two or three
cells that it touches, of a width near its own. A value lies in one cell of each width, so it
asks as many cells as there are widths in use. What it finds there is verified: the interval
touches the value's cell, but need not reach the value. Nothing is sorted and nothing rebuilt,
so adding and removing cost the same at a thousand intervals and at a million.

Rounding keeps order, so a value within an interval never lands outside the interval's cells.
"""

from __future__ import annotations

from math import floor, frexp, isfinite, ldexp

# Cells are 2**width wide. Every other power is enough, and keeps the widths in use few.
FINEST, COARSEST, STEP = -40, 1022, 2

Cell = int


def width_of(low: float, high: float) -> int:
    """The power of two whose cells suit an interval: three of them cover it."""
    _, exponent = frexp(min(high - low, 1e308))
    return max(FINEST, min(exponent + exponent % STEP, COARSEST))


def cells_of(low: float, high: float) -> tuple[int, range]:
    """The width and the cells that an interval is filed under."""
    width = width_of(low, high)
    first, last = cell_of(low, width), cell_of(high, width)
    while first is None or last is None or last - first > 2:
        width += STEP
        first, last = cell_of(low, width), cell_of(high, width)
    return width, range(first, last + 1)


def cell_of(value: float, width: int) -> Cell | None:
    """The cell of this width that a value lies in; `None` if it is out of reach for such cells."""
    try:
        scaled = ldexp(value, -width)
    except OverflowError:
        return None
    return floor(scaled) if isfinite(scaled) else None
