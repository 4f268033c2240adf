"""Recurring rankings across (workload, operation) pairs: Truyen 2018, Tables II and III."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.exhibits.alike import alike
from tare.analysis.exhibits.frame import Content, marks_of
from tare.analysis.exhibits.marks import joined
from tare.analysis.exhibits.orders import Order, as_text, order_of, ranks, recurring
from tare.analysis.model import Chart, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import ConditionGroup, Frame
    from tare.analysis.model import Metric
    from tare.analysis.model.exhibits import Cell

AFTER = "Truyen et al. 2018, Tables II and III"
READS = ("read", "scan")
MOST_DRAWN = 24


@dataclass(frozen=True)
class RankedOperation:
    """One (workload, operation) pair with the means of all lines, and their order."""

    panel: ConditionGroup
    metric: Metric
    means: dict[str, float]
    order: Order

    @property
    def label(self) -> str:
        return joined(self.panel.label, self.metric.name)


def rankings(frame: Frame) -> Content:
    """Each pair's order by the mean of its points; which orders recur, and where.

    As in the paper, a pair's value is the mean over all its points (e.g. thread counts). An order
    that recurs is a finding; where none recurs, no difference is claimed.
    """
    have, gone = frame.available(*frame.per_operation("p95"), least=["p95"])
    frame, left = alike(frame, frame.asked.panels, frame.holding(have))
    gone = left + gone
    lines = frame.line_groups
    pairs, partial = _pairs(frame, lines, have)
    if partial:
        gone += f"Left out, not measured for all: {', '.join(partial)}. "
    if not pairs:
        return Content("Rankings", "No pair was measured for all. " + gone)
    ties = frame.asked.ties or 0.0
    caption = (
        "Order by the mean over all points of a pair, best first; 1 is the best rank. "
        + (f"Means within {ties:.1%} of each other share a rank. " if ties else "")
        + "An order that recurs in all pairs is the paper's evidence for a difference; the last "
        "column says how often each is before the next. "
        + frame.averaged(*frame.lines, *frame.asked.panels)
        + _identical(frame)
        + gone
    )
    grids = [_common(frame, lines, pairs), _orders(pairs), _each(frame, lines, pairs)]
    return Content("Recurring rankings", caption, [_chart(frame, lines, pairs)], grids)


def _identical(frame: Frame) -> str:
    """A warning where one setup is ranked under two names."""
    twins = [one.name for one in frame.chosen if one.aa_of in frame.by_condition]
    if not twins:
        return ""
    return (
        f"{', '.join(twins)}: the same setup as another one; what is ranked between the two is "
        "within the noise. "
    )


def _pairs(
    frame: Frame, lines: Sequence[ConditionGroup], metrics: Sequence[Metric]
) -> tuple[list[RankedOperation], list[str]]:
    found, partial = [], []
    for panel in frame.groups(frame.asked.panels, named=len(frame.asked.panels) > 1):
        for metric in metrics:
            means = {
                line.label: mean.value
                for line in lines
                if (mean := frame.mean(line.within(panel), metric.name)) is not None
            }
            lower = metric.better == "lower"
            order = order_of(means, lower_first=lower, ties=frame.asked.ties or 0.0)
            pair = RankedOperation(panel, metric, means, order)
            if len(means) == len(lines):
                found.append(pair)
            elif means:
                partial.append(pair.label)
    return found, partial


def _clusters(
    frame: Frame, pairs: Sequence[RankedOperation]
) -> list[tuple[str, str, list[RankedOperation]]]:
    """(group of workloads, kind of operation, its pairs), as the paper's tables are laid out."""
    factor = next(iter(frame.asked.panels), "")
    groups = frame.asked.groups or {"all": []}
    found = []
    for (name, levels), kind in itertools.product(groups.items(), ("read", "write", "other")):
        own = [
            pair
            for pair in pairs
            if _kind(pair.metric) == kind
            and (not levels or pair.panel.levels.get(factor) in levels)
        ]
        if own:
            found.append((name, kind, own))
    return found


def _kind(metric: Metric) -> str:
    operation, _, _ = metric.name.rpartition(".")
    if operation in ("", "all") or "." in operation:
        return "other"
    return "read" if operation in READS else "write"


