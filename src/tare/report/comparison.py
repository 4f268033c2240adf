"""The comparison of two runs in words, as tables, as Markdown and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from tare.report import numbers
from tare.report.escaping import plain, shorten
from tare.report.markdown import details, escape, table_lines
from tare.report.tables import Cell, Table
from tare.report.terminal_text import text
from tare.report.words import OPEN, in_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from tare.analysis.comparison.model import (
        ComparedRun,
        EffectChange,
        ProvenanceDifference,
        RunComparison,
        RunDifference,
        Tested,
    )
    from tare.analysis.model import Metric

SHOWN_FACTS = 12
"""At most so many differing facts are listed at once; the rest is folded or counted."""
VALUE_LENGTH = 160
_STYLES = {"worse": "bold red", "better": "bold cyan", "none": "bold"}


def headline(comparison: RunComparison) -> str:
    """The answer in one sentence: how many conditions became worse, better, or stayed."""
    primary = [d for d in comparison.differences if d.primary]
    counts = {
        "worse": sum(d.verdict == "different" and d.direction == "worse" for d in primary),
        "better": sum(d.verdict == "different" and d.direction == "better" for d in primary),
        "different within the margin": sum(
            d.verdict == "different within the margin" for d in primary
        ),
        "equivalent": sum(d.verdict == "equivalent" for d in primary),
        "inconclusive": sum(d.verdict == "inconclusive" for d in primary)
        + len(comparison.unanswered),
    }
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    total = numbers.count(len(primary) + len(comparison.unanswered), "primary comparison")
    return f"From A to B: {said or 'nothing could be compared'}, of {total}."


def warnings(comparison: RunComparison) -> list[str]:
    """Warnings to read before the answer, gravest first."""
    found = []
    for letter, one in (("A", comparison.a), ("B", comparison.b)):
        if not one.valid:
            why = "; ".join(plain(problem) for problem in one.problems[:3])
            found.append(
                f"Run {letter} is not valid: do not decide anything from it. {why}".strip()
            )
    for floor in comparison.noise_floor:
        if floor.exceeds_margin and any(
            d.primary and d.verdict == "inconclusive"
            for d in comparison.differences
            if d.metric == floor.metric
        ):
            title = in_sentence(_metric(comparison, floor.metric))
            found.append(
                f"Identical conditions of run {floor.run.upper()} differed in {title} by up to "
                f"{numbers.share(floor.floor)} between {floor.unit}s, more than the margin: do not "
                "use undecided differences there."
            )
    if comparison.unanswered:
        names = ", ".join(plain(one) for one in comparison.unanswered[:8])
        found.append(f"Fewer than two independent units on a side, so no interval: {names}.")
    for letter, alone in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        if alone:
            names = ", ".join(plain(name) for name in alone[:8])
            found.append(f"Only in {letter}, and not compared: {names}.")
    return found


def sentence(comparison: RunComparison, one: RunDifference) -> str:
    """One condition on one metric, as a reader says it."""
    title = in_sentence(_metric(comparison, one.metric))
    name = plain(one.b) if one.a == one.b else f"{plain(one.b)} (in A: {plain(one.a)})"
    change = f"{numbers.change_in_words(one.ratio)} {numbers.interval(one.ci)} in B than in A"
    if one.verdict == "inconclusive":
        unit = "deployment" if one.conditional else one.b_unit
        more = numbers.count(one.needed, f"more {unit}") if one.needed else ""
        more = f"; {more} per side should decide" if more else ""
        between = numbers.range_in_words(one.ci)
        return f"{name}: {title}: {OPEN}, {between} in B than in A{more}: inconclusive."
    tail = f", {one.direction}" if one.verdict == "different" else ""
    if one.margin is not None and one.verdict != "different":
        tail = f" ({numbers.share(one.margin)} margin)"
    return f"{name}: {title} {change}: {one.verdict}{tail}."


def differences_table(comparison: RunComparison, ones: Iterable[RunDifference]) -> Table:
    """Condition by condition."""
    columns = ["Condition", "Metric", "A", "B", "Change", "95% CI", "Margin", "Verdict",
               "p adjusted", "Units A, B", "Still needed per side"]  # fmt: skip
    rows = []
    for one in ones:
        metric = _metric(comparison, one.metric)
        name = one.b if one.a == one.b else f"{one.a} to {one.b}"
        rows.append(
            [
                Cell(name, "condition", one.b),
                Cell(metric.title),
                Cell(numbers.quantity(one.a_value, metric.unit), "number"),
                Cell(numbers.quantity(one.b_value, metric.unit), "number"),
                *_change(one),
                Cell(_units(one), "number"),
                Cell("unknown" if one.needed is None else str(one.needed), "number"),
            ]
        )
    return Table("Conditions, B over A", columns, rows, _methods(comparison.differences))


def changes_table(comparison: RunComparison, ones: Iterable[EffectChange]) -> Table:
    """Effect by effect: whether the treatment's cost changed."""
    columns = ["Treatment", "Baseline", "Metric", "Effect in A", "Effect in B", "Change", "95% CI",
               "Margin", "Verdict", "p adjusted"]  # fmt: skip
    rows = [
        [
            Cell(one.treatment, "condition", one.treatment),
            Cell(one.baseline),
            Cell(_metric(comparison, one.metric).title),
            Cell(numbers.change(one.a_ratio), "number"),
            Cell(numbers.change(one.b_ratio), "number"),
            *_change(one),
        ]
        for one in ones
    ]
    note = "Effect: treatment over baseline inside its own run. Change: B's ratio over A's."
    return Table("Effects, B over A", columns, rows, [note, *_methods(comparison.changes)])


