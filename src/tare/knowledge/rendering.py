"""Findings and advice as rows and lines for people; JSON has the same numbers in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import count
from tare.knowledge.claims import by_digits
from tare.knowledge.library import place
from tare.knowledge.wording import WORDS, interval, percent, span
from tare.runtimes.registry import containers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.change import Change, CheckResult
    from tare.knowledge.library import Entry
    from tare.knowledge.schema import Finding, PublishedLoad, Side

COLUMNS = (
    "id", "study", "database", "version", "over", "platform", "network", "storage", "client",
    "workload", "operation", "load", "metric", "unit", "baseline", "treatment",
    "ratio", "low", "high", "ci_low", "ci_high", "direction", "how", "n", "origin", "source",
)  # fmt: skip
"""Columns of the CSV; the table shows fewer."""


def change_of(finding: Finding) -> str:
    """The effect in a word: a change, a range, or a direction."""
    effect = finding.effect
    if effect is None:
        return "spread"
    if effect.how == "range":
        return span(effect.low, effect.high)
    if effect.ratio is None:
        return WORDS.get(effect.direction, effect.direction)
    points = f" ({effect.printed:+g} points)" if effect.printed_as == "points" else ""
    change = percent(effect.ratio, whole=by_digits(finding) is not None)
    return f"{change}{interval(finding.spread.ci)}{points}"


def load_of(load: PublishedLoad) -> str:
    """The load level in a few words."""
    parts = [
        f"{load.threads} threads" if load.threads else "",
        f"{load.rate:,.0f}/s" if load.rate else "",
        f"{load.share:.0%}" if load.share else "",
    ]
    said = ", ".join(part for part in parts if part)
    return said or load.label


def side_of(side: Side) -> str:
    """One side in a few words: docker bridge layer, client docker."""
    parts = [side.platform, side.network, side.address, side.plugin, side.storage]
    words = " ".join(part for part in parts if part)
    extra = [f"client {side.client}"] if side.client in containers() else []
    extra += [f"{side.clusters} clusters"] if side.clusters and side.clusters > 1 else []
    extra += [f"RF {side.replication_factor}"] if side.replication_factor else []
    return ", ".join([words, *extra])


def row(entry: Entry) -> dict[str, str | int | float | None]:
    """One finding as a CSV row."""
    one = entry.finding
    side = one.side
    effect, ci = one.effect, one.spread.ci
    return {
        "id": one.id,
        "study": one.study,
        "database": one.database,
        "version": one.version,
        "over": one.baseline.platform,
        "platform": side.platform,
        "network": side.network,
        "storage": side.storage,
        "client": side.client,
        "workload": " ".join(one.workload),
        "operation": one.operation,
        "load": load_of(one.load),
        "metric": one.metric,
        "unit": one.unit,
        "baseline": one.values.baseline,
        "treatment": one.values.treatment,
        "ratio": effect.ratio if effect else None,
        "low": effect.low if effect else None,
        "high": effect.high if effect else None,
        "ci_low": ci[0] if ci else None,
        "ci_high": ci[1] if ci else None,
        "direction": effect.direction if effect else "",
        "how": effect.how if effect else "spread",
        "n": one.spread.n or one.spread.units,
        "origin": entry.origin,
        "source": place(entry),
    }


def finding_lines(entry: Entry) -> Iterator[tuple[str, str]]:
    """(label, text) of everything that a finding says."""
    one = entry.finding
    yield "finding", one.id
    yield "effect", f"{one.metric} {change_of(one)}"
    values = one.values
    if values.baseline is not None and values.treatment is not None:
        steps = f", each the last of steps of {values.step}" if values.step is not None else ""
        yield "values", f"{values.baseline} to {values.treatment} {one.unit}{steps}"
    elif values.baseline is not None:
        yield "value", f"{values.baseline} {one.unit}"
    if one.effect is not None:
        yield "how had", _how(one)
        if (digits := by_digits(one)) is not None:
            yield "digits", f"those that are printed allow {span(*digits, whole=True)}"
    yield "database", _cluster(one)
    yield "baseline", side_of(one.baseline)
    if one.treatment is not None:
        yield "treatment", side_of(one.treatment)
    reached = f"; {one.load.reached:.0%} of the maximum as measured" if one.load.reached else ""
    parts = [*one.workload, one.operation, load_of(one.load)]
    yield "load", ", ".join(part for part in parts if part) + reached
    if spread := _spread(one):
        yield "spread", spread
    yield "hardware", one.hardware
    yield "source", place(entry)
    yield "work", ", ".join(part for part in (entry.work.title, entry.work.published) if part)
    for clash in one.discrepancies:
        other = f"{clash.other}: " if clash.other is not None else ""
        yield "discrepancy", f"{clash.place}: {other}{clash.note}"
    if one.notes:
        yield "notes", one.notes
    for note in entry.work.notes:
        yield "on the work", note
    replaced = f", in place of the one in {entry.overrides}" if entry.overrides else ""
    yield "origin", entry.origin + replaced


def _how(one: Finding) -> str:
    effect = one.effect
    if effect is None or effect.printed is None:
        return effect.how if effect else ""
    unit = {"percent": "%", "points": " points"}.get(effect.printed_as, "")
    return f"{effect.how}; the source prints {effect.printed:g}{unit}"


def _cluster(one: Finding) -> str:
    parts = [f"{one.database} {one.version}".strip()]
    parts += [count(one.nodes, "node")] if one.nodes else []
    parts += [f"RF {one.replication_factor}"] if one.replication_factor else []
    parts += [one.consistency] if one.consistency else []
    parts += [f"{name} {value}" for name, value in one.settings.items()]
    return ", ".join(parts)


def _spread(one: Finding) -> str:
    spread = one.spread
    parts = [
        f"n {spread.n}" if spread.n else "",
        f"sd {spread.baseline_sd} (baseline)" if spread.baseline_sd is not None else "",
        f"sd {spread.treatment_sd} (treatment)" if spread.treatment_sd is not None else "",
        f"sd at least {spread.sd_low}" if spread.sd_low is not None else "",
        f"sd at most {spread.sd_high}" if spread.sd_high is not None else "",
        f"Cohen's d {spread.cohens_d}" if spread.cohens_d is not None else "",
        f"sd of the log-ratio {spread.sd_log:g}" if spread.sd_log is not None else "",
        f"{spread.units} units of analysis" if spread.units else "",
    ]
    return ", ".join(part for part in parts if part)


def change_lines(result: CheckResult) -> Iterator[str]:
    """The comparison of two analyses as text."""
    for one in result.changes:
        yield f"{one.condition}  {one.metric}  {_change(one)}: {one.verdict}"
        if one.known is not None:
            low, high = percent(one.known[0]), percent(one.known[1])
            yield f"    the platform alone ({one.platform}): {low} to {high}, {one.basis}"
    yield from result.notes


def _change(one: Change) -> str:
    units = f"{one.units[0]} and {one.units[1]} {one.unit}s"
    return f"{percent(one.ratio)}{interval(one.ci)} over {units}"
