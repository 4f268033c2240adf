"""The figures of a report: small drawings for the page, and each figure as one SVG file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from tare.report.bill import bill_panels
from tare.report.escaping import plain
from tare.report.extent import fitted
from tare.report.forest import averages_shown, forest_panels
from tare.report.labels import condition_labels
from tare.report.latency import latency_panels
from tare.report.palette import condition_classes
from tare.report.svg import NAMESPACE, Panel, add, label
from tare.report.timeline import timeline_panels
from tare.report.why import why_panels

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

NAMES = ("effects", "why", "bill", "latency", "timeline")
NARROW = 360
_GAP, _PAD, _LEGEND_ROW = 28, 24, 22
_SHOWN = 6
"""Drawings that a page shows of a figure before a fold."""
# Natural width of a drawing when one, two or three stand side by side on a 1160 px page.
_WIDTHS = {1: 900, 2: 560}
_EFFECTS_NOTE = (
    "Treatment over baseline, 95% intervals. Grey band: margin. Dashed: noise floor. "
    "Square: A/A control. Small dots: single blocks."
)
_WHY_NOTE = "Means over the trials that were compared. The parts of a bar add up to the whole."
_BILL_NOTE = "Difference to the baseline by prices of packets, and as measured, with 95% intervals."
_TIMELINE_NOTE = "One line per trial; the first round of deployments is the darkest."


@dataclass(frozen=True)
class Figure:
    """One figure: the same drawings for a wide page and, where they differ, for a narrow one."""

    name: str
    title: str
    wide: list[Panel]
    narrow: list[Panel]
    columns: int
    legend: list[tuple[str, str]]
    note: str = ""
    shown: int | None = None
    """How many drawings a page shows at once, the others folded away; None: all."""
    more: str = "More metrics"
    """What the others are."""
    labels: dict[str, str] = field(default_factory=dict)
    """Names of conditions in the legend, if they are not the conditions' own."""


def make_figures(analysis: Analysis) -> dict[str, Figure]:
    """The figures that the analysis has data for, by name: effects, why, bill, latency,
    timeline."""
    classes = condition_classes(analysis)
    analysis = fitted(analysis)
    found = {}
    effects = forest_panels(analysis)
    if effects:
        found["effects"] = Figure(
            "effects",
            "Effects",
            effects,
            effects,
            3,
            [],
            _EFFECTS_NOTE,
            averages_shown(analysis, _SHOWN),
            "More metrics, and level by level",
        )
    costs = why_panels(analysis)
    if costs:
        found["why"] = Figure(
            "why", "What changed with it", costs, costs, min(len(costs), 3), [], _WHY_NOTE
        )
    bills = bill_panels(analysis)
    if bills:
        found["bill"] = Figure(
            "bill", "What its prices predict", bills, bills, min(len(bills), 3), [], _BILL_NOTE,
            _SHOWN, "More treatments",
        )  # fmt: skip
    narrow = latency_panels(analysis, classes, NARROW)
    if narrow:
        width = _WIDTHS.get(len(narrow), NARROW)
        wide = latency_panels(analysis, classes, width) if width != NARROW else narrow
        shown = {d.condition for d in analysis.distributions}
        legend = [(name, css) for name, css in _in_order(analysis, classes) if name in shown]
        labels = condition_labels(analysis)
        columns = min(len(narrow), 3)
        found["latency"] = Figure(
            "latency", "Latency", wide, narrow, columns, legend, labels=labels
        )
    series = timeline_panels(analysis, classes)
    if series:
        found["timeline"] = Figure(
            "timeline", "Over time", series, series, 3, [], _TIMELINE_NOTE, _SHOWN,
            "More conditions",
        )  # fmt: skip
    return found


def style() -> str:
    """The style sheet of the figures, for the page as for single files."""
    own = resources.files("tare.report").joinpath("templates")
    return "".join(
        own.joinpath(f"{name}.css").read_text("utf-8") for name in ("figure", "exhibits")
    )


def standalone(figure: Figure, heading: str) -> str:
    """The whole figure as one SVG document that follows the reader's light or dark setting."""
    columns = max(1, min(figure.columns, len(figure.wide)))
    cell = max(p.width for p in figure.wide)
    width = 2 * _PAD + columns * cell + (columns - 1) * _GAP
    root = ET.Element("svg", {"xmlns": NAMESPACE, "class": "figure sheet"})
    ET.SubElement(root, "title").text = plain(heading)
    ET.SubElement(root, "style").text = style()
    add(root, "rect", "paper", x=0, y=0, width="100%", height="100%")
    label(root, _PAD, _PAD + 14, heading, "heading", length=width // 9)
    if figure.note:
        label(root, _PAD, _PAD + 36, figure.note, "muted", length=width // 6)
    legend = [(figure.labels.get(name, name), css) for name, css in figure.legend]
    top = _legend(root, legend, width, _PAD + (56 if figure.note else 34))
    for start in range(0, len(figure.wide), columns):
        row = figure.wide[start : start + columns]
        for column, one in enumerate(row):
            holder = add(root, "svg", x=_PAD + column * (cell + _GAP), y=top)
            holder.set("width", str(one.width))
            holder.set("height", str(one.height))
            holder.set("viewBox", f"0 0 {one.width} {one.height}")
            holder.extend(list(one.root))
        top += max(p.height for p in row) + _GAP
    height = round(top - _GAP + _PAD)
    root.set("width", str(width))
    root.set("height", str(height))
    root.set("viewBox", f"0 0 {width} {height}")
    return ET.tostring(root, encoding="unicode") + "\n"


def _legend(root: ET.Element, legend: list[tuple[str, str]], width: int, top: float) -> float:
    x: float = _PAD
    for name, css in legend:
        needed = 40 + 7.0 * min(len(name), 40)
        if x + needed > width - _PAD:
            x, top = _PAD, top + _LEGEND_ROW
        add(root, "line", f"line {css}", x1=x, x2=x + 20, y1=top, y2=top)
        label(root, x + 26, top + 4, name, length=40)
        x += needed
    return top + (_LEGEND_ROW if legend else 0)


def _in_order(analysis: Analysis, classes: dict[str, str]) -> list[tuple[str, str]]:
    names = [c.condition for c in analysis.conditions]
    names += [name for name in classes if name not in names]
    return [(name, classes[name]) for name in names if name in classes]
