"""Exhibits as figures and tables of the page, and as files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from tare.report.exhibits.chart import draw_chart
from tare.report.exhibits.styles import styles
from tare.report.exhibits.tables import exhibit_tables
from tare.report.figures import NARROW, Figure
from tare.report.palette import condition_classes
from tare.study.question import ExhibitKind

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis, Exhibit
    from tare.report.tables import Table

# Natural width of a drawing when one, two or three stand side by side on a 1160 px page.
_WIDTHS = {1: 900, 2: 560}
_FEW_BARS = 12
_SHOWN = 9
"""Drawings that a page shows of an exhibit before a fold."""


@dataclass(frozen=True)
class Shown:
    """One exhibit as the page shows it; without a figure where there is nothing to draw."""

    exhibit: Exhibit
    figure: Figure | None
    tables: list[Table]


def shown_exhibits(analysis: Analysis) -> list[Shown]:
    """Every exhibit of the analysis, in the order of the study."""
    classes = condition_classes(analysis)
    return [Shown(one, _figure(one, classes), exhibit_tables(one)) for one in analysis.exhibits]


def exhibit_figures(analysis: Analysis) -> dict[str, Figure]:
    """Name to figure, for the exhibits that have one."""
    return {one.exhibit.name: one.figure for one in shown_exhibits(analysis) if one.figure}


def remove_stale(directory: Path, current: set[str]) -> None:
    """Delete the exhibits' figures of an earlier report, which would be wrong now."""
    for kind in get_args(ExhibitKind):
        for path in directory.glob(f"{kind}-[0-9]*.svg"):
            if path.stem not in current:
                path.unlink(missing_ok=True)


def _columns(exhibit: Exhibit) -> int:
    """Drawings side by side on a wide page; a small one alone has the place of two."""
    count = len(exhibit.charts)
    if count == 1:
        chart = exhibit.charts[0]
        series = len({layer.series for layer in chart.layers})
        few = len(chart.categories) * series <= _FEW_BARS or len(chart.categories) == series
        return 2 if chart.categories and few else 1
    return 2 if count in (2, 4) else 3


def _figure(exhibit: Exhibit, classes: dict[str, str]) -> Figure | None:
    if not exhibit.charts:
        return None
    style = styles(exhibit, classes)
    columns = _columns(exhibit)
    narrow = [draw_chart(chart, style, NARROW) for chart in exhibit.charts]
    width = _WIDTHS.get(columns, NARROW)
    wide = [draw_chart(c, style, width) for c in exhibit.charts] if width != NARROW else narrow
    return Figure(
        exhibit.name,
        exhibit.title,
        wide,
        narrow,
        columns,
        [],
        exhibit.caption,
        _SHOWN,
        "More panels",
    )
