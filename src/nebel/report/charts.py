"""Charts as inline SVG: lines, bars, heat maps. Text and axes take the page's colour, so they are readable light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 80.0, 16.0, 40.0, 48.0
COLOURS = ("#3d7edb", "#d9822b", "#2a9d6f", "#b455b6", "#8a8f98", "#c8473f")
"""Of the first, second ... series; all of them are clear on white and on near black."""


Mark = Callable[[int, float, float], str]
"""Of a series in the legend, by its number and place."""


class Axis(NamedTuple):
    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None


class Cell(NamedTuple):
    """One field of a heat map: its number, what is written small below, what is shown on pointing."""

    value: float | None
    below: str = ""
    hint: str = ""


def colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


def short(x: float) -> str:
    """A number on an axis."""
    if x and (abs(x) >= 1e6 or abs(x) < 1e-3):
        digits, power = f"{x:.1e}".split("e")
        return f"{digits.removesuffix('.0')}e{int(power)}"
    return f"{x:,.10g}"


class Scale:
    """From numbers to places between `begin` and `end`."""

    def __init__(self, axis: Axis, values: Sequence[float], begin: float, end: float) -> None:
        shown = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)] or [1.0]
        low = min(shown) if axis.low is None else axis.low
        high = max(shown) if axis.high is None else axis.high
        self.log, self.begin, self.end = axis.log, begin, end
        self.low, self.high = self._turn(low), self._turn(high)
        if self.high <= self.low:
            self.high = self.low + 1
        self.ticks = self._ticks()

    def _turn(self, x: float) -> float:
        return math.log10(x) if self.log else x

    def __call__(self, x: float) -> float:
        share = (self._turn(x) - self.low) / (self.high - self.low) if x > 0 or not self.log else 0.0
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)

    def _ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            if last > first:
                step = math.ceil((last - first + 1) / 8)
                return [10.0**k for k in range(first, last + 1, step)]
            low, high = 10**self.low, 10**self.high
            plain = [float(f"{digit}e{k}") for k in range(first - 1, last + 2) for digit in (1, 2, 3, 5, 7)]
            within = [tick for tick in plain if 0.999 * low <= tick <= 1.001 * high]
            return within if len(within) > 1 else [float(f"{end:.3g}") for end in (low, high)]
        rough = (self.high - self.low) / 5
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def _svg(width: float, height: float, parts: Sequence[str], title: str, top: float = 0) -> str:
    """A picture that begins at the height `top`."""
    size = f'width="{width:.0f}" height="{height - top:.0f}"'
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:.0f} {width:.0f} {height - top:.0f}" {size} '
        f'role="img" font-family="system-ui, sans-serif" font-size="13" fill="currentColor"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _line(x0: float, y0: float, x1: float, y1: float, opacity: float) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="currentColor" stroke-opacity="{opacity}"/>'


def _box(i: int, x: float, y: float) -> str:
    return f'<rect x="{x:.1f}" y="{y}" width="12" height="12" rx="2" fill="{colour(i)}"/>'


def _with_legend(title: str, names: Sequence[str], parts: Sequence[str], mark: Mark = _box, room: float = 12) -> str:
    """The picture with the names of its series above, in as many lines as they need, each behind a mark that takes so much room."""
    places, x, line = [], LEFT, 0
    for name in names:
        wide = 24 + room + 7.2 * len(name)
        if x > LEFT and x + wide > WIDTH:
            x, line = LEFT, line + 1
        places.append((x, line))
        x += wide
    legend = []
    for i, (name, (left, down)) in enumerate(zip(names, places, strict=True)):
        y = 10 - 20 * (line - down)
        legend += [mark(i, left, y), text(left + room + 5, y + 10.5, name, "start")]
    return _svg(WIDTH, HEIGHT, [*legend, *parts], title, -20 * line)


def _up_axis(scale: Scale, label: str) -> list[str]:
    parts = []
    for tick in scale.ticks:
        y = scale(tick)
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, 0.15), text(LEFT - 7, y + 4, short(tick), "end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [*parts, text(14, middle, label, more=f' transform="rotate(-90 14 {middle:.1f})"')]


def lines(title: str, series: Mapping[str, Sequence[tuple[float, float]]], x: Axis, y: Axis) -> str:
    """Curves through points (x, y). On a logarithmic axis what is not above 0 stands at the edge."""
    across = Scale(x, [point[0] for points in series.values() for point in points], LEFT, WIDTH - RIGHT)
    up = Scale(y, [point[1] for points in series.values() for point in points], HEIGHT - BOTTOM, TOP)
    parts = _up_axis(up, y.label)
    for tick in across.ticks:
        parts.append(text(across(tick), HEIGHT - BOTTOM + 18, short(tick)))
    parts += [_line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, 0.6), text((LEFT + WIDTH) / 2, HEIGHT - 8, x.label)]
    for i, points in enumerate(series.values()):
        path = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" {_stroke(i)}/>')
    return _with_legend(title, list(series), parts, lambda i, x, y: f'<polyline points="{x},{y + 6} {x + 26},{y + 6}" {_stroke(i)}/>', 26)


def _stroke(i: int) -> str:
    """Every other curve is dashed, so that one under another shows, and another of the same colour otherwise."""
    dashes = ' stroke-dasharray="7 5"' if (i + i // len(COLOURS)) % 2 else ""
    return f'fill="none" stroke="{colour(i)}" stroke-width="2.4" stroke-linejoin="round"{dashes}'


def bars(title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]], y: Axis, across: str = "") -> str:
    """Bars side by side in groups, each with its number; a gap where there is none."""
    known = [v for values in series.values() for v in values if v is not None]
    if not y.log:
        y = y._replace(low=0.0 if y.low is None else y.low, high=1.06 * max(known, default=1.0) if y.high is None else y.high)
    up = Scale(y, known, HEIGHT - BOTTOM, TOP)
    parts = _up_axis(up, y.label)
    room = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    wide = 0.82 * room / max(1, len(series))
    small = f' font-size="{min(11.0, max(7.5, wide / 3.4)):.1f}"'
    for g, group in enumerate(groups):
        middle = LEFT + (g + 0.5) * room
        parts.append(text(middle, HEIGHT - BOTTOM + 18, group))
        for i, values in enumerate(series.values()):
            value = values[g] if g < len(values) else None
            if value is None:
                continue
            left, top = middle + (i - len(series) / 2) * wide, up(value)
            parts.append(
                f'<rect x="{left + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" height="{HEIGHT - BOTTOM - top:.1f}" fill="{colour(i)}"/>'
            )
            parts.append(text(left + wide / 2, top - 4, short(value), more=small))
    parts += [_line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, 0.6), text((LEFT + WIDTH) / 2, HEIGHT - 8, across)]
    return _with_legend(title, list(series), parts)


def heat(title: str, rows: Sequence[str], cols: Sequence[str], cells: Sequence[Sequence[Cell]], down: str = "", across: str = "") -> str:
    """Numbers on a ground that is the stronger the larger they are."""
    wide, high = 74.0, 46.0
    left, top = 30 + 7.6 * max(map(len, rows)), 32 + 5.6 * max(map(len, cols))
    known = [cell.value for line in cells for cell in line if cell.value is not None]
    low, high_value = min(known, default=0.0), max(known, default=1.0)
    parts = [text(left + wide * len(cols) / 2, 14, across, more=' font-weight="600"')]
    middle = top + high * len(rows) / 2
    parts.append(text(13, middle, down, more=f' font-weight="600" transform="rotate(-90 13 {middle:.1f})"'))
    for j, name in enumerate(cols):
        x = left + (j + 0.5) * wide
        parts.append(text(x - 8, top - 8, name, "start", f' transform="rotate(-40 {x - 8:.1f} {top - 8:.1f})"'))
    for i, name in enumerate(rows):
        y = top + i * high
        parts.append(text(left - 8, y + high / 2 + 4, name, "end"))
        for j, cell in enumerate(cells[i]):
            if cell.value is not None:
                parts.append(_field(left + j * wide, y, wide, high, cell, (cell.value - low) / max(1e-12, high_value - low)))
    return _svg(left + wide * len(cols) + 90, top + high * len(rows) + 8, parts, title)


def _field(x: float, y: float, wide: float, high: float, cell: Cell, strength: float) -> str:
    assert cell.value is not None
    ground = f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{wide - 2:.1f}" height="{high - 2:.1f}" rx="4" fill="{COLOURS[1]}"'
    number = text(x + wide / 2, y + high / 2 + (4 if not cell.below else -1), f"{cell.value:.3f}", more=' font-weight="600"')
    below = text(x + wide / 2, y + high / 2 + 14, cell.below, more=' font-size="10.5" fill-opacity="0.75"') if cell.below else ""
    hint = f"<title>{escape(cell.hint)}</title>" if cell.hint else ""
    return f'<g>{hint}{ground} fill-opacity="{0.06 + 0.74 * strength:.2f}"/>{number}{below}</g>'