def differed_table(differences: Iterable[ProvenanceDifference]) -> Table:
    """Facts that differ between the two runs."""
    rows = [
        [
            Cell(d.section),
            Cell(d.fact),
            Cell(shorten(d.a, VALUE_LENGTH)),
            Cell(shorten(d.b, VALUE_LENGTH)),
            Cell(", ".join(d.conditions) or "all"),
        ]
        for d in differences
    ]
    return Table("What else differed", ["Part", "Fact", "A", "B", "Conditions"], rows, [])


def _units(one: RunDifference) -> str:
    a, b = numbers.count(one.a_units, one.a_unit), numbers.count(one.b_units, one.b_unit)
    return a if a == b else f"{a}, {b}"


def _change(one: Tested) -> list[Cell]:
    return [
        Cell(numbers.change(one.ratio), "number"),
        Cell(numbers.interval(one.ci), "number"),
        Cell("none" if one.margin is None else numbers.share(one.margin), "number"),
        Cell(one.verdict + (f", {one.direction}" if one.verdict == "different" else ""), "verdict"),
        Cell(numbers.p_value(one.p_adjusted), "number"),
    ]


def _methods(ones: Iterable[Tested]) -> list[str]:
    """How intervals were made, each way once; the JSON has the degrees of freedom."""
    return list(dict.fromkeys(one.method.partition(", ")[0] + "." for one in ones))


def render_markdown(comparison: RunComparison) -> str:
    """For a pull request: the short answer, a table, and the rest folded."""
    parts = [f"### Tare: {_title(comparison)}", f"**{escape(headline(comparison))}**"]
    warned = warnings(comparison)
    if warned:
        parts.append("\n".join(f"> - {escape(text)}" for text in warned))
    parts.append(escape(what_differed(comparison)))
    primary = [d for d in comparison.differences if d.primary]
    if primary:
        parts.append(table_lines(differences_table(comparison, primary)))
    changes = [c for c in comparison.changes if c.primary]
    if changes:
        parts.append("What each treatment costs, in A and in B:")
        parts.append(table_lines(changes_table(comparison, changes)))
    if comparison.differed:
        facts = differed_table(comparison.differed)
        parts += details(f"What else differed: {len(facts.rows)} facts", [table_lines(facts)])
    everything = [
        table_lines(differences_table(comparison, comparison.differences)),
        table_lines(changes_table(comparison, comparison.changes)),
    ]
    parts += details("All metrics", everything)
    told = [*comparison.notes, *differences_table(comparison, []).notes, _margins(comparison)]
    parts += details("How it was compared", ["\n".join(f"- {escape(note)}" for note in told)])
    return "\n\n".join(parts) + "\n"


