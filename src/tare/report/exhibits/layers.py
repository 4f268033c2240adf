"""The marks of a chart's layers: points, lines, bands, bars, intervals and boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tare.report.exhibits.shapes import bar, box, marker, whisker
from tare.report.exhibits.tables import number_text
from tare.report.svg import add, mark, number, polyline

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Mapping

    from tare.analysis.model import Chart, Layer
    from tare.report.exhibits.styles import Style
    from tare.report.svg import Axis

_FILLED = 0.78
"""Share of a category's width that its bars take."""
_WIDEST = 46.0
_DOTS = 60
"""Lines with more points than this have no marker each."""
ORDER = ("band", "bars", "boxes", "line", "intervals", "points")


@dataclass(frozen=True)
class Plot:
    """A chart with its axes and the styles of its series."""

    chart: Chart
    x: Axis
    y: Axis
    style: Mapping[str, Style]

    @cached_property
    def side_by_side(self) -> list[str]:
        """Series that stand beside each other in a category; none where lines join categories."""
        kinds = {layer.kind for layer in self.chart.layers}
        if not self.chart.categories or "line" in kinds:
            return []
        if self._one_per_category():
            return []
        return list(dict.fromkeys(layer.series for layer in self.chart.layers))

    @cached_property
    def overlapping(self) -> list[str]:
        """Series whose lines join categories: moved a little, so that none hides another."""
        layers = self.chart.layers
        return list(dict.fromkeys(one.series for one in layers if one.kind == "line"))

    @property
    def nudge(self) -> float:
        """Distance between such series, pixels."""
        return min(6.0, 0.5 * self.slot / max(1, len(self.overlapping)))

    def _one_per_category(self) -> bool:
        """Each category has marks of one series only."""
        owner: dict[float, str] = {}
        return all(
            owner.setdefault(x, layer.series) == layer.series
            for layer in self.chart.layers
            for x in layer.x
        )

    @cached_property
    def slot(self) -> float:
        """Width of one series in a category, pixels."""
        count = max(1, len(self.chart.categories))
        width = abs(self.x.scale.end - self.x.scale.start) / count
        return min(_FILLED * width / max(1, len(self.side_by_side)), _WIDEST)

    def at_x(self, value: float, series: str) -> float:
        """The position of a value, beside those of other series where they share a category."""
        middle = self.x.scale(math.log10(value) if self.x.kind == "log" else value)
        if self.chart.categories and series in self.overlapping:
            names = self.overlapping
            return middle + (names.index(series) - (len(names) - 1) / 2) * self.nudge
        if series not in self.side_by_side:
            return middle
        place = self.side_by_side.index(series)
        return middle + (place - (len(self.side_by_side) - 1) / 2) * self.slot

    def at_y(self, value: float) -> float:
        """The position of a value; off the axis where a log axis cannot show it."""
        if self.y.kind == "log":
            return self.y.scale(math.log10(value)) if value > 0 else self.y.scale.start
        return self.y.scale(value)

    @property
    def base(self) -> float:
        """The base of bars: at the reference, else at 0, else at the axis."""
        zero = self.chart.reference if self.chart.reference is not None else 0.0
        return self.at_y(zero) if self.y.scale.holds(zero) else self.y.scale.start

    def text_of(self, layer: Layer, i: int) -> str:
        """A mark in words: its label, the value, its interval."""
        lines = [layer.labels[i] if i < len(layer.labels) else layer.series]
        unit = self.chart.y_unit or "number"
        if i < len(layer.y):
            value = number_text(layer.y[i], unit)
            ends = _ends(layer, i)
            if ends is not None:
                value += f" [{', '.join(number_text(end, unit) for end in ends)}]"
            lines.append(f"{self.chart.y_title}: {value}")
        return "\n".join(lines)


