"""Latency distributions: latency over percentile, with the tail stretched, a line a condition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.scales import Scale, log_ticks
from tare.report.svg import (
    Axis,
    Panel,
    add,
    describe,
    label,
    mark,
    panel,
    plot_area,
    polyline,
    tick_group,
    tooltip,
)

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from tare.analysis.model import Analysis, Distribution

_TOP, _BOTTOM, _LEFT, _RIGHT = 30, 40, 54, 10
_TITLES = {"ALL": "All operations", "READ": "Reads", "UPDATE": "Updates", "WRITE": "Writes"}


def latency_panels(analysis: Analysis, classes: dict[str, str], width: int) -> list[Panel]:
    """One drawing per operation and kind of latency, all with the same axes."""
    groups = distribution_groups(analysis)
    points = [p for group in groups.values() for d in group for p in positions(d)]
    if not points:
        return []
    every = [y for _, y in points]
    every += [y for group in groups.values() for d in group for y in _reach_of(d)]
    lows, highs = min(every), max(every)
    nines = max(1.0, max(x for x, _ in points))
    height = _TOP + _BOTTOM + (240 if width < 500 else 320)
    x = Axis(Scale(0, nines, _LEFT, width - _RIGHT), "nines", "%", "percentile")
    reach = Scale(math.log10(lows) - 0.03, math.log10(highs) + 0.03, height - _BOTTOM, _TOP)
    y = Axis(reach, "log", "us", "latency")
    number = {id(d): i for i, d in enumerate(analysis.distributions)}
    panels = []
    for title, group in groups.items():
        drawing = panel(f"Latency by percentile, {title}", width, height)
        names = ", ".join(d.condition for d in group)
        describe(
            drawing.root, f"One line each for {names}; the table of percentiles has the values."
        )
        label(drawing.root, 0, 16, title, "title", length=44)
        label(drawing.root, width - _RIGHT, 16, "latency (log scale)", "small muted end")
        _axes(drawing.root, x, y, lows, highs)
        area = plot_area(drawing.root, x, y)
        for distribution in group:
            _band(area, distribution, classes, x.scale, y.scale)
        for distribution in group:
            path = _line(area, distribution, classes, x.scale, y.scale)
            path.set("data-m", f"d{number[id(distribution)]}")
        panels.append(drawing)
    return panels


def distribution_groups(analysis: Analysis) -> dict[str, list[Distribution]]:
    """Distributions to draw together, by title.

    In a closed loop, response time equals service time and is not drawn a second time.
    """
    service = {
        (d.condition, d.operation): d.quantiles
        for d in analysis.distributions
        if d.kind == "service"
    }
    open_loop = any(
        d.kind == "response" and service.get((d.condition, d.operation)) != d.quantiles
        for d in analysis.distributions
    )
    kinds = ("response", "service") if open_loop else ("service",) if service else ("response",)
    groups: dict[str, list[Distribution]] = {}
    operations = sorted(
        {d.operation for d in analysis.distributions}, key=lambda name: (name != "ALL", name)
    )
    for operation in operations:
        for kind in kinds:
            group = [
                d for d in analysis.distributions if d.operation == operation and d.kind == kind
            ]
            title = _TITLES.get(operation, operation)
            if group:
                groups[f"{title}, {kind} time" if open_loop else title] = group
    return groups


def positions(distribution: Distribution) -> list[tuple[float, float]]:
    """(nines, microseconds): 90% is 1 nine, 99% is 2; never further than one sample resolves."""
    furthest = math.log10(max(distribution.count, 10))
    result = []
    for percentile, value in distribution.quantiles:
        if value <= 0 or not math.isfinite(value):
            continue
        rest = 1 - percentile / 100
        nines = furthest if rest <= 0 else -math.log10(rest)
        if nines <= furthest:
            result.append((nines, value))
    return result


def _axes(root: ET.Element, x_axis: Axis, y_axis: Axis, low: float, high: float) -> None:
    x_scale, y_scale = x_axis.scale, y_axis.scale
    left, right, bottom, top = x_scale.start, x_scale.end, y_scale.start, y_scale.end
    rows, columns = tick_group(root, "y", y_axis), tick_group(root, "x", x_axis)
    for tick in log_ticks(low, high):
        y = y_scale(math.log10(tick))
        add(rows, "line", "grid", x1=left, x2=right, y1=y, y2=y)
        label(rows, left - 6, y + 4, numbers.tick(tick, "us"), "small muted end")
    marks = [(0.0, "0"), (math.log10(2), "50")]
    marks += [(float(n), _nines(n)) for n in range(1, math.floor(x_scale.high + 1e-9) + 1)]
    last = -math.inf
    for nines, text in marks:
        x = x_scale(nines)
        add(columns, "line", "grid", x1=x, x2=x, y1=top, y2=bottom)
        if x - last > 26:
            place = "end" if x > right - 12 else "middle"
            label(columns, x, bottom + 15, text, f"small muted {place}")
            last = x + 3.2 * len(text)
    label(root, right, bottom + 32, "percentile (% of operations)", "small muted end")


def _nines(count: int) -> str:
    """1 is '90', 2 is '99', 3 is '99.9'."""
    return "90" if count == 1 else "99" + ("." + "9" * (count - 2) if count > 2 else "")


def banded(analysis: Analysis) -> bool:
    """Whether any curve has a band."""
    return any(one.band for one in analysis.distributions)


def _drawable(distribution: Distribution) -> list[tuple[float, float, float]]:
    """The part of the band that lies under the curve."""
    shown = {percentile for percentile, _ in distribution.quantiles}
    return [one for one in distribution.band if one[0] in shown and one[0] < 100 and one[1] > 0]


def _reach_of(distribution: Distribution) -> list[float]:
    """The lower and upper ends of the band."""
    return [value for _, *ends in _drawable(distribution) for value in ends]


def _band(
    root: ET.Element,
    distribution: Distribution,
    classes: dict[str, str],
    x_scale: Scale,
    y_scale: Scale,
) -> None:
    """The interval of the curve, as a surface behind all lines."""
    upper: list[tuple[float, float] | None] = []
    lower: list[tuple[float, float] | None] = []
    for percentile, low, high in _drawable(distribution):
        x = x_scale(-math.log10(1 - percentile / 100))
        upper.append((x, y_scale(math.log10(high))))
        lower.append((x, y_scale(math.log10(low))))
    if len(upper) < 2:
        return
    css = classes.get(distribution.condition, "c0").split()[0]
    surface = polyline(root, [*upper, *reversed(lower)], f"spread {css}")
    mark(surface, condition=distribution.condition)


def _line(
    root: ET.Element,
    distribution: Distribution,
    classes: dict[str, str],
    x_scale: Scale,
    y_scale: Scale,
) -> ET.Element:
    points = [(x_scale(x), y_scale(math.log10(y))) for x, y in positions(distribution)]
    css = classes.get(distribution.condition, "c0")
    path = polyline(root, list(points), f"line {css}")
    tooltip(
        path,
        f"{distribution.condition}: {numbers.count(distribution.count, 'operation')}, "
        f"{distribution.kind} time",
    )
    return mark(path, condition=distribution.condition)
