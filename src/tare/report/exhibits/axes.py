"""The axes of an exhibit's chart: scales, round ticks, categories."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.escaping import plain, shorten
from tare.report.scales import log_ticks, round_up
from tare.report.svg import Axis, add, label, tick_group

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Iterator

    from tare.analysis.model import Chart, Layer

CHARACTER = 6.1
"""Width of a character of 11 px text, pixels, for leaving room."""
LINE = 13
_LINES = 3
_SLANTED = 16
_SLANT = 38
"""Degrees."""
# An axis that begins this near to 0 begins at 0.
_NEAR_ZERO = 0.4
_MOST_OWN_TICKS = 9
_BREAK = re.compile(r"(?<=[-. ])")


@dataclass(frozen=True)
class AxisRange:
    """The range that an axis must hold: from low to high, with its ticks."""

    low: float
    high: float
    ticks: list[float]


def y_values(chart: Chart) -> list[float]:
    """Everything that a chart shows along its vertical axis."""
    found = [value for layer in chart.layers for value in _heights(layer)]
    return [*found, *([chart.reference] if chart.reference is not None else [])]


def _heights(layer: Layer) -> Iterator[float]:
    ends = [*layer.low, *layer.high] if layer.kind != "line" else []
    for value in (*layer.y, *ends):
        if value is not None and math.isfinite(value):
            yield value


def y_span(chart: Chart, steps: int = 5) -> AxisRange:
    """The vertical axis: round ends; from 0 where bars stand on it or 0 is near."""
    values = y_values(chart) or [0.0]
    low, high = min(values), max(values)
    if chart.y_log and low > 0:
        return _log_span(low, high)
    if chart.y_down:
        return AxisRange(
            min(low, 1.0) - 0.4, high + 0.4, [float(i) for i in range(1, math.ceil(high) + 1)]
        )
    bars = any(layer.kind == "bars" for layer in chart.layers)
    if (bars or chart.y_from_zero or low < _NEAR_ZERO * high) and low > 0:
        low = 0.0
    if high < 0 and bars:
        high = 0.0
    if low == high:
        low, high = low - abs(low) * 0.05 - 1e-9, high + abs(high) * 0.05 + 1e-9
    step = round_up((high - low) / steps)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [i * step for i in range(first, last + 1)]
    return AxisRange(ticks[0], ticks[-1], ticks)


def x_span(chart: Chart, steps: int = 6) -> AxisRange:
    """The horizontal axis of numbers: the values themselves as ticks where they are few."""
    values = [x for layer in chart.layers for x in layer.x]
    values += [end for begin, finish, _ in chart.events for end in (begin, finish)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if chart.x_log and low > 0:
        return _log_span(low, high)
    own = sorted({x for layer in chart.layers if layer.kind == "points" for x in layer.x})
    if 0 < low < _NEAR_ZERO * high:
        low = 0.0
    room = (high - low) * 0.04 or abs(high) * 0.05 or 1.0
    if 1 < len(own) <= _MOST_OWN_TICKS and all(x == round(x, 3) for x in own):
        return AxisRange(low if low == 0 else low - room, high + room, own)
    step = round_up((high - low) / steps) if high > low else abs(high) or 1.0
    ticks = [
        i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]
    return AxisRange(low if low == 0 else low - room, high + room, ticks)


def _log_span(low: float, high: float) -> AxisRange:
    room = 10**0.04
    ticks = [math.log10(t) for t in log_ticks(low / room, high * room)]
    return AxisRange(math.log10(low / room), math.log10(high * room), ticks)


def tick_text(value: float, unit: str, *, log: bool = False) -> str:
    """A tick with its unit; counts have none."""
    shown = 10**value if log else value
    if unit == "%":
        return numbers.tick(shown, "").strip() + "%"
    return numbers.tick(shown, "" if unit == "count" else unit)


def tick_width(text: str) -> float:
    """Room for a tick's label, pixels; a percent sign is wider than a digit."""
    return (len(text) + 0.8 * text.count("%")) * CHARACTER


def draw_y(
    root: ET.Element, axis: Axis, span: AxisRange, left: float, right: float, unit: str
) -> None:
    """Grid lines and tick labels."""
    rows = tick_group(root, "y", axis)
    for tick in span.ticks:
        at = axis.scale(tick)
        add(rows, "line", "grid", x1=left, x2=right, y1=at, y2=at)
        text = tick_text(tick, unit, log=axis.kind == "log")
        label(rows, left - 6, at + 4, text, "small muted end")


def draw_x(root: ET.Element, axis: Axis, span: AxisRange, bottom: float, unit: str) -> None:
    """Small ticks and labels, as many as have room."""
    columns = tick_group(root, "x", axis)
    last = -math.inf
    for tick in span.ticks:
        at = axis.scale(tick)
        add(columns, "line", "grid", x1=at, x2=at, y1=bottom, y2=bottom + 4)
        text = tick_text(tick, unit, log=axis.kind == "log")
        half = len(text) * CHARACTER / 2
        if at - half > last + 4:
            label(columns, at, bottom + 17, text, "small muted middle")
            last = at + half


@dataclass(frozen=True)
class Categories:
    """Labels below a category axis.

    Attributes:
        lines: per category, its lines; one each if they are slanted.
        height: the room that they need, pixels.
    """

    lines: list[list[str]]
    slanted: bool
    height: float


def categories(names: list[str], width: float) -> Categories:
    """Labels for categories of this width each: in up to three lines, else slanted."""
    room = max(1, int((width - 4) / CHARACTER))
    wrapped = [_wrap(plain(name), room) for name in names]
    if all(len(lines) <= _LINES and all(len(x) <= room for x in lines) for lines in wrapped):
        most = max((len(lines) for lines in wrapped), default=1)
        return Categories(wrapped, slanted=False, height=6 + LINE * most)
    short = [[shorten(name, _SLANTED)] for name in names]
    longest = max((len(lines[0]) for lines in short), default=0)
    return Categories(short, slanted=True, height=14 + longest * CHARACTER * 0.6)


def slanted_reach(found: Categories) -> float:
    """How far slanted labels reach to the left of their ticks, pixels."""
    longest = max((len(lines[0]) for lines in found.lines), default=0)
    return longest * CHARACTER * math.cos(math.radians(_SLANT)) + 8


def draw_categories(
    root: ET.Element, axis: Axis, names: list[str], found: Categories, bottom: float
) -> None:
    """The labels, the whole name in a tooltip where it is cut."""
    columns = tick_group(root, "x", axis)
    for place, lines in enumerate(found.lines):
        at = axis.scale(place)
        if found.slanted:
            text = label(columns, at + 3, bottom + 12, lines[0], "small muted end")
            text.set("transform", f"rotate(-{_SLANT} {at + 3:.1f} {bottom + 12:.1f})")
            if lines[0] != plain(names[place]):
                add(text, "title").text = plain(names[place])
            continue
        for row, line in enumerate(lines):
            label(columns, at, bottom + 15 + LINE * row, line, "small muted middle")


def _wrap(text: str, room: int) -> list[str]:
    """The text in lines of at most so many characters, if it has a place to break."""
    lines = [""]
    for word in _BREAK.split(text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > room:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]
