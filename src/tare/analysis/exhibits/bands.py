"""Series in 30-second windows with 95% bands, and means over few intervals: the Docker thesis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from tare.analysis.catalogue import describe
from tare.analysis.exhibits.alike import alike
from tare.analysis.exhibits.frame import Content, marks_of, missing
from tare.analysis.exhibits.marks import Marks, counted, ends_of, joined, metric_chart
from tare.analysis.exhibits.means import Mean, independent, mean_over, most_of
from tare.analysis.exhibits.windows import in_parts, in_windows, series_values, window_length
from tare.analysis.model import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tare.analysis.exhibits.frame import ConditionGroup, Frame
    from tare.analysis.exhibits.windows import Values
    from tare.analysis.model import Chart, Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER_BAND = "Docker thesis (BTH 2016), Figures 5:1 to 5:12"
AFTER_INTERVALS = "Docker thesis (BTH 2016), Figures 5:3, 5:4, 5:13 and 5:14"
USUAL = ("cpu.util", "disk.write_kbps", "throughput", "all.p99")
USUAL_PARTS = (2, 4, 8)
SERIES_NOTE = "The p99 is the mean of one-second 99th percentiles. "


@dataclass(frozen=True)
class TrialSeries:
    """Per condition, trial to the metric second by second."""

    metric: Metric
    by_condition: dict[str, dict[str, Values]]

    @property
    def longest(self) -> int:
        return max((len(v) for own in self.by_condition.values() for v in own.values()), default=0)


def band(frame: Frame) -> Content:
    """Per panel and metric: the mean over repetitions per window, a line with its 95% band."""
    found, gone = _series(frame)
    frame, found, gone = _alike(frame, found, gone)
    length = window_length(max((one.longest for one in found), default=0), frame.asked.window)
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    for panel in frame.groups(frame.asked.panels, named=True):
        for one in found:
            layers: list[Layer] = []
            for line in frame.line_groups:
                own = line.within(panel)
                means = _per_window(frame, own, one, lambda values: in_windows(values, length))
                marks = _marks(frame, line, own, means, _in_time(length))
                layers += marks.layers("band", "line", "points")
                rows += [
                    [*panel.levels.values(), one.metric.name, line.label, k * length,
                     mean.value, mean.low, mean.high, float(mean.repeated)]
                    for k, mean in enumerate(means)
                    if mean is not None
                ]  # fmt: skip
            if layers:
                charts.append(_time_chart(frame, panel, one.metric, layers))
    if not charts:
        return Content("Over time", "No time series to draw. " + gone)
    caption = (
        f"Means of one-second values over windows of {length:g} s, then over repetitions, with the "
        "95% band (Student's t; the thesis has 1.96 sd/\u221an). "
        + (SERIES_NOTE if any(one.metric.name == "all.p99" for one in found) else "")
        + ("Shaded: compactions and long pauses. " if any(c.events for c in charts) else "")
        + frame.averaged(*frame.lines, *frame.asked.panels)
        + gone
    )
    columns = [*frame.asked.panels, "Metric", "Line", "From", "Mean", "95% low", "95% high"]
    texts = len(frame.asked.panels) + 2
    units = [""] * texts + ["s", "number", "number", "number", "count"]
    grid = Grid(columns=[*columns, "Repeated"], units=units, rows=rows, notes=[_units(found)])
    return Content(f"Over time, in windows of {length:g} s", caption, charts, [grid])


def interval_means(frame: Frame) -> Content:
    """The measured part in 2, 4 and 8 intervals: the means of each, with 95% intervals."""
    found, gone = _series(frame)
    frame, found, gone = _alike(frame, found, gone)
    lines = frame.line_groups
    asked = dict.fromkeys(frame.asked.intervals or USUAL_PARTS)
    seconds = max((one.longest for one in found), default=0)
    fitting = [parts for parts in asked if parts <= seconds]
    if found and len(fitting) < len(asked):
        most = ", ".join(str(parts) for parts in asked if parts not in fitting)
        gone += f"The measured part has {seconds} s, too few for {most} intervals. "
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    for panel in frame.groups(frame.asked.panels, named=True):
        for one in found:
            for parts in fitting:
                layers: list[Layer] = []
                table = []
                for line in lines:
                    own = line.within(panel)
                    means = _per_window(frame, own, one, _splitter(parts))
                    marks = _marks(frame, line, own, means, _in_turn(parts))
                    layers += marks.layers("bars")
                    table.append(means)
                rows += _part_rows(panel, one.metric, parts, table)
                if layers:
                    charts.append(_parts_chart(panel, one.metric, parts, layers))
    if not charts:
        return Content("Means over intervals", "No time series to average. " + gone)
    caption = (
        "The measured part in equal intervals: means of one-second values, then over repetitions, "
        "with 95% intervals. "
        + (SERIES_NOTE if any(one.metric.name == "all.p99" for one in found) else "")
        + frame.averaged(*frame.lines, *frame.asked.panels)
        + gone
    )
    columns = [*frame.asked.panels, "Metric", "Intervals", "Which", *(one.label for one in lines)]
    texts = len(frame.asked.panels) + 3
    units = [""] * texts + ["number"] * len(lines)
    grid = Grid(columns=columns, units=units, rows=rows, notes=[_units(found)])
    return Content("Means over intervals", caption, charts, [grid])


def _series(frame: Frame) -> tuple[list[TrialSeries], str]:
    """The metrics that the records have over time, and a sentence on the metrics they lack."""
    trials = {t.name: t for own in frame.by_condition.values() for t in own}
    names = list(frame.asked.metrics) or list(USUAL)
    found, gone = [], []
    for name in names:
        by_condition: dict[str, dict[str, Values]] = {}
        for series in frame.series:
            trial = trials.get(series.trial)
            values = series_values(series, name, trial.values) if trial else None
            if trial is not None and values is not None:
                by_condition.setdefault(trial.condition, {})[trial.name] = values
        if by_condition:
            found.append(TrialSeries(describe(name), by_condition))
        else:
            gone.append(name)
    return found, missing("time series", gone)


def _alike(
    frame: Frame, found: list[TrialSeries], gone: str
) -> tuple[Frame, list[TrialSeries], str]:
    """Per metric, the series over whose conditions all lines can be averaged alike."""
    kept: list[TrialSeries] = []
    names: set[str] = set()
    said: dict[str, None] = {}
    for one in found:
        own, left = alike(frame, frame.asked.panels, one.by_condition)
        chosen = {c.name: one.by_condition[c.name] for c in own.chosen}
        names |= chosen.keys()
        said[left] = None
        kept.append(TrialSeries(one.metric, chosen))
    conditions = [c for c in frame.conditions if c.name in names]
    return replace(frame, conditions=conditions), kept, "".join(said) + gone


def _splitter(parts: int) -> Callable[[Values], Values]:
    return lambda values: in_parts(values, parts)


def _per_window(
    frame: Frame, own: ConditionGroup, found: TrialSeries, split: Callable[[Values], Values]
) -> list[Mean | None]:
    """Per window, the mean over the conditions' repetitions."""
    windows: list[dict[str, dict[str, float]]] = []
    for name in own.names:
        for trial, values in found.by_condition.get(name, {}).items():
            for k, value in enumerate(split(values)):
                while len(windows) <= k:
                    windows.append({})
                if value is not None:
                    windows[k].setdefault(name, {})[trial] = value
    return [
        mean_over(
            (independent(values, frame.deployments) for values in by_condition.values()),
            most_of(found.metric.name),
        )
        for by_condition in windows
    ]