def _title(comparison: RunComparison) -> str:
    return f"from {escape(_name(comparison.a))} (A) to {escape(_name(comparison.b))} (B)"


def _name(side: ComparedRun) -> str:
    name = side.run if side.run == side.study else f"{side.study}, run {side.run}"
    return plain(f"{name}, {side.started[:10]}" if side.started else name)


def what_differed(comparison: RunComparison) -> str:
    """The other differences, in one sentence: it comes before any number."""
    if not comparison.differed:
        return "Nothing else that is recorded differs between the two runs."
    facts = [
        f"{plain(d.fact)} (A {shorten(d.a, 30)}, B {shorten(d.b, 30)})"
        for d in comparison.differed[:4]
    ]
    more = len(comparison.differed) - len(facts)
    tail = f" and {numbers.count(more, 'more fact')}" if more else ""
    return f"What else differed: {'; '.join(facts)}{tail}."


def _margins(comparison: RunComparison) -> str:
    told = ", ".join(f"{name} {numbers.share(m)}" for name, m in comparison.margins.items())
    return f"Margins, from the {comparison.margins_from}: {told or 'none'}."


def render_terminal(comparison: RunComparison) -> RenderableType:
    """Warnings, other differences, the answer in sentences."""
    parts: list[RenderableType] = [
        text(f"A: {_name(comparison.a)}", "bold"),
        text(f"B: {_name(comparison.b)}", "bold"),
        Text(),
    ]
    for warning in warnings(comparison):
        parts.append(Panel(text(warning), border_style="yellow"))
    parts.append(text("What else differed", "bold"))
    for d in comparison.differed[:SHOWN_FACTS]:
        where = f" [{', '.join(d.conditions)}]" if d.conditions else ""
        parts.append(
            text(f"  {d.section}: {d.fact}: A {shorten(d.a, 60)}, B {shorten(d.b, 60)}{where}")
        )
    if len(comparison.differed) > SHOWN_FACTS:
        more = len(comparison.differed) - SHOWN_FACTS
        parts.append(text(f"  and {more} more, with --json or --markdown"))
    if not comparison.differed:
        parts.append(text("  nothing that is recorded"))
    parts += [Text(), text(headline(comparison), "bold")]
    for one in comparison.differences:
        if one.primary:
            style = _STYLES[one.direction] if one.verdict == "different" else ""
            parts.append(text(f"  {sentence(comparison, one)}", style))
    changes = [c for c in comparison.changes if c.primary]
    if changes:
        parts += [Text(), text("What each treatment costs, in A and in B", "bold")]
    for change in changes:
        parts.append(text(f"  {_change_sentence(comparison, change)}"))
    parts += [Text(), *(text(note, "dim") for note in comparison.notes)]
    return Group(*parts)


def _change_sentence(comparison: RunComparison, one: EffectChange) -> str:
    title = in_sentence(_metric(comparison, one.metric))
    return (
        f"{plain(one.treatment)} over {plain(one.baseline)}: {title} "
        f"{numbers.change(one.a_ratio)} in A, {numbers.change(one.b_ratio)} in B; "
        f"B over A {numbers.change(one.ratio)} {numbers.interval(one.ci)}: {one.verdict}."
    )


def _metric(comparison: RunComparison, name: str) -> Metric:
    return next(m for m in comparison.metrics if m.name == name)
