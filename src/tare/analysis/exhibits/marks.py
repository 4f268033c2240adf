"""Charts of metrics and their layers, collected mark by mark, each with its label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tare.analysis.model import Chart, Layer
from tare.enumeration import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.analysis.exhibits.means import Mean
    from tare.analysis.model import Metric

Kind = Literal["points", "line", "band", "bars", "intervals", "boxes"]


@dataclass
class Marks:
    """The marks of one series; all lists are of the same length.

    Attributes:
        series: its name in the legend.
        condition: the condition whose colour it has; empty: by the order of the series.
        place: the place of the series among all series of the study.
        minor: drawn lighter.
    """

    series: str
    condition: str = ""
    place: int | None = None
    minor: bool = False
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    quartiles: list[tuple[float, float]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    conditions: list[list[str]] = field(default_factory=list)
    trials: list[list[str]] = field(default_factory=list)

    def add(
        self,
        x: float,
        y: float,
        label: str,
        conditions: Sequence[str],
        trials: Sequence[str],
        ends: tuple[float | None, float | None] = (None, None),
        quartiles: tuple[float, float] | None = None,
    ) -> None:
        """One mark at (x, y), with the ends of its interval, band or whiskers."""
        self.x.append(x)
        self.y.append(y)
        self.low.append(ends[0])
        self.high.append(ends[1])
        self.labels.append(label)
        self.conditions.append(list(conditions))
        self.trials.append(list(trials))
        if quartiles is not None:
            self.quartiles.append(quartiles)

    def layers(self, *kinds: Kind) -> list[Layer]:
        """A layer of each kind over all marks; none where there are no marks."""
        return [self._layer(kind) for kind in kinds] if self.x else []

    def _layer(self, kind: Kind) -> Layer:
        ends = any(end is not None for end in (*self.low, *self.high))
        spanned = ends and kind != "line"
        return Layer(
            kind=kind,
            series=self.series,
            condition=self.condition,
            place=self.place,
            minor=self.minor,
            x=list(self.x),
            y=list(self.y),
            low=list(self.low) if spanned else [],
            high=list(self.high) if spanned else [],
            quartiles=list(self.quartiles) if kind == "boxes" else [],
            labels=list(self.labels),
            conditions=[list(one) for one in self.conditions],
            trials=[list(one) for one in self.trials],
        )


def ends_of(mean: Mean) -> tuple[float | None, float | None]:
    """The ends of the mean's interval."""
    return mean.low, mean.high


def counted(number: int) -> str:
    """The number of values behind a mark, in words."""
    return count(number, "repeated value")


def joined(*parts: str) -> str:
    """The parts that are not empty, as one line."""
    return ", ".join(part for part in parts if part)


def metric_chart(
    metric: Metric,
    layers: list[Layer],
    *levels: str,
    x: str,
    x_unit: str = "",
    categories: Iterable[str] = (),
    from_zero: bool = False,
    events: Iterable[tuple[float, float, str]] = (),
) -> Chart:
    """A panel of one metric over x, with the metric's name and the levels that it is about."""
    return Chart(
        title=joined(metric.title, *levels),
        x_title=x,
        x_unit=x_unit,
        y_title=metric.title,
        y_unit=metric.unit,
        categories=list(categories),
        y_from_zero=from_zero,
        layers=layers,
        events=list(events),
    )
