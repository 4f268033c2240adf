"""The tables of a report as plain rows, from which the page and the Markdown are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.report import numbers, others_found, words
from tare.report.also_differs import also_differs
from tare.report.labels import condition_labels, pair_names
from tare.report.table import Cell, RowKey, Table
from tare.report.traces import effect_trials
from tare.report.verdict_notes import verdict_notes

__all__ = ["Cell", "RowKey", "Table"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis, Effect, TrialSummary


_AFTER_INTERVAL = 7
"""Column of the effects that stands behind the interval."""


def conditions_table(analysis: Analysis) -> Table:
    """The conditions: levels, trials, and per metric the geometric mean and variation."""
    columns = ["Condition", "Levels", "Same setup as", "Trials", "Failed"]
    columns += [*(m.title for m in analysis.metrics), "Median trial"]
    rows = []
    labels = condition_labels(analysis)
    for c in analysis.conditions:
        levels = ", ".join(f"{factor}: {level}" for factor, level in c.levels.items())
        role = " (baseline)" if c.condition == words.reference(analysis) else ""
        row = [
            Cell(labels.get(c.condition, c.condition) + role, "condition", c.condition),
            Cell(levels),
            Cell(labels.get(c.aa_of or "", c.aa_of or "")),
            _count(c.trials),
            Cell(str(c.failed), "flag" if c.failed else "number", value=c.failed),
        ]
        for m in analysis.metrics:
            text = numbers.quantity(c.metrics.get(m.name), m.unit)
            if m.name in c.cv:
                text += f" (CV {numbers.share(c.cv[m.name])})"
            row.append(Cell(text, "number", value=c.metrics.get(m.name)))
        rows.append([*row, Cell(c.median_trial or "")])
    note = (
        "Values are geometric means over trials; CV is the coefficient of variation over trials; "
        "the median trial is the one with the median throughput."
    )
    units = {5 + i: m.unit for i, m in enumerate(analysis.metrics)}
    keys = [RowKey(condition=c.condition) for c in analysis.conditions]
    sent = [
        f"{labels.get(c.condition, c.condition)}: {'; '.join(c.load)}."
        for c in analysis.conditions
        if c.load
    ]
    return Table("Conditions", columns, rows, [note, *sent], "conditions", units, keys)


def effects_table(analysis: Analysis) -> Table:
    """Every effect: the answer in numbers."""
    columns = ["Metric", "Treatment", "Baseline", "Verdict", "Change", "Ratio", "95% CI of ratio",
               "Margin", "Baseline value", "Treatment value", "Difference", "Units counted",
               "Blocks", "Still needed", "Trials"]  # fmt: skip
    rows = []
    names = pair_names(analysis)
    compared = others_found.any_known(analysis)
    if compared:
        columns.insert(_AFTER_INTERVAL, "Others found")
    apart = {(e.treatment, e.baseline): also_differs(analysis, e) for e in analysis.effects}
    if any(apart.values()):
        columns.append("Not the same apart from that")
    for e, trials in zip(analysis.effects, effect_trials(analysis), strict=True):
        metric = words.metric_of(analysis, e.metric)
        rows.append(
            [
                *_effect_name(analysis, e, names),
                Cell(names[e.treatment, e.baseline][1]),
                Cell(e.verdict, "verdict", words.tone(analysis, e)),
                Cell(numbers.change(e.ratio), "number", value=100 * (e.ratio - 1)),
                Cell(numbers.ratio(e.ratio), "number", value=e.ratio),
                Cell(numbers.ratio_interval(e.ci), "number", value=e.ci[0]),
                *([others_found.cell(e)] if compared else []),
                _share(e.margin, "none"),
                _quantity(e.baseline_value, metric.unit),
                _quantity(e.treatment_value, metric.unit),
                Cell(_difference(e, metric.unit), "number", value=e.difference),
                Cell(
                    numbers.count(e.deployments, e.unit_of_analysis),
                    "number",
                    value=e.deployments,
                ),
                _count(e.blocks),
                Cell(_needed(e), "number", value=e.needed),
                Cell(numbers.count(len(trials), "trial"), "trace", value=len(trials)),
                *([Cell(apart[e.treatment, e.baseline])] if any(apart.values()) else []),
            ]
        )
    note = (
        "Ratio is treatment over baseline. Still needed: units until a decision at the margin. "
        "Values are geometric means over trials. Difference: the change and the ends of its "
        "interval, times the baseline's value."
    )
    notes = [note, *_average_notes(analysis), *verdict_notes(analysis)]
    notes += [others_found.NOTE] if compared else []
    return Table("Effects", columns, rows, notes, "effects-table", {4: "%"}, _effect_keys(analysis))


def _difference(effect: Effect, unit: str) -> str:
    low, high = (numbers.signed_quantity(end, unit) for end in effect.difference_ci)
    return f"{numbers.signed_quantity(effect.difference, unit)} [{low}, {high}]"


def _average_notes(analysis: Analysis) -> list[str]:
    """The meaning of an average's values: no single load, and the kind of mean."""
    plain_means = {"mean-of-ratios", "ratio-of-means"}
    kinds = {
        "arithmetic" if e.how in plain_means else "geometric": None
        for e in analysis.effects
        if e.over and not e.aa
    }
    factors = dict.fromkeys(f for e in analysis.effects if not e.aa for f in e.over)
    return [
        f"The values of an average (over {listing(list(factors))}) are {kind} means over "
        "these levels too: a throughput there was reached at none of them."
        for kind in kinds
    ]


