"""Every published finding of a study beside a run of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.enumeration import first_of
from tare.errors import UsageError
from tare.knowledge.rendering import change_of, load_of, side_of
from tare.knowledge.replication.agreement import band_of
from tare.knowledge.replication.bills import bills_beside
from tare.knowledge.replication.departures import departed, departures
from tare.knowledge.replication.differences import differences
from tare.knowledge.replication.judgement import Judgement, cases_of, judgement
from tare.knowledge.replication.matching import Match, match
from tare.knowledge.replication.measured import (
    ComparisonRequest,
    effects_of,
    make_measured,
    own_metric,
    zeros,
)
from tare.knowledge.replication.model import Ours, Published, Row, Scorecard, count_verdicts
from tare.knowledge.replication.row_notes import row_notes
from tare.knowledge.replication.unmeasured import MOST_NAMED, levels_missing, why_missing
from tare.records.reader import read_run
from tare.records.run_prices import prices_of
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.analysis.model import Analysis, Bill, Effect
    from tare.knowledge.library import Entry
    from tare.knowledge.replication.measured import Key, MeasuredRun
    from tare.knowledge.replication.reference import Reference
    from tare.knowledge.schema import Finding, Source


@dataclass(frozen=True)
class _Beside:
    """A run beside the study that it repeats.

    Attributes:
        apart: condition to its differences from the study's.
    """

    run: MeasuredRun
    reference: Reference
    apart: Mapping[str, tuple[str, ...]]


def make_scorecard(run_dir: Path, analysis: Analysis, reference: Reference) -> Scorecard:
    """Judge every published finding by this run.

    Raises:
        RecordError: the directory is no run's.
        UsageError: the run is of another study.
    """
    records = read_run(run_dir)
    study = load_study(records.files.study)
    if study.study != reference.study.study:
        raise UsageError(
            f"{records.name} is no run of {reference.study.study}",
            where=str(run_dir),
            why=f"its study is {study.study}",
            remedy=f"tare replicate {study.study} --of {shlex.quote(str(run_dir))}",
        )
    run = make_measured(records, analysis, study)
    beside = _Beside(run, reference, departures(run, reference))
    known = {entry.finding.id: entry.finding for entry in reference.entries}
    matches = {name: match(finding, reference, known) for name, finding in known.items()}
    wanted = {name: _wanted(beside, known[name], found) for name, found in matches.items()}
    asked = [case for name, one in wanted.items() for case in cases_of(known[name], one)]
    effects = effects_of(run, asked)
    judged = {name: _judged(known[name], one, effects, run) for name, one in wanted.items()}
    undecided = {
        name: _shown(known[name], wanted[name], effects, one)
        for name, one in judged.items()
        if one is not None and one.verdict == "undecided"
    }
    bills = bills_beside(run, prices_of(records.files), undecided)
    rows = [
        _row(entry, matches[name], wanted[name], judged[name], bills.get(name, ""), beside)
        for name, entry in ((entry.finding.id, entry) for entry in reference.entries)
    ]
    return Scorecard(
        study=study.study,
        source=reference.source,
        title=reference.entries[0].work.title,
        run=records.name,
        scale=study.scale or "",
        only={factor: list(levels) for factor, levels in study.only.items()},
        valid=analysis.valid,
        problems=analysis.problems,
        counts=count_verdicts(rows),
        differs=list(differences(run, reference)),
        rows=rows,
    )


def _wanted(beside: _Beside, finding: Finding, found: Match) -> ComparisonRequest:
    """The measured pairs of the match, in conditions that are the study's."""
    metric = own_metric(beside.run, finding.metric)
    usable = beside.run.done(metric) - beside.apart.keys()
    rows = [tuple(pair for pair in row if usable.issuperset(pair)) for row in found.rows]
    return ComparisonRequest(metric, tuple(row for row in rows if row))


def _judged(
    finding: Finding, wanted: ComparisonRequest, effects: Mapping[Key, Effect], run: MeasuredRun
) -> Judgement | None:
    band = band_of(finding, run.study.margins)
    if band is None:
        return None
    cases = cases_of(finding, wanted)
    own = [effects[case.key] for case in cases if case.key in effects]
    return judgement(band, own, len(cases))


