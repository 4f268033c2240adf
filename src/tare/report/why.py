"""What changed together with the effects: sentences, a table, CPU per operation in parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.labels import pair_names
from tare.report.scales import Scale, linear_ticks
from tare.report.svg import Panel, add, label, mark, panel
from tare.report.tables import Cell, RowKey, Table

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from tare.analysis.model import Analysis, CostSplit, CountChange, Why

WIDTH = 360
_TOP, _KEY, _ROW, _BAR, _AXIS = 26, 18, 40, 16, 24
_TITLES = {
    "unit": "Service demand, by who used it",
    "mode": "Service demand, by mode, as sampled",
    "thread": "Database CPU per operation, by threads",
}
# Of figure.css: as many hues as there are parts at most, the neutral one last.
_HUES = ("c1", "c2", "c3", "c4", "c5", "c6", "c0")
_LEAST_LABELLED = 34
NOTE = (
    "Differences are treatment minus baseline, with 95% intervals from the same estimator as the "
    "effects, of sums over whole trials: effects that were fitted slice by slice are narrower. "
    "Each stands alone: clear says whether it would exclude 0 also as one of all that are "
    "listed. CPU shares sum to the total; those by mode to one of their own, which the kernel "
    "samples. Other changes coincided; they may not be the cause. r is the correlation of a count "
    "with the mean latency from block to block; it is left out where there are too few blocks."
)


@dataclass(frozen=True)
class Explanation:
    """The explanation of one treatment."""

    treatment: str
    baseline: str
    aa: bool
    sentences: list[str]
    name: str
    """The treatment as a reader says it."""
    against: str
    """The baseline likewise."""


def explanations(analysis: Analysis) -> list[Explanation]:
    """One per treatment, in the order of the comparisons, controls (A/A) last."""
    said = pair_names(analysis)
    found = [
        Explanation(
            w.treatment,
            w.baseline,
            w.aa,
            w.sentences,
            *said.get((w.treatment, w.baseline), (w.treatment, w.baseline)),
        )
        for w in analysis.why
    ]
    return sorted((one for one in found if one.sentences), key=lambda one: one.aa)


def why_table(analysis: Analysis) -> Table:
    """Every count of every treatment, with its difference."""
    columns = ["Treatment", "Baseline", "Per operation", "Baseline value", "Treatment value",
               "Difference", "95% CI", "Clear", "Share of the whole",
               "r, mean latency"]  # fmt: skip
    rows: list[list[Cell]] = []
    keys: list[RowKey] = []
    names = pair_names(analysis)
    for why in analysis.why:
        said = names.get((why.treatment, why.baseline), (why.treatment, why.baseline))
        shares = {
            part.metric.name: (split.by, part.share, part.share_ci)
            for split in reversed(why.splits)
            for part in split.parts
        }
        wholes = {s.whole.metric.name: s.whole for s in reversed(why.splits)}
        for change in [*wholes.values(), *why.beside]:
            share = shares.get(change.metric.name)
            row = [*_changed(why, said, change), _share(share), _correlation(change)]
            rows.append(row)
            keys.append(RowKey(condition=why.treatment))
    return Table("What changed beside the effects", columns, rows, [NOTE], "why-table", {}, keys)


def _changed(why: Why, said: tuple[str, str], change: CountChange) -> list[Cell]:
    unit = change.metric.unit
    difference, low, high = (
        numbers.signed_quantity(one, unit) for one in (change.difference, *change.ci)
    )
    return [
        Cell(said[0] + (" (A/A)" if why.aa else ""), "condition", why.treatment),
        Cell(said[1]),
        Cell(change.metric.title),
        Cell(numbers.quantity(change.baseline, unit), "number", value=change.baseline),
        Cell(numbers.quantity(change.treatment, unit), "number", value=change.treatment),
        Cell(difference, "number", value=change.difference),
        Cell(f"[{low}, {high}]", "number", value=change.ci[0]),
        Cell("yes" if change.clear else "no"),
    ]


def _share(share: tuple[str, float | None, tuple[float, float] | None] | None) -> Cell:
    if share is None or share[1] is None:
        return Cell("", "number")
    text = _percent(share[1])
    if share[2] is not None:
        text += f" [{_percent(share[2][0])}, {_percent(share[2][1])}]"
    return Cell(text, "number", value=share[1])


def _percent(fraction: float) -> str:
    return f"{fraction * 100:.0f}%".replace("-", numbers.MINUS)


def _correlation(change: CountChange) -> Cell:
    r = getattr(change, "correlation", {}).get("all.mean")
    if r is None:
        return Cell("", "number")
    return Cell(f"{r:+.2f}".replace("-", numbers.MINUS), "number", value=r)


def why_panels(analysis: Analysis) -> list[Panel]:
    """A drawing per division of a CPU time: a bar per condition, stacked from its parts."""
    found = []
    for by, title in _TITLES.items():
        bars = _bars(analysis, by)
        if bars:
            found.append(_draw(title, bars))
    return found


Bar = tuple[str, list[tuple[str, float]]]
"""Condition, and (part, microseconds per operation) of each part."""


def _bars(analysis: Analysis, by: str) -> list[Bar]:
    """The conditions in their order, each as in the first comparison that has it."""
    found: dict[str, dict[str, float]] = {}
    splits = [(why, split) for why in analysis.why for split in why.splits if split.by == by]
    for why, split in splits:
        _keep(found, why.baseline, split, treated=False)
        _keep(found, why.treatment, split, treated=True)
    # no split has a part that nobody used: the longest split has the whole order
    longest = sorted((split for _, split in splits), key=lambda s: -len(s.parts))
    names = dict.fromkeys(part.metric.title for split in longest for part in split.parts)
    order = [c.condition for c in analysis.conditions if c.condition in found]
    return [(name, [(part, found[name].get(part, 0.0)) for part in names]) for name in order]


def _keep(
    found: dict[str, dict[str, float]], condition: str, split: CostSplit, *, treated: bool
) -> None:
    """A part that only one side of some comparison has is 0 on the other side."""
    own = found.setdefault(condition, {})
    for part in split.parts:
        own.setdefault(part.metric.title, part.treatment if treated else part.baseline)


def _draw(title: str, bars: list[Bar]) -> Panel:
    names = [part for part, _ in bars[0][1]]
    top = _TOP + _KEY * len(names) + 10
    height = top + _ROW * len(bars) + _AXIS
    drawing = panel(title, WIDTH, height)
    label(drawing.root, 0, 16, title, "title", length=44)
    for row, name in enumerate(names):
        y = _TOP + _KEY * row + 4
        add(drawing.root, "rect", f"chip {_hue(row)}", x=1, y=y, width=9, height=9, rx=1)
        label(drawing.root, 18, y + 9, name, "small", length=56)
    high = max(_total(parts) for _, parts in bars)
    ticks = linear_ticks(high or 1.0, 4)
    x = Scale(0, max(high, 1e-9) * 1.02, 0, WIDTH)
    for tick in filter(x.holds, ticks):
        add(drawing.root, "line", "grid", x1=x(tick), x2=x(tick), y1=top, y2=height - _AXIS)
        place = "start" if x(tick) < 20 else "end" if x(tick) > WIDTH - 30 else "middle"
        text = numbers.tick(tick, "us/operation")
        label(drawing.root, x(tick), height - _AXIS + 14, text, f"tiny muted {place}")
    for row, (condition, parts) in enumerate(bars):
        _bar(drawing.root, condition, parts, x, top + row * _ROW)
    return drawing


def _bar(
    root: ET.Element, condition: str, parts: list[tuple[str, float]], x: Scale, top: float
) -> None:
    group = mark(add(root, "g"), condition=condition)
    total = sum(value for _, value in parts)
    label(group, 0, top + 13, condition, "name", length=30)
    label(group, WIDTH, top + 13, numbers.quantity(total, "us/operation"), "figures end")
    at = 0.0
    for place, (name, value) in enumerate(parts):
        if value <= 0 or not math.isfinite(value):
            continue
        left, right = x(at), x(at + value)
        at += value
        piece = add(group, "rect", f"part {_hue(place)}", x=left, y=top + 18, height=_BAR)
        piece.set("width", f"{right - left:.2f}")
        text = numbers.quantity(value, "us/operation")
        mark(piece, f"{condition}: {text}\n{name}", condition=condition)
        if right - left >= _LEAST_LABELLED and total > 0:
            percent = f"{value / total:.0%}"
            on = f"onpart {_hue(place)} tiny middle"
            label(group, (left + right) / 2, top + 30, percent, on)


def _total(parts: list[tuple[str, float]]) -> float:
    return sum(value for _, value in parts if value > 0)


def _hue(place: int) -> str:
    return _HUES[place % len(_HUES)]
