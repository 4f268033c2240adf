"""Further answers: what an effect depends on, and whether a treatment is noisier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report import numbers, words
from tare.report.escaping import plain
from tare.report.labels import ambiguous_levels, listed, pair_names
from tare.report.table import Cell, RowKey, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis, Interaction, VarianceRatio


def interactions(analysis: Analysis) -> tuple[list[str], list[str]]:
    """A sentence per interaction: on primary metrics or found to depend, and all others."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    first: list[str] = []
    rest: list[str] = []
    for one in sorted(analysis.interactions, key=lambda i: not i.depends):
        (first if one.depends or one.metric in primary else rest).append(_sentence(analysis, one))
    return first, rest


def interactions_note(analysis: Analysis) -> str:
    """Why their changes may differ a little from the tables'; empty: they do not."""
    ways = {e.how for e in analysis.effects if e.over}
    if not analysis.interactions or not ways & {"mean-of-ratios", "ratio-of-means"}:
        return ""
    way = "means of ratios" if "mean-of-ratios" in ways else "ratios of means"
    return (
        "The changes in these sentences are of geometric means, as the test compares them; the "
        f"averages in the tables are {way}, so that the last digits may differ."
    )


def _sentence(analysis: Analysis, one: Interaction) -> str:
    """The analysis' sentence, with the page's name of the treatment."""
    what = one.largest_of.partition(": ")[0]
    levels = what.split(".")
    if len(levels) != len(one.compared):
        return plain(one.sentence)
    named = listed(dict(zip(one.compared, levels, strict=True)), ambiguous_levels(analysis))
    return plain(one.sentence).replace(f"What {plain(what)} does", f"What {named} does", 1)


def noisier(analysis: Analysis) -> list[str]:
    """A sentence per treatment that is noisier or quieter on a primary metric."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    names = pair_names(analysis)
    return [
        f"{_named(names, v)[0]} is {v.verdict} than {_named(names, v)[1]} on "
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
    names = pair_names(analysis)
    rows = [
        [
            Cell(words.metric_of(analysis, v.metric).title),
            Cell(_named(names, v)[0] + (" (A/A)" if v.aa else ""), "condition", v.treatment),
            Cell(_named(names, v)[1]),
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
    return Table("Does the platform add noise?", columns, rows, notes, "variances", keys=keys)


def _named(names: Mapping[tuple[str, str], tuple[str, str]], one: VarianceRatio) -> tuple[str, str]:
    return names.get((one.treatment, one.baseline), (plain(one.treatment), plain(one.baseline)))


def _variances(one: VarianceRatio) -> str:
    return f"{numbers.significant(one.ratio)} {_interval(one)}"


def _interval(one: VarianceRatio) -> str:
    return f"[{numbers.significant(one.ci[0])}, {numbers.significant(one.ci[1])}]"
