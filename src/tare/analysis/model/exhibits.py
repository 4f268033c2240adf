"""Parts of the analysis document: figures and tables that a study asked for, as data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.analysis.model.base import AnalysisPart

Cell = str | float | None
"""What a table holds in one place; None: nothing is known there."""


class Layer(AnalysisPart):
    """One kind of mark of one series in a chart. All lists are as long as `x`, or empty."""

    kind: Literal["points", "line", "band", "bars", "intervals", "boxes"]
    series: str = Field(description="name in the legend")
    condition: str = Field(default="", description="whose colour it has; empty: by series")
    place: int | None = Field(
        default=None,
        description="place of the series among all that the study has, which decides how it looks; "
        "null: by the order of the layers",
    )
    minor: bool = Field(
        default=False, description="drawn lighter: single values beside their summary"
    )
    x: list[float] = Field(description="positions; with categories, indices into them")
    y: list[float] = Field(default_factory=list)
    low: list[float | None] = Field(
        default_factory=list,
        description="lower ends of bands, intervals and boxes; of points and bars, of their 95% "
        "intervals; null: none",
    )
    high: list[float | None] = Field(default_factory=list)
    quartiles: list[tuple[float, float]] = Field(
        default_factory=list, description="boxes: first and third quartile; y is the median"
    )
    conditions: list[list[str]] = Field(
        default_factory=list, description="per mark, the conditions that it comes from"
    )
    trials: list[list[str]] = Field(
        default_factory=list, description="per mark, the trials that it comes from"
    )
    labels: list[str] = Field(default_factory=list, description="per mark, what a reader is told")


class Chart(AnalysisPart):
    """One panel of a figure, as data: axes, marks, events."""

    title: str
    x_title: str
    x_unit: str = ""
    y_title: str
    y_unit: str = ""
    categories: list[str] = Field(default_factory=list, description="empty: x is a number")
    x_log: bool = False
    y_log: bool = False
    y_from_zero: bool = False
    y_down: bool = Field(default=False, description="low values at the top, as ranks are read")
    reference: float | None = Field(default=None, description="a horizontal line, e.g. 0% change")
    layers: list[Layer]
    events: list[tuple[float, float, str]] = Field(
        default_factory=list, description="(from, to, what) on the x axis, e.g. a compaction"
    )


class Grid(AnalysisPart):
    """A table, as data. Numbers stay numbers; the report formats them."""

    title: str = Field(default="", description="empty: the exhibit's")
    columns: list[str]
    units: list[str] = Field(description="per column; empty for text")
    rows: list[list[Cell]]
    notes: list[str] = Field(default_factory=list)


class Exhibit(AnalysisPart):
    """A figure or table that the study asked for, with the place that first printed its kind."""

    name: str = Field(description="unique in the report, a file name: relative-change-1")
    kind: str
    title: str
    caption: str = Field(description="how to read it, and how it was computed")
    after: str = Field(default="", description="e.g. Grambow 2018, Table 3")
    charts: list[Chart] = Field(default_factory=list)
    grids: list[Grid] = Field(default_factory=list)
