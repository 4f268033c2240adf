"""Further answers: on what an effect depends, and whether a treatment is noisier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report import numbers, words
from tare.report.table import Cell, RowKey, Table
from tare.report.text import plain

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, VarianceRatio


def interactions(analysis: Analysis) -> tuple[list[str], list[str]]:
    """A sentence per interaction: on primary metrics or found to depend, and all others."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    first: list[str] = []
    rest: list[str] = []
    for one in sorted(analysis.interactions, key=lambda i: not i.depends):
        (first if one.depends or one.metric in primary else rest).append(plain(one.sentence))
    return first, rest


def noisier(analysis: Analysis) -> list[str]:
    """A sentence per treatment that is noisier or quieter on a primary metric."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    return [
        f"{plain(v.treatment)} is {v.verdict} than {plain(v.baseline)} on "
        f"{words.in_sentence(words.metric_of(analysis, v.metric))}: trials vary by "
        f"{numbers.share(v.treatment_cv)} instead of {numbers.share(v.baseline_cv)} "
        f"(ratio of variances {_variances(v)})."
        for v in analysis.variances
        if v.metric in primary and not v.aa and v.verdict != "not told apart"
    ]


def variance_table(analysis: Analysis) -> Table:
    """Every ratio of variances, primary metrics first."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    shown = sorted(analysis.variances, key=lambda v: v.metric not in primary)
    columns = ["Metric", "Treatment", "Baseline", "Verdict", "Ratio of variances", "95% CI",
               "Varies by", "Baseline varies by", "p adjusted", "Trials"]  # fmt: skip
    rows = [
        [
            Cell(words.metric_of(analysis, v.metric).title),
            Cell(v.treatment + (" (A/A)" if v.aa else ""), "condition", v.treatment),
            Cell(v.baseline),
            Cell(v.verdict),
            Cell(numbers.significant(v.ratio), "number", value=v.ratio),
            Cell(_interval(v), "number", value=v.ci[0]),
            Cell(numbers.share(v.treatment_cv), "number", value=v.treatment_cv),
            Cell(numbers.share(v.baseline_cv), "number", value=v.baseline_cv),
            Cell(numbers.p_value(v.p_adjusted), "number", value=v.p_adjusted),
            Cell(str(v.trials), "number", value=v.trials),
        ]
        for v in shown
    ]
    keys = [RowKey(condition=v.treatment) for v in shown]
    notes = list(dict.fromkeys(v.method for v in shown if v.method))
    return Table("Is the platform noisier?", columns, rows, notes, "variances", keys=keys)


def _variances(one: VarianceRatio) -> str:
    return f"{numbers.significant(one.ratio)} {_interval(one)}"


def _interval(one: VarianceRatio) -> str:
    return f"[{numbers.significant(one.ci[0])}, {numbers.significant(one.ci[1])}]"