def _in_time(length: float) -> Iterator[tuple[float, str]]:
    """The middle of each window, and its name."""
    return (((k + 0.5) * length, f"{k * length:g} to {(k + 1) * length:g} s") for k in count())


def _in_turn(parts: int) -> Iterator[tuple[float, str]]:
    """The place of each interval, and its name."""
    return ((k, f"interval {k + 1} of {parts}") for k in count())


def _time_chart(frame: Frame, panel: ConditionGroup, metric: Metric, layers: list[Layer]) -> Chart:
    names = set(panel.names)
    events = sorted({e for s in frame.series if s.condition in names for e in s.events})
    title = "Time in the measured part"
    return metric_chart(metric, layers, panel.label, x=title, x_unit="s", events=events)


def _marks(
    frame: Frame,
    line: ConditionGroup,
    own: ConditionGroup,
    means: Sequence[Mean | None],
    windows: Iterable[tuple[float, str]],
) -> Marks:
    """The means that exist, each at the place and with the name of its window."""
    marks = marks_of(line)
    trials = frame.trials_of(own)
    for mean, (place, name) in zip(means, windows, strict=False):
        if mean is not None:
            label = joined(line.label, name, counted(mean.repeated))
            marks.add(place, mean.value, label, own.names, trials, ends_of(mean))
    return marks


def _part_rows(
    panel: ConditionGroup, metric: Metric, parts: int, table: Sequence[Sequence[Mean | None]]
) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for k in range(parts):
        means = [own[k] if k < len(own) else None for own in table]
        if any(means):
            values: list[Cell] = [mean.value if mean else None for mean in means]
            heads: list[Cell] = [*panel.levels.values(), metric.name, str(parts), str(k + 1)]
            rows.append([*heads, *values])
    return rows


def _parts_chart(panel: ConditionGroup, metric: Metric, parts: int, layers: list[Layer]) -> Chart:
    return metric_chart(
        metric,
        layers,
        panel.label,
        f"{parts} intervals",
        x="interval of the measured part",
        categories=(str(k + 1) for k in range(parts)),
        from_zero=True,
    )


def _units(found: Sequence[TrialSeries]) -> str:
    return "Units: " + ", ".join(f"{one.metric.name} {one.metric.unit}" for one in found) + "."
