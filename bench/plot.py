"""A small line plot with logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 88, 52
COLOURS = ("#2563eb", "#d97706", "#059669", "#be185d", "#6d28d9", "#475569")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#334155}"
    ".grid{stroke:#cbd5e1;stroke-width:1}.curve{fill:none;stroke-width:2.5;stroke-linejoin:round}"
)


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to join, and what they are."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps values to pixels by their logarithm, from one power of ten to another."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def decades(self) -> list[float]:
        """The powers of ten on it."""
        return [10.0**power for power in range(self.low, self.high + 1)]


def draw(curves: list[Curve], x_name: str, y_name: str) -> str:
    """The plot as an SVG document."""
    points = [point for curve in curves for point in curve.points]
    x = _axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = _axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(y_name)} by {escape(x_name)}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_grid(x, y),
        _text((x.start + x.end) / 2, HEIGHT - 12, x_name, "middle"),
        _text(LEFT - 48, TOP - 16, y_name, "start"),
    ]
    for number, curve in enumerate(curves):
        parts += _curve(curve, COLOURS[number % len(COLOURS)], number, x, y)
    return "\n".join([*parts, "</svg>", ""])


def _axis(values: list[float], start: float, end: float) -> Axis:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return Axis(low, max(high, low + 1), start, end)


def _grid(x: Axis, y: Axis) -> list[str]:
    parts = []
    for value in x.decades:
        at = x.at(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{y.start}" x2="{at:.1f}" y2="{y.end}"/>')
        parts.append(_text(at, y.start + 18, f"{value:,.7g}", "middle"))
    for value in y.decades:
        at = y.at(value)
        parts.append(f'<line class="grid" x1="{x.start}" y1="{at:.1f}" x2="{x.end}" y2="{at:.1f}"/>')
        parts.append(_text(x.start - 8, at + 4, f"{value:,.7g}", "end"))
    return parts


def _curve(curve: Curve, colour: str, number: int, x: Axis, y: Axis) -> list[str]:
    places = [(x.at(across), y.at(up)) for across, up in curve.points]
    line = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    dots = "".join(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3.5"/>' for across, up in places)
    column, row = LEFT + number % 2 * 300, 20 + number // 2 * 20
    return [
        f'<polyline class="curve" stroke="{colour}" points="{line}"/><g fill="{colour}">{dots}</g>',
        f'<line x1="{column}" y1="{row}" x2="{column + 24}" y2="{row}" stroke="{colour}" stroke-width="3"/>',
        _text(column + 32, row + 4, curve.name, "start"),
    ]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
