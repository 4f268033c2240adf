"""The tables of a report as plain rows, from which the page and the Markdown are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.report import numbers, words

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Effect, NoiseFloor, ParityDifference, TrialSummary


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and how it is shown (text, number, condition, verdict, flag)."""

    text: str
    kind: str = "text"
    css: str = ""


@dataclass(frozen=True)
class Table:
    """A table; the first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str]

    @property
    def numeric(self) -> list[bool]:
        """Per column, whether it holds numbers, which are aligned to the right."""
        return [any(row[i].kind == "number" for row in self.rows) for i in range(len(self.columns))]


def conditions_table(analysis: Analysis) -> Table:
    """What was compared: levels, trials, and per metric the geometric mean and variation."""
    columns = ["Condition", "Levels", "Same setup as", "Trials", "Failed"]
    columns += [*(m.title for m in analysis.metrics), "Median trial"]
    rows = []
    for c in analysis.conditions:
        levels = ", ".join(f"{factor}: {level}" for factor, level in c.levels.items())
        role = " (baseline)" if c.condition == words.reference(analysis) else ""
        row = [
            Cell(c.condition + role, "condition", c.condition),
            Cell(levels),
            Cell(c.aa_of or ""),
            Cell(str(c.trials), "number"),
            Cell(str(c.failed), "flag" if c.failed else "number"),
        ]
        for m in analysis.metrics:
            text = numbers.quantity(c.metrics.get(m.name), m.unit)
            if m.name in c.cv:
                text += f" (CV {numbers.share(c.cv[m.name])})"
            row.append(Cell(text, "number"))
        rows.append([*row, Cell(c.median_trial or "")])
    note = (
        "Values are geometric means over trials; CV is the coefficient of variation over trials; "
        "the median trial is the one with the median throughput."
    )
    return Table("Conditions", columns, rows, [note])


def effects_table(analysis: Analysis) -> Table:
    """Every effect: the answer in numbers."""
    columns = ["Metric", "Treatment", "Baseline", "Verdict", "Change", "Ratio", "95% CI of ratio",
               "Margin", "Baseline value", "Treatment value", "Units counted", "Blocks",
               "Still needed"]  # fmt: skip
    rows = []
    for e in analysis.effects:
        metric = words.metric_of(analysis, e.metric)
        rows.append(
            [
                *_effect_name(analysis, e),
                Cell(e.baseline),
                Cell(e.verdict, "verdict", words.tone(analysis, e)),
                Cell(numbers.change(e.ratio), "number"),
                Cell(numbers.ratio(e.ratio), "number"),
                Cell(numbers.ratio_interval(e.ci), "number"),
                Cell("none" if e.margin is None else numbers.share(e.margin), "number"),
                Cell(numbers.quantity(e.baseline_value, metric.unit), "number"),
                Cell(numbers.quantity(e.treatment_value, metric.unit), "number"),
                Cell(numbers.count(e.deployments, e.unit_of_analysis), "number"),
                Cell(str(e.blocks), "number"),
                Cell(_needed(e), "number"),
            ]
        )
    note = (
        "Ratio is treatment over baseline. Still needed: units until a decision at the margin. "
        "Values are geometric means over trials."
    )
    return Table("Effects", columns, rows, [note])


def statistics_table(analysis: Analysis) -> Table:
    """How each effect was found: for the reader who checks the method."""
    columns = ["Metric", "Treatment", "90% CI of ratio", "95% CI, unpooled", "df",
               "sd of log-ratio", "Detectable change", "p difference", "p adjusted", "Adjustment",
               "p equivalence", "Cohen's d", "Hedges' g", "Primary"]  # fmt: skip
    rows = [
        [
            *_effect_name(analysis, e),
            Cell(numbers.ratio_interval(e.ci90), "number"),
            Cell(
                "n/a" if e.ci_unpooled is None else numbers.ratio_interval(e.ci_unpooled), "number"
            ),
            Cell(numbers.significant(e.df), "number"),
            Cell(numbers.significant(e.sd_log), "number"),
            Cell(numbers.share(e.mde), "number"),
            Cell(numbers.p_value(e.p), "number"),
            Cell(numbers.p_value(e.p_adjusted), "number"),
            Cell(e.adjustment),
            Cell(numbers.p_value(e.p_equivalence), "number"),
            Cell("n/a" if e.cohens_d is None else numbers.significant(e.cohens_d), "number"),
            Cell("n/a" if e.hedges_g is None else numbers.significant(e.hedges_g), "number"),
            Cell("yes" if e.primary else "no"),
        ]
        for e in analysis.effects
    ]
    notes = [
        "Detectable change: the least change that this many units would find with 80% power. "
        "Equivalence is decided on the 90% interval (two one-sided tests).",
    ]
    notes += list(dict.fromkeys(f"Interval: {e.method}" for e in analysis.effects if e.method))
    return Table("Statistics of the effects", columns, rows, notes)


def _effect_name(analysis: Analysis, e: Effect) -> list[Cell]:
    treatment = e.treatment + (" (A/A)" if e.aa else "")
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
    """Every trial, in the order of measurement, with what is odd about it."""
    columns = ["Trial", "Condition", "Remarks", "Round", "Block", "Position", "Deployment"]
    columns += [m.title for m in analysis.metrics] + ["Errors"]
    rows = []
    for t in sorted(analysis.trials, key=lambda t: (t.round, t.block, t.position)):
        remarks = trial_remarks(t)
        row = [
            Cell(t.trial),
            Cell(t.condition, "condition", t.condition),
            Cell("; ".join(remarks), "flag" if remarks else "text"),
            *(Cell(str(n), "number") for n in (t.round, t.block, t.position)),
            Cell(t.deployment),
        ]
        row += [
            Cell(numbers.quantity(t.values.get(m.name), m.unit), "number") for m in analysis.metrics
        ]
        rows.append([*row, Cell(f"{t.errors:,}", "flag" if t.errors else "number")])
    note = "Outliers are marked and kept; failed trials enter no effect."
    return Table("Trials", columns, rows, [note])


def trial_remarks(trial: TrialSummary) -> list[str]:
    """What a reader should know of a trial before believing it."""
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


def noise_table(analysis: Analysis) -> Table:
    """How far apart identical setups were."""
    columns = ["Metric", "Identical conditions", "Noise floor (pairs)",
               "Noise floor (deployments)", "Against the margin"]  # fmt: skip
    rows = [
        [
            Cell(words.metric_of(analysis, f.metric).title),
            Cell(" and ".join(f.conditions)),
            Cell(numbers.share(f.floor), "number"),
            Cell(numbers.share(f.deployment_floor), "number"),
            _against_margin(f, words.margin_of(analysis, f.metric)),
        ]
        for f in sorted(
            analysis.noise_floor, key=lambda f: words.margin_of(analysis, f.metric) is None
        )
    ]
    note = "Noise floor: 95% of the pairs of identical setups (A/A) were within this change."
    return Table("Noise floor", columns, rows, [note])


def _against_margin(floor: NoiseFloor, margin: float | None) -> Cell:
    if margin is None:
        return Cell("no margin declared")
    if floor.exceeds_margin:
        return Cell(f"pairs exceed the margin of {numbers.share(margin)}", "flag")
    return Cell(f"within the margin of {numbers.share(margin)}")


def parity_table(differences: list[ParityDifference]) -> Table:
    """Facts that differ between conditions, unexpected ones first."""
    rows = []
    for difference in sorted(differences, key=lambda d: d.expected):
        values = "; ".join(
            f"{value}: {', '.join(names)}" for value, names in difference.values.items()
        )
        kind = (
            Cell("expected, the study varies it")
            if difference.expected
            else Cell("unexpected", "flag")
        )
        rows.append([Cell(difference.fact), kind, Cell(values)])
    return Table("Parity differences", ["Fact", "Expected", "Value: conditions"], rows, [])
