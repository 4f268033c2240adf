"""Differences between a run and its source's study that hold for all findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.host_groups import emulated_conditions
from tare.enumeration import listing
from tare.study.quantities import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.analysis.trials import Trial
    from tare.knowledge.replication.measured import MeasuredRun
    from tare.knowledge.replication.reference import Reference
    from tare.study.schema import Limits, Setup, Study

_MOST_NAMED = 3


def differences(run: MeasuredRun, reference: Reference) -> Iterator[str]:
    """Differences in every row: database, data, durations, repetitions, sizes, machines."""
    findings = [entry.finding for entry in reference.entries]
    kinds = sorted({one.database for one in findings})
    if reference.other_database:
        yield f"database: {run.study.database.kind} here, {' and '.join(kinds)} in the source"
    stand_ins = {str(one) for trial in run.trials if (one := _stand_in(trial))}
    for name in sorted(stand_ins):
        yield f"database: {name} here, so that rows judge what the platform costs and no database"
    emulated = emulated_conditions(run.trials)
    if emulated:
        yield f"machines: {listing(emulated)} emulated by QEMU here, so that no row judges KVM"
    if not run.imported:  # files of other tools do not state it
        yield from _versions(run, sorted({one.version for one in findings if one.version}))
    here, there = run.study.load, reference.study.load
    if here.records != there.records:
        yield f"rows: {here.records:,} here, {there.records:,} in the source"
    if here.measured_s != there.measured_s:
        seconds = f"{here.measured_s:g} s per trial here, {there.measured_s:g} s"
        yield f"measured: {seconds} in the source"
    if run.imported:
        return
    if (text := _repetitions(run.study)) != _repetitions(reference.study):
        yield f"repetitions: {text} here, {_repetitions(reference.study)} in the source"
    yield from _sizes(run, reference)
    machines = " / ".join(dict.fromkeys(one.hardware for one in findings))
    yield f"machines: all on this one here; in the source {machines}"


def _versions(run: MeasuredRun, stated: list[str]) -> Iterator[str]:
    """The versions that the clusters reported: a study's `home` may hold any version. A stand-in
    for a database has none of its versions, whatever it reports."""
    database = run.study.database
    own = [trial for trial in run.trials if not _stand_in(trial)]
    if run.trials and not own:
        return
    told = {trial.manifest.database.get("version") for trial in own}
    here = sorted(str(one) for one in told if one)
    if not here:
        here = ["of a version that no cluster told" if database.home else database.version]
    if here != stated:
        said = " and ".join(stated) or "not stated"
        yield f"version: {database.kind} {' and '.join(here)} here, {said} in the source"


def _stand_in(trial: Trial) -> object:
    """The program that was measured in the database's place."""
    return trial.manifest.database.get("stand_in")


def _sizes(run: MeasuredRun, reference: Reference) -> Iterator[str]:
    """Heap, limits and the like of the measured conditions, where they differ."""
    theirs = {one.name: one.setup for one in reference.conditions}
    found: dict[str, dict[str, None]] = {}
    for name in {trial.condition: None for trial in run.trials}:
        if name not in run.conditions or name not in theirs:
            continue
        ours, other = _named(run.conditions[name].setup), _named(theirs[name])
        for what, (mine, whose) in ours.items():
            if mine != other[what][0]:
                text = f"{what}: {mine} here, {other[what][0]} in the {whose}"
                found.setdefault(what, {})[text] = None
    for texts in found.values():
        yield from list(texts)[:_MOST_NAMED]


def _named(setup: Setup) -> dict[str, tuple[str, str]]:
    """Fields that a run may change and still be judged: the value, and where the other is from."""
    database = setup.database
    settings = ", ".join(f"{name} {value}" for name, value in sorted(database.settings.items()))
    return {
        "heap": (f"{database.heap / MIB:g} MiB", "source"),
        "node": (_limits(setup.platform.limits), "source"),
        "client": (_limits(setup.client.limits), "source"),
        "settings": (settings or "none", "study"),
        "JVM arguments": (" ".join(database.jvm) or "none", "study"),
        "load generator": (setup.client.tool, "study"),
    }


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