def statistics_table(analysis: Analysis) -> Table:
    """How each effect was computed: for the reader who checks the method."""
    columns = ["Metric", "Treatment", "90% CI of ratio", "95% CI, unpooled", "df",
               "sd of log-ratio", "Detectable change", "p difference", "p adjusted", "Adjustment",
               "p equivalence", "Cohen's d", "Hedges' g", "Primary", "Cross-checks"]  # fmt: skip
    names = pair_names(analysis)
    rows = [
        [
            *_effect_name(analysis, e, names),
            Cell(numbers.ratio_interval(e.ci90), "number", value=e.ci90[0]),
            Cell(
                "n/a" if e.ci_unpooled is None else numbers.ratio_interval(e.ci_unpooled),
                "number",
                value=None if e.ci_unpooled is None else e.ci_unpooled[0],
            ),
            _plain_number(e.df),
            _plain_number(e.sd_log),
            _share(e.mde, "n/a"),
            _p_value(e.p),
            _p_value(e.p_adjusted),
            Cell(e.adjustment),
            _p_value(e.p_equivalence),
            _plain_number(e.cohens_d),
            _plain_number(e.hedges_g),
            Cell("yes" if e.primary else "no"),
            Cell(cross_checks(e)),
        ]
        for e in analysis.effects
    ]
    notes = [
        "Detectable change: the least change that this many units would find with 80% power. "
        "Equivalence is decided on the 90% interval (two one-sided tests).",
    ]
    notes += list(dict.fromkeys(f"Interval: {e.method}" for e in analysis.effects if e.method))
    keys = _effect_keys(analysis)
    return Table("Statistics of the effects", columns, rows, notes, "statistics", keys=keys)


def cross_checks(effect: Effect) -> str:
    """The other methods for the same answer, in a table's cell."""
    parts = []
    for check in effect.crosschecks:
        found = [numbers.ratio_interval(check.ci)] if check.ci else []
        found += [f"p {numbers.p_value(check.p)}"] if check.p is not None else []
        against = "" if check.agrees else " (contradicts the interval)"
        parts.append(f"{check.name}: {', '.join(found)}{against}")
    return "; ".join(parts)


def _effect_keys(analysis: Analysis) -> list[RowKey]:
    return [RowKey(effect=i) for i in range(len(analysis.effects))]


def _count(number: int) -> Cell:
    return Cell(str(number), "number", value=number)


def _share(value: float | None, missing: str) -> Cell:
    return Cell(missing if value is None else numbers.share(value), "number", value=value)


def _quantity(value: float | None, unit: str) -> Cell:
    return Cell(numbers.quantity(value, unit), "number", value=value)


def _plain_number(value: float | None) -> Cell:
    return Cell("n/a" if value is None else numbers.significant(value), "number", value=value)


def _p_value(value: float | None) -> Cell:
    return Cell(numbers.p_value(value), "number", value=value)


def _effect_name(
    analysis: Analysis, e: Effect, names: Mapping[tuple[str, str], tuple[str, str]]
) -> list[Cell]:
    treatment = names[e.treatment, e.baseline][0] + (" (A/A)" if e.aa else "")
    return [
        Cell(words.metric_of(analysis, e.metric).title),
        Cell(treatment, "condition", e.treatment),
    ]


def _needed(e: Effect) -> str:
    if e.needed is None:
        return "unknown"
    if e.needed == 0:
        return "none"
    return numbers.count(e.needed, e.unit_of_analysis)


def trials_table(analysis: Analysis) -> Table:
    """Every trial, in the order of measurement, with its oddities."""
    columns = ["Trial", "Condition", "Remarks", "Round", "Block", "Position", "Deployment"]
    columns += [m.title for m in analysis.metrics] + ["Errors", "Files"]
    rows = []
    labels = condition_labels(analysis)
    in_order = sorted(analysis.trials, key=lambda t: (t.round, t.block, t.position))
    for t in in_order:
        remarks = trial_remarks(t)
        row = [
            Cell(t.trial),
            Cell(labels.get(t.condition, t.condition), "condition", t.condition),
            Cell("; ".join(remarks), "flag" if remarks else "text"),
            *(_count(n) for n in (t.round, t.block, t.position)),
            Cell(t.deployment),
        ]
        row += [_quantity(t.values.get(m.name), m.unit) for m in analysis.metrics]
        names = " ".join([*(path.rpartition("/")[2] for path in t.files), *t.sources])
        row += [
            Cell(f"{t.errors:,}", "flag" if t.errors else "number", value=t.errors),
            Cell(names, "files", files=tuple(t.files), sources=tuple(t.sources)),
        ]
        rows.append(row)
    note = (
        "Outliers are marked and kept; failed trials enter no effect. Files are linked relative to "
        "the run's directory, in which this report lies."
    )
    units = {7 + i: m.unit for i, m in enumerate(analysis.metrics)}
    keys = [RowKey(condition=t.condition, trial=t.trial) for t in in_order]
    return Table("Trials", columns, rows, [note], "trials-table", units, keys)


def trial_remarks(trial: TrialSummary) -> list[str]:
    """Facts that a reader should know of a trial before believing it."""
    remarks = []
    if trial.status == "failed":
        remarks.append(f"failed: {trial.reason or 'no reason recorded'}")
    if trial.outlier:
        remarks.append("outlier")
    if trial.saturated:
        remarks.append("client saturated")
    if trial.warm is False:
        remarks.append("never warm")
    if trial.steady is False:
        remarks.append("never steady")
    return remarks
