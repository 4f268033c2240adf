"""Time series: per condition, throughput, CPU and disk over the trial, all trials overlaid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.scales import Scale, linear_ticks
from tare.report.svg import Panel, add, label, panel, polyline, tooltip

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
# The page stays below 2 MB: about this many points over all lines, and so many in one line.
_POINTS, _MOST, _LEAST = 60_000, 240, 16
_ROUND_SHADES = 4


@dataclass(frozen=True)
class _Frame:
    """What all panels share, so that conditions can be compared by eye."""

    strips: list[tuple[str, str, str, float]]
    x: Scale
    points: int
    rounds: dict[str, int]


def timeline_panels(analysis: Analysis, classes: dict[str, str]) -> list[Panel]:
    """One drawing per condition that has series, all with the same axes."""
    frame = _frame(analysis)
    if frame is None:
        return []
    names = [c.condition for c in analysis.conditions]
    names += sorted({s.condition for s in analysis.series} - set(names))
    panels = []
    for name in names:
        series = [s for s in analysis.series if s.condition == name]
        if series:
            panels.append(_draw(name, series, frame, classes.get(name, "c0")))
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
    lines = len(analysis.series) * len(strips)
    points = max(_LEAST, min(_MOST, _POINTS // lines))
    rounds = {t.trial: t.round for t in analysis.trials}
    return _Frame(strips, Scale(min(times), max(times), _LEFT, WIDTH - _RIGHT), points, rounds)


def _draw(name: str, series: list[Series], frame: _Frame, css: str) -> Panel:
    height = _TOP + len(frame.strips) * (_STRIP + _GAP) + _AXIS
    drawing = panel(f"Time series of {name}", WIDTH, height)
    add(drawing.root, "rect", f"chip {css}", x=0, y=6, width=11, height=11, rx=2)
    label(drawing.root, 18, 16, name, "title", length=40)
    for row, (metric, title, unit, high) in enumerate(frame.strips):
        top = _TOP + row * (_STRIP + _GAP) + _GAP - 4
        y = Scale(0, high, top + _STRIP, top)
        label(drawing.root, _LEFT, top - 6, title, "small")
        for tick in filter(y.holds, linear_ticks(high, 3)):
            at = y(tick)
            add(drawing.root, "line", "grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=at, y2=at)
            label(drawing.root, _LEFT - 6, at + 4, numbers.tick(tick, unit), "tiny muted end")
        for one in series:
            _line(drawing.root, one, metric, frame, y, css)
    _time_axis(drawing.root, frame.x, height - _AXIS + 10)
    return drawing


def _line(root: ET.Element, one: Series, metric: str, frame: _Frame, y: Scale, css: str) -> None:
    values = one.values.get(metric, [])
    kept = thin(values[: len(one.t)], frame.points)
    points: list[tuple[float, float] | None] = []
    for i in kept:
        value = values[i]
        points.append(
            (frame.x(one.t[i]), y(value)) if value is not None and _finite(value) else None
        )
    if not any(points):
        return
    round_ = frame.rounds.get(one.trial, 1)
    shade = f"r{min(round_, _ROUND_SHADES)}"
    path = polyline(root, points, f"trial {shade} {css}")
    tooltip(path, one.trial)


def thin(values: list[float | None], points: int) -> list[int]:
    """Indices to draw: all, or of each of points/2 equal stretches its least and largest value.

    So that a drawn line still shows every extreme. A stretch of gaps keeps one gap.
    """
    if len(values) <= points:
        return list(range(len(values)))
    stretches = max(1, points // 2)
    kept: set[int] = set()
    for k in range(stretches):
        span = range(k * len(values) // stretches, (k + 1) * len(values) // stretches)
        present = [(v, i) for i in span if (v := values[i]) is not None and _finite(v)]
        kept |= {min(present)[1], max(present)[1]} if present else {span[0]}
    return sorted(kept)


def _time_axis(root: ET.Element, x: Scale, top: float) -> None:
    ticks = [t for t in linear_ticks(max(x.high, 1e-9), 4) if x.holds(t)]
    for tick in ticks:
        place = "end" if x(tick) > WIDTH - _RIGHT - 12 else "middle"
        label(root, x(tick), top + 8, numbers.tick(tick, "s"), f"tiny muted {place}")
    label(root, WIDTH - _RIGHT, top + 24, "time in the measured part", "tiny muted end")


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
