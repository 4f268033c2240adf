"""The legend of an exhibit's chart: a sample of each series beside its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report.escaping import plain, shorten
from tare.report.exhibits.shapes import bar, marker
from tare.report.svg import add, label

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Iterator, Mapping

    from tare.analysis.model import Chart
    from tare.report.exhibits.styles import Style

ROW = 18
_SAMPLE, _GAP, _LONGEST = 24, 16, 44
_CHARACTER, _CAPITAL = 6.6, 8.2
"""Widths in pixels of the page's small letters: no less than those of DejaVu Sans at 11 px."""


def legend_height(chart: Chart, style: Mapping[str, Style], width: int) -> float:
    """Room that the legend needs, pixels."""
    rows = [row for _, row, _ in _places(chart, style, width)]
    return (max(rows) + 1) * ROW if rows else 0


def draw_legend(
    root: ET.Element, chart: Chart, style: Mapping[str, Style], width: int, top: float
) -> None:
    """One entry per series, in rows."""
    for series, row, x in _places(chart, style, width):
        y = top + row * ROW + ROW / 2
        kinds = {layer.kind for layer in chart.layers if layer.series == series}
        one = style[series]
        group = add(root, "g", f"layer legend-entry {one.css}")
        if kinds & {"bars", "boxes"}:
            bar(group, x + 4, x + 20, y + 6, y - 6, one.texture if "bars" in kinds else "")
        elif "line" in kinds:
            add(group, "path", "curve").set("d", f"M{x:.1f} {y:.1f}h{_SAMPLE - 2}")
        if "points" in kinds and "boxes" not in kinds:
            marker(group, one.marker, x + _SAMPLE / 2 - 1, y, 4.0)
        label(root, x + _SAMPLE + 3, y + 4, series, "small", length=_LONGEST)


def _places(
    chart: Chart, style: Mapping[str, Style], width: int
) -> Iterator[tuple[str, int, float]]:
    """(series, row, x); empty where the only series has no name."""
    names = [s for s in dict.fromkeys(layer.series for layer in chart.layers) if s in style]
    if names == [""]:
        return
    row, x = 0, 0.0
    for series in names:
        shown = shorten(plain(series), _LONGEST)
        letters = sum(_CAPITAL if letter.isupper() else _CHARACTER for letter in shown)
        needed = _SAMPLE + 3 + letters + _GAP
        if x > 0 and x + needed - _GAP > width:
            row, x = row + 1, 0.0
        yield series, row, x
        x += needed