def _common(
    frame: Frame, lines: Sequence[ConditionGroup], pairs: Sequence[RankedOperation]
) -> Grid:
    """As Tables II and III: per group and kind of operation, in order, with the mean of means."""
    base = lines[0].label
    rows: list[list[Cell]] = []
    notes = []
    for name, kind, own in _clusters(frame, pairs):
        means = {one.label: float(np.mean([p.means[one.label] for p in own])) for one in lines}
        lower = own[0].metric.better == "lower"
        by = means if lower else {label: -value for label, value in means.items()}
        workloads = len({pair.panel.label for pair in own})
        common = recurring([pair.order for pair in own], by, workloads)
        beats = [f"{n} of {len(own)}" for n in common.before_next]
        for rank, label in enumerate(common.names, start=1):
            next_one = beats[rank - 1] if rank <= len(beats) else ""
            change = (means[label] / means[base] - 1) * 100 if means[base] else None
            rows.append([name, kind, float(rank), label, means[label], change, next_one])
        notes.append(_verdict(name, kind, own, common.same, common.settled, common.by_chance))
    columns = ["Group", "Operations", "Rank", " and ".join(frame.lines), "Mean of means"]
    columns += [f"Against {base}", "Before the next in"]
    units = ["", "", "count", "", _unit(pairs), "%", ""]
    return Grid(title="Recurring rankings", columns=columns, units=units, rows=rows, notes=notes)


def _verdict(
    name: str,
    kind: str,
    own: Sequence[RankedOperation],
    same: bool,
    settled: Sequence[tuple[str, str]],
    chance: float | None,
) -> str:
    head = f"{name}, {kind}: "
    if len(own) == 1:
        return head + "one pair only, so that nothing can recur."
    if same:
        odds = "" if chance is None else f" (at random with probability {chance:.2g})"
        if len({pair.panel.label for pair in own}) == 1:
            odds = ", which are operations of the same trials and agree by themselves"
        return head + f"the same order in all {len(own)} pairs{odds}."
    if settled:
        said = "; ".join(f"{a} before {b}" for a, b in settled)
        return head + f"no order recurs in all {len(own)} pairs; in all of them {said}."
    return head + f"no recurring ranking in {len(own)} pairs, so no difference is claimed."


def _unit(pairs: Sequence[RankedOperation]) -> str:
    return pairs[0].metric.unit if len({p.metric.unit for p in pairs}) == 1 else "number"


def _orders(pairs: Sequence[RankedOperation]) -> Grid:
    """How often each order occurs."""
    found: dict[Order, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.order, []).append(pair.label)
    ranked = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    rows: list[list[Cell]] = [
        [as_text(order), float(len(where)), "; ".join(where)] for order, where in ranked
    ]
    columns = ["Order, best first", "Pairs", "Which"]
    return Grid(
        title="How often each order occurs", columns=columns, units=["", "count", ""], rows=rows
    )


def _each(frame: Frame, lines: Sequence[ConditionGroup], pairs: Sequence[RankedOperation]) -> Grid:
    columns = [*frame.asked.panels, "Metric", *(one.label for one in lines), "Order, best first"]
    units = [""] * (len(frame.asked.panels) + 1) + [_unit(pairs)] * len(lines) + [""]
    rows: list[list[Cell]] = []
    for pair in pairs:
        heads: list[Cell] = [pair.panel.levels[factor] for factor in frame.asked.panels]
        means: list[Cell] = [pair.means[one.label] for one in lines]
        rows.append([*heads, pair.metric.name, *means, as_text(pair.order)])
    return Grid(title="Every pair", columns=columns, units=units, rows=rows)


def _chart(
    frame: Frame, lines: Sequence[ConditionGroup], pairs: Sequence[RankedOperation]
) -> Chart:
    drawn = pairs[:MOST_DRAWN]
    layers = []
    for line in lines:
        marks = marks_of(line)
        for place, pair in enumerate(drawn):
            cell = line.within(pair.panel)
            marks.add(
                place,
                ranks(pair.order)[line.label],
                joined(line.label, pair.label),
                cell.names,
                frame.trials_of(cell, pair.metric.name),
            )
        layers += marks.layers("line", "points")
    return Chart(
        title="Rank per pair" + (f", first {MOST_DRAWN}" if len(pairs) > MOST_DRAWN else ""),
        x_title="",
        y_title="Rank, 1 is the best",
        y_unit="count",
        y_down=True,
        categories=[pair.label for pair in drawn],
        layers=layers,
    )
