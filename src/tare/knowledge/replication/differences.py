"""In what a run differs from the study as its source has it: in all findings, or in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.knowledge.replication.loads import intensity
from tare.study.quantities import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.replication.measured import Measured, Wanted
    from tare.knowledge.replication.reference import Reference
    from tare.study.schema import Limits, Study

_MOST_NAMED = 3


def differences(run: Measured, reference: Reference) -> Iterator[str]:
    """What holds for every row: database, data, durations, repetitions, sizes, machines."""
    findings = [entry.finding for entry in reference.entries]
    kinds = sorted({one.database for one in findings})
    database = run.study.database
    if reference.carried:
        yield f"database: {database.kind} here, {' and '.join(kinds)} in the source"
    versions = sorted({one.version for one in findings if one.version})
    if versions != [database.version] and database.home is None and not _imported(run):
        said = " and ".join(versions) or "not stated"
        yield f"version: {database.kind} {database.version} here, {said} in the source"
    here, there = run.study.load, reference.study.load
    if here.records != there.records:
        yield f"rows: {here.records:,} here, {there.records:,} in the source"
    if here.measured_s != there.measured_s:
        seconds = f"{here.measured_s:g} s per trial here, {there.measured_s:g} s"
        yield f"measured: {seconds} in the source"
    if not _imported(run) and (text := _repetitions(run.study)) != _repetitions(reference.study):
        yield f"repetitions: {text} here, {_repetitions(reference.study)} in the source"
    yield from _sizes(run, reference)
    if not _imported(run):
        machines = " / ".join(dict.fromkeys(one.hardware for one in findings))
        yield f"machines: all on this one here; in the source {machines}"


def load_notes(wanted: Wanted, run: Measured, reference: Reference) -> list[str]:
    """Where the load of a finding's conditions is another one than in the source."""
    theirs = {one.name: one.setup.load for one in reference.conditions}
    found: dict[str, None] = {}
    for name in {name: None for pair in wanted.pairs for name in pair}:
        if name not in run.conditions or name not in theirs:
            continue
        here, there = run.conditions[name].setup.load, theirs[name]
        if intensity(here) != intensity(there):
            found[f"{here.intensity} here for {there.intensity}"] = None
    said = list(found)
    more = len(said) - _MOST_NAMED
    return [*said[:_MOST_NAMED], *([f"and {more} more such loads"] if more > 0 else [])]


def _sizes(run: Measured, reference: Reference) -> Iterator[str]:
    """Heap and limits of the conditions that were measured, where they are others."""
    theirs = {one.name: one.setup for one in reference.conditions}
    if _imported(run):
        return
    found: dict[str, dict[str, None]] = {}
    for name in {trial.condition: None for trial in run.trials}:
        if name not in run.conditions or name not in theirs:
            continue
        here, there = run.conditions[name].setup, theirs[name]
        for what, ours, other in (
            ("heap", f"{here.database.heap / MIB:g} MiB", f"{there.database.heap / MIB:g} MiB"),
            ("node", _limits(here.platform.limits), _limits(there.platform.limits)),
            ("client", _limits(here.client.limits), _limits(there.client.limits)),
        ):
            if ours != other:
                found.setdefault(what, {})[f"{what}: {ours} here, {other} in the source"] = None
    for texts in found.values():
        yield from list(texts)[:_MOST_NAMED]


def _limits(limits: Limits) -> str:
    parts = [
        f"{limits.cpus:g} CPUs" if limits.cpus is not None else "",
        f"CPUs {limits.cpuset}" if limits.cpuset is not None else "",
        f"{limits.memory / MIB:g} MiB" if limits.memory is not None else "",
    ]
    return ", ".join(part for part in parts if part) or "no limits"


def _repetitions(study: Study) -> str:
    design = study.design
    return f"{design.deployments} x {design.blocks}, fresh per {design.fresh}"


def _imported(run: Measured) -> bool:
    return any(trial.imported for trial in run.trials)
