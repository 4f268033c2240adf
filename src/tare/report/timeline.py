"""Time series: per condition, throughput, CPU and disk over the trial, all trials overlaid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.report import numbers
from tare.report.labels import condition_labels
from tare.report.scales import Scale, linear_ticks
from tare.report.svg import (
    Axis,
    Panel,
    add,
    describe,
    label,
    mark,
    number,
    panel,
    plot_area,
    polyline,
    tick_group,
)

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from tare.analysis.model import Analysis, Series

WIDTH = 360
_LEFT, _RIGHT, _TOP, _STRIP, _GAP, _AXIS = 80, 8, 26, 58, 26, 40

# (name of the series, title, unit), in the order of the strips.
STRIPS = (
    ("throughput", "Throughput", "operations/s"),
    ("p99", "99th percentile latency", "us"),
    ("server_cpu", "Database CPU", "cores"),
    ("machine_cpu", "Machine CPU", "cores"),
    ("disk_write", "Disk writes", "bytes/s"),
    ("disk_read", "Disk reads", "bytes/s"),
)
# The page stays below 3 MB: about this many points over all lines, and so many in one line.
_POINTS, _MOST, _LEAST = 38_000, 240, 16
_ROUND_SHADES = 4


@dataclass(frozen=True)
class _Frame:
    """The parts that all panels share, so that conditions can be compared by eye."""

    strips: list[tuple[str, str, str, float]]
    x: Scale
    points: int
    rounds: dict[str, int]
    numbers: dict[str, int]
    """Trial to the place of its series in the analysis."""


def timeline_panels(analysis: Analysis, classes: dict[str, str]) -> list[Panel]:
    """One drawing per condition that has series, all with the same axes."""
    frame = _frame(analysis)
    if frame is None:
        return []
    names = [c.condition for c in analysis.conditions]
    names += sorted({s.condition for s in analysis.series} - set(names))
    panels = []
    labels = condition_labels(analysis)
    for name in names:
        series = [s for s in analysis.series if s.condition == name]
        if series:
            said = labels.get(name, name)
            panels.append(_draw(name, said, series, frame, classes.get(name, "c0")))
    return panels


def _frame(analysis: Analysis) -> _Frame | None:
    strips = []
    for name, title, unit in STRIPS:
        values = [v for s in analysis.series for v in s.values.get(name, []) if _finite(v)]
        high = max((v for v in values if v is not None), default=0.0)
        if high > 0:
            strips.append((name, title, unit, high * 1.03))
    times = [t for s in analysis.series for t in s.t]
    if not strips or not times:
        return None
    rounds = {t.trial: t.round for t in analysis.trials}
    places = {s.trial: i for i, s in enumerate(analysis.series)}
    x = Scale(min(times), max(times), _LEFT, WIDTH - _RIGHT)
    return _Frame(strips, x, points_per_line(analysis), rounds, places)


def points_per_line(analysis: Analysis) -> int:
    """How many points of each line are drawn."""
    names = [name for name, _, _ in STRIPS]
    lines = sum(name in s.values for s in analysis.series for name in names)
    return max(_LEAST, min(_MOST, _POINTS // max(1, lines)))


def longest_line(analysis: Analysis) -> int:
    """The number of recorded points of the longest series."""
    return max((len(s.t) for s in analysis.series), default=0)


def drawn_points(one: Series, metric: str, points: int) -> list[tuple[float, float | None]]:
    """(t, value) of a series' drawn points; a gap has None."""
    values = one.values.get(metric, [])
    kept = thin(values[: len(one.t)], points)
    return [(one.t[i], v if _finite(v := values[i]) else None) for i in kept]


