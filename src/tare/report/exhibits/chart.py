"""One chart of an exhibit as a drawing: title, legend, axes, and the marks of its layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.report.exhibits import axes
from tare.report.exhibits.layers import Plot, draw_layers
from tare.report.exhibits.legend import draw_legend, legend_height
from tare.report.scales import Scale
from tare.report.svg import Axis, Panel, add, describe, label, panel, plot_area, tooltip

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Mapping

    from tare.analysis.model import Chart
    from tare.report.exhibits.styles import Style

Kind = Literal["linear", "log", "category"]

_RIGHT, _TITLE, _AXIS_TITLE = 12, 26, 20
_SECOND = 16
"""From the first line of a title to the second, pixels."""
_LEFT_LEAST = 36
_PLOT_HEIGHT = 220
_WIDE = 500


@dataclass(frozen=True)
class _Room:
    """Where the plot lies in the drawing, pixels."""

    left: float
    right: float
    top: float
    bottom: float


def draw_chart(chart: Chart, style: Mapping[str, Style], width: int) -> Panel:
    """The drawing of one chart in a given width."""
    span = axes.y_span(chart)
    ticks = [axes.tick_text(t, chart.y_unit, log=chart.y_log) for t in span.ticks]
    left = max(_LEFT_LEAST, 12 + max(axes.tick_width(t) for t in ticks))
    names = (
        axes.categories(chart.categories, (width - left - _RIGHT) / len(chart.categories))
        if (chart.categories)
        else None
    )
    if names is not None and names.slanted:
        # the first label reaches to the left of its tick
        slot = (width - left - _RIGHT) / len(chart.categories)
        left = max(left, axes.slanted_reach(names) - slot / 2)
    title = title_lines(chart, width)
    head = (_TITLE + _SECOND * (len(title) - 1)) if title else 4
    top = head + legend_height(chart, style, width)
    top += 26 if _titled(chart) else 14
    bottom = top + (_PLOT_HEIGHT if width < _WIDE else _PLOT_HEIGHT + 60)
    below = names.height + 8 if names else 24
    height = round(bottom + below + (_AXIS_TITLE if chart.x_title else 0))
    drawing = panel(chart.title or chart.y_title, width, height)
    describe(drawing.root, _description(chart))
    for row, line in enumerate(title):
        css = "small" if row else "title"
        label(drawing.root, 0, 16 + _SECOND * row, line, css, length=_letters(width))
    draw_legend(drawing.root, chart, style, width, head)
    room = _Room(left, width - _RIGHT, top, bottom)
    _draw_plot(drawing.root, chart, style, room, names)
    if chart.x_title:
        label(drawing.root, room.right, height - 6, chart.x_title, "small muted end", length=60)
    return drawing


def title_lines(chart: Chart, width: int) -> list[str]:
    """The title; in a narrow drawing the metric, and below it the levels that it is about."""
    title, metric = chart.title, f"{chart.y_title}, "
    if width < _WIDE and title.startswith(metric):
        return [chart.y_title, title.removeprefix(metric)]
    if len(title) <= _letters(width):
        return [title] if title else []
    first, _, rest = title.partition(", ")
    return [first, rest] if rest else [title]


def _letters(width: int) -> int:
    return int(width / 7.4)


def _draw_plot(
    root: ET.Element,
    chart: Chart,
    style: Mapping[str, Style],
    room: _Room,
    names: axes.Categories | None,
) -> None:
    y_span = axes.y_span(chart)
    ends = (y_span.high, y_span.low) if chart.y_down else (y_span.low, y_span.high)
    y_kind: Kind = "category" if chart.y_down else "log" if chart.y_log else "linear"
    y = Axis(Scale(*ends, room.bottom, room.top), y_kind, chart.y_unit, _key(chart.y_title))
    if _titled(chart):
        label(root, 0, room.top - 13, chart.y_title, "small muted", length=60)
    axes.draw_y(root, y, y_span, room.left, room.right, chart.y_unit)
    if names is not None:
        count = len(chart.categories)
        x = Axis(Scale(-0.5, count - 0.5, room.left, room.right), "category", "", "x")
        axes.draw_categories(root, x, chart.categories, names, room.bottom)
    else:
        span = axes.x_span(chart)
        kind: Kind = "log" if chart.x_log else "linear"
        scale = Scale(span.low, span.high, room.left, room.right)
        x = Axis(scale, kind, chart.x_unit, _key(chart.x_title))
        axes.draw_x(root, x, span, room.bottom, chart.x_unit)
    area = plot_area(root, x, y)
    for begin, end, what in chart.events:
        start, stop = x.scale(begin), x.scale(end)
        shade = add(area, "rect", "event", x=start, y=room.top, width=max(stop - start, 1.5),
                    height=room.bottom - room.top)  # fmt: skip
        tooltip(shade, what)
    zero = chart.reference
    if zero is not None and y.scale.holds(zero):
        at = y.scale(zero)
        add(area, "line", "zero", x1=room.left, x2=room.right, y1=at, y2=at)
    draw_layers(area, Plot(chart, x, y, style))
    add(root, "line", "axis", x1=room.left, x2=room.right, y1=room.bottom, y2=room.bottom)


def _titled(chart: Chart) -> bool:
    """The axis has the name, unless the chart's title has it."""
    return not chart.title.startswith(chart.y_title)


def _key(title: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in title.lower()) or "x"


def _description(chart: Chart) -> str:
    """The chart for readers who hear it: axes, series, how many marks."""
    series = list(dict.fromkeys(layer.series for layer in chart.layers))
    along = f" over {chart.x_title}" if chart.x_title else ""
    return f"{chart.y_title}{along}, for {', '.join(series)}; the tables beside it have the values."
