"""The exhibits that a study asks for, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.exhibits import (
    bands,
    ladder,
    mean_bars,
    median_run,
    quadratic_fit,
    rankings,
    relative_change,
    spread,
)
from tare.analysis.exhibits.frame import MOST_PANELS, Content, Frame
from tare.analysis.model import Exhibit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.analysis.model import Chart, Effect, Series
    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition
    from tare.study.question import AskedExhibit
    from tare.study.schema import Study

_POSITIVE = {"ladder", "maximum", "quadratic-fit", "mean-bars", "band", "interval-means"}
"""Kinds of exhibits that show the quantities themselves, not changes of them."""
MOST_NAMED = 3
"""Levels that a heading names."""

KINDS: dict[str, tuple[Callable[[Frame], Content], str]] = {
    "relative-change": (relative_change.relative_change, relative_change.AFTER),
    "median-run": (median_run.median_run, median_run.AFTER),
    "ladder": (ladder.ladder, ladder.AFTER_LADDER),
    "maximum": (ladder.maximum, ladder.AFTER_MAXIMUM),
    "quadratic-fit": (quadratic_fit.quadratic_fit, quadratic_fit.AFTER),
    "mean-bars": (mean_bars.mean_bars, mean_bars.AFTER),
    "rankings": (rankings.rankings, rankings.AFTER),
    "band": (bands.band, bands.AFTER_BAND),
    "interval-means": (bands.interval_means, bands.AFTER_INTERVALS),
    "box": (spread.box, spread.AFTER_BOX),
    "spread": (spread.spread, spread.AFTER_SPREAD),
}
"""Kind to the function that makes it, and the paper that first printed it."""


def make_exhibits(
    study: Study,
    conditions: Sequence[Condition],
    trials: Sequence[Trial],
    effects: Sequence[Effect],
    series: Sequence[Series],
) -> list[Exhibit]:
    """One exhibit per entry of `analysis.show`, in that order.

    The caption names what the records lack; an exhibit without values has no empty figure.
    """
    counts: dict[str, int] = {}
    found = []
    for asked in study.analysis.show:
        counts[asked.kind] = counts.get(asked.kind, 0) + 1
        make, after = KINDS[asked.kind]
        frame = Frame(asked, study, list(conditions), list(trials), list(effects), list(series))
        content = make(frame) if frame.chosen else _nothing(frame)
        charts = [chart for chart in content.charts if chart.layers]
        caption = content.caption.strip()
        if asked.kind in _POSITIVE and any(_bounded(one) for one in charts):
            caption += (
                " Intervals and bands end where the quantity does: at 0, shares of the machine's "
                "CPU also at 100%."
            )
        if len(charts) > MOST_PANELS:
            caption += f" The first {MOST_PANELS} of {len(charts)} panels are drawn."
        found.append(
            Exhibit(
                name=f"{asked.kind}-{counts[asked.kind]}",
                kind=asked.kind,
                title=asked.title or _title(content.title, asked),
                caption=caption,
                after=after,
                charts=charts[:MOST_PANELS],
                grids=[grid for grid in content.grids if grid.rows],
            )
        )
    return found


def _bounded(chart: Chart) -> bool:
    """Whether an interval ends at the smallest or largest possible value."""
    ends = {end for layer in chart.layers for end in (*layer.low, *layer.high)}
    return 0.0 in ends or (chart.y_unit == "%" and 100.0 in ends)


def _where(asked: AskedExhibit) -> str:
    """The levels that an exhibit is limited to, in a reader's words."""
    return ", ".join(
        f"{factor} {' or '.join(levels)}"
        if len(levels) <= MOST_NAMED
        else f"{len(levels)} levels of {factor}"
        for factor, levels in asked.where.items()
    )


def _title(title: str, asked: AskedExhibit) -> str:
    where = _where(asked)
    return f"{title}: {where}" if where else title


def _nothing(frame: Frame) -> Content:
    """The content when no trial of the exhibit was completed."""
    where = _where(frame.asked) or "these conditions"
    name = frame.asked.kind.replace("-", " ").capitalize()
    return Content(name, f"The run has no trials of {where}, so there is nothing to show.")