def _draw(name: str, said: str, series: list[Series], frame: _Frame, css: str) -> Panel:
    height = _TOP + len(frame.strips) * (_STRIP + _GAP) + _AXIS
    drawing = panel(f"Time series of {said}", WIDTH, height, name)
    strips = ", ".join(title.lower() for _, title, _, _ in frame.strips)
    trials = numbers.count(len(series), "trial")
    describe(drawing.root, f"{trials}, one line each, of {strips}, over the measured part.")
    add(drawing.root, "rect", f"chip {css}", x=0, y=6, width=11, height=11, rx=2)
    label(drawing.root, 18, 16, said, "title", length=40)
    x = Axis(frame.x, "linear", "s", "time")
    for row, (metric, title, unit, high) in enumerate(frame.strips):
        top = _TOP + row * (_STRIP + _GAP) + _GAP - 4
        y = Axis(Scale(0, high, top + _STRIP, top), "linear", unit, metric)
        label(drawing.root, _LEFT, top - 6, title, "small")
        ticks = tick_group(drawing.root, "y", y)
        for tick in filter(y.scale.holds, linear_ticks(high, 3)):
            at = y.scale(tick)
            add(ticks, "line", "grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=at, y2=at)
            label(ticks, _LEFT - 6, at + 4, numbers.tick(tick, unit), "tiny muted end")
        area = plot_area(drawing.root, x, y)
        _events(area, series, frame.x, top)
        for one in series:
            _line(area, one, metric, frame, y.scale, css)
    _time_axis(drawing.root, x, height - _AXIS + 10)
    return drawing


def _events(area: ET.Element, series: list[Series], x: Scale, top: float) -> None:
    """Stretches with an event in a trial, such as a compaction, one shade a kind."""
    kinds: dict[str, list[tuple[float, float]]] = {}
    for one in series:
        for start, end, what in one.events:
            if math.isfinite(start) and math.isfinite(end) and end >= x.low and start <= x.high:
                kinds.setdefault(what, []).append((start, end))
    bottom = top + _STRIP
    for what, stretches in kinds.items():
        parts = []
        for start, end in stretches:
            left = number(x(start))
            right = number(max(x(end), x(start) + 1))  # a short one is still seen
            parts.append(f"M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}Z")
        path = add(area, "path", "event")
        path.set("d", "".join(parts))
        mark(path, f"{what}: {numbers.count(len(stretches), 'time')} in all trials here")


def _line(area: ET.Element, one: Series, metric: str, frame: _Frame, y: Scale, css: str) -> None:
    points = [
        None if value is None else (frame.x(t), y(value))
        for t, value in drawn_points(one, metric, frame.points)
    ]
    if not any(points):
        return
    round_ = frame.rounds.get(one.trial, 1)
    shade = f"r{min(round_, _ROUND_SHADES)}"
    path = polyline(area, points, f"trial {shade} {css}")
    path.set("data-m", f"s{frame.numbers[one.trial]}.{metric}")


def thin(values: list[float | None], points: int) -> list[int]:
    """Indices to draw: all, or the least and largest value of each of points/2 equal stretches.

    So a drawn line still shows every extreme. A stretch of gaps keeps one gap.
    """
    if len(values) <= points:
        return list(range(len(values)))
    heights = np.array(values, dtype=float)  # None becomes NaN
    present = np.isfinite(heights)
    stretches = max(1, points // 2)
    starts = np.arange(stretches) * len(values) // stretches
    stretch = np.repeat(np.arange(stretches), np.diff([*starts, len(values)]))
    kept = set(starts[np.bincount(stretch[present], minlength=stretches) == 0].tolist())
    for sign in (1.0, -1.0):
        ends = np.minimum.reduceat(np.where(present, sign * heights, np.inf), starts)
        places = np.flatnonzero(present & (sign * heights == ends[stretch]))
        kept |= set(places[np.unique(stretch[places], return_index=True)[1]].tolist())
    return sorted(kept)


def _time_axis(root: ET.Element, axis: Axis, top: float) -> None:
    x = axis.scale
    group = tick_group(root, "x", axis)
    for tick in [t for t in linear_ticks(max(x.high, 1e-9), 4) if x.holds(t)]:
        place = "end" if x(tick) > WIDTH - _RIGHT - 12 else "middle"
        label(group, x(tick), top + 8, numbers.tick(tick, "s"), f"tiny muted {place}")
    label(root, WIDTH - _RIGHT, top + 24, "time in the measured part", "tiny muted end")


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