def draw_layers(area: ET.Element, plot: Plot) -> None:
    """All layers, wide marks below narrow ones."""
    layers = sorted(plot.chart.layers, key=lambda one: (ORDER.index(one.kind), not one.minor))
    for layer in layers:
        style = plot.style[layer.series]
        css = f"layer {style.css}{' minor' if layer.minor else ''}"
        group = add(area, "g", css)
        if layer.kind == "band":
            _band(group, plot, layer)
        elif layer.kind == "line":
            _line(group, plot, layer)
        else:
            _marks(group, plot, layer, style)


def _band(group: ET.Element, plot: Plot, layer: Layer) -> None:
    upper, lower = [], []
    for i, x in enumerate(layer.x):
        ends = _ends(layer, i)
        if ends is not None:
            at = plot.at_x(x, layer.series)
            lower.append((at, plot.at_y(ends[0])))
            upper.append((at, plot.at_y(ends[1])))
    if len(upper) > 1:
        corners = [f"{number(x)} {number(y)}" for x, y in [*upper, *reversed(lower)]]
        shape = add(group, "path", "ribbon")
        shape.set("d", "M" + "L".join(corners) + "Z")
        _belongs(shape, layer, range(len(layer.x)), "")


def _line(group: ET.Element, plot: Plot, layer: Layer) -> None:
    points = [
        (plot.at_x(x, layer.series), plot.at_y(y)) for x, y in zip(layer.x, layer.y, strict=True)
    ]
    path = polyline(group, list(points), "curve")
    dotted = any(
        one.kind == "points" and one.series == layer.series and not one.minor
        for one in plot.chart.layers
    )
    # where points lie on the line, the points have the text
    _belongs(path, layer, range(len(layer.x)), "" if dotted else layer.labels[0])


def _marks(group: ET.Element, plot: Plot, layer: Layer, style: Style) -> None:
    # a band shows the same interval already
    banded = layer.kind == "points" and any(
        one.kind == "band" and one.series == layer.series for one in plot.chart.layers
    )
    for i, value in enumerate(layer.x):
        x = plot.at_x(value, layer.series)
        holder = add(group, "g", "mark")
        ends = _ends(layer, i)
        pixels = None if ends is None else (plot.at_y(ends[0]), plot.at_y(ends[1]))
        if layer.kind == "bars":
            half = plot.slot / 2 - min(1.5, plot.slot / 12)
            bar(holder, x - half, x + half, plot.base, plot.at_y(layer.y[i]), style.texture)
        if layer.kind == "boxes" and pixels is not None:
            first, third = (plot.at_y(q) for q in layer.quartiles[i])
            half = max(4.0, plot.slot * 0.36)
            box(holder, x, half, (first, third), plot.at_y(layer.y[i]), pixels)
        elif pixels is not None and not banded:
            whisker(holder, x, *pixels)
        if layer.kind == "points":
            shift = _shift(plot, layer, i)
            radius = 2.6 if layer.minor else 4.2 if len(layer.x) <= _DOTS else 2.4
            marker(holder, style.marker, x + shift, plot.at_y(layer.y[i]), radius)
        _belongs(holder, layer, range(i, i + 1), plot.text_of(layer, i))


def _shift(plot: Plot, layer: Layer, i: int) -> float:
    """A little to the side for single values of one category, so that each can be seen."""
    if not layer.minor or not plot.chart.categories:
        return 0.0
    place = sum(1 for x in layer.x[:i] if x == layer.x[i])
    return (place % 5 - 2) * min(3.0, plot.slot / 10)


def _ends(layer: Layer, i: int) -> tuple[float, float] | None:
    if i >= len(layer.low) or i >= len(layer.high):
        return None
    low, high = layer.low[i], layer.high[i]
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return low, high


def _belongs(element: ET.Element, layer: Layer, marks: range, text: str) -> None:
    """Conditions and trials that the marks come from."""
    conditions = {name for i in marks if i < len(layer.conditions) for name in layer.conditions[i]}
    trials = dict.fromkeys(t for i in marks if i < len(layer.trials) for t in layer.trials[i])
    mark(element, text, condition=" ".join(sorted(conditions)), trials=trials if text else ())