def _shown(
    finding: Finding, wanted: ComparisonRequest, effects: Mapping[Key, Effect], judged: Judgement
) -> ComparisonRequest:
    """The case whose effect the row shows."""
    return next(one for one in cases_of(finding, wanted) if effects.get(one.key) is judged.effect)


def _row(
    entry: Entry,
    found: Match,
    wanted: ComparisonRequest,
    judged: Judgement | None,
    bill: Bill | str,
    beside: _Beside,
) -> Row:
    finding, run = entry.finding, beside.run
    notes: list[str] = []
    if judged is not None:
        notes = [*found.notes, *judged.notes, *_partly(found, wanted, beside)]
        notes += row_notes(wanted, run, beside.reference)
    if finding.discrepancies:
        notes.append("the source contradicts itself here")
    return Row(
        finding=finding.id,
        group=_group(finding.source),
        where=finding.source.where,
        metric=finding.metric,
        compared=_compared(finding),
        published=_published(finding, run),
        ours=_ours(judged.effect, len(found.pairs)) if judged else None,
        verdict=judged.verdict if judged else "not run here",
        further=judged.further if judged else None,
        bill=None if isinstance(bill, str) else bill,
        no_bill=bill if isinstance(bill, str) else "",
        reason="" if judged else _why_not(finding, found, wanted, beside),
        notes=notes,
    )


def _why_not(finding: Finding, found: Match, wanted: ComparisonRequest, beside: _Beside) -> str:
    """The first reason why a finding was not judged."""
    run = beside.run
    if found.reason:
        return found.reason
    if band_of(finding, run.study.margins) is None:
        return "the source states neither a number nor a direction"
    if not wanted.rows:
        done = run.done(own_metric(run, finding.metric))
        measured = [pair for pair in found.pairs if done.issuperset(pair)]
        if apart := departed(measured, beside.apart):
            return f"not as in the study: {apart}"
        return why_missing(finding.metric, found.pairs, run)
    if nothing := zeros(run, wanted):
        return f"no ratio with 0: nothing was written in {first_of(nothing, MOST_NAMED)}"
    return "too few trials for an interval: fewer than two units of analysis have both sides"


def _partly(found: Match, wanted: ComparisonRequest, beside: _Beside) -> list[str]:
    of, cells = len(found.pairs), len(wanted.pairs)
    if cells == of:
        return []
    missing = [pair for pair in found.pairs if pair not in set(wanted.pairs)]
    said = levels_missing(missing, wanted.pairs, beside.run)
    notes = [f"over {cells} of {of} pairs of conditions{', without ' if said else ''}{said}"]
    apart = departed(missing, beside.apart)
    return [*notes, *([f"not as in the study: {apart}"] if apart else [])]


def _published(finding: Finding, run: MeasuredRun) -> Published:
    effect = finding.effect
    return Published(
        text=change_of(finding),
        ratio=effect.ratio if effect else None,
        direction=effect.direction if effect else "",
        points=effect is not None and effect.printed_as == "points",
        band=band_of(finding, run.study.margins),
    )


def _ours(effect: Effect, of: int) -> Ours:
    return Ours(
        ratio=effect.ratio,
        ci=effect.ci,
        baseline_value=effect.baseline_value,
        treatment_value=effect.treatment_value,
        sd_log=effect.sd_log,
        units=effect.deployments,
        unit=effect.unit_of_analysis,
        conditional=effect.conditional,
        cells=effect.cells,
        of=of,
        method=effect.method,
    )


def _group(source: Source) -> str:
    """Table 2; else Figure 3; else Section 4.1."""
    if source.table:
        return f"Table {source.table}"
    if source.figure:
        return f"Figure {source.figure}"
    return f"Section {source.section}" if source.section else "Elsewhere"


def _compared(finding: Finding) -> str:
    treated = side_of(finding.treatment) if finding.treatment else ""
    base = side_of(finding.baseline)
    sides = f"{treated} over {base}" if treated else base
    settings = [f"{name} {value}" for name, value in finding.settings.items()]
    parts = [sides, ", ".join(finding.workload), load_of(finding.load), *settings]
    return "; ".join(part for part in parts if part)
