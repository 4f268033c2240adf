"""Notes on one row: its loads, and the scope of its metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.client import RATE_NOTED
from tare.enumeration import cut
from tare.knowledge.replication.loads import intensity
from tare.knowledge.replication.matching import names_in
from tare.study.metric_names import SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.replication.measured import ComparisonRequest, MeasuredRun
    from tare.knowledge.replication.reference import Reference

_MOST_OTHERS = 3
_MOST_LOADS = 8
_OF_THE_MACHINE = {
    "cpu.util": "ours is the CPU of the whole machine, with the clients on it; the source's that "
    "of its servers",
    SERVER_UTIL: "ours is the CPU of what is not the clients', over the CPUs that the servers may "
    "use; the source's that of its servers' machines",
    "disk.write_kbps": "ours is what the whole machine wrote, with the clients on it; the source's "
    "what its servers wrote",
}
"""Metrics that a source took of its servers, on machines of their own."""


def row_notes(wanted: ComparisonRequest, run: MeasuredRun, reference: Reference) -> Iterator[str]:
    """Notes on the measured pairs, one sentence each."""
    yield from _loads(wanted, run)
    yield from _other_loads(wanted, run, reference)
    yield from _rates_missed(wanted, run)
    if wanted.metric in _OF_THE_MACHINE and not run.imported:
        yield _OF_THE_MACHINE[wanted.metric]


def _loads(wanted: ComparisonRequest, run: MeasuredRun) -> Iterator[str]:
    """The loads of a finding that names several, or none."""
    loads = list(
        dict.fromkeys(
            run.conditions[treated].setup.load.intensity
            for _, treated in wanted.pairs
            if treated in run.conditions
        )
    )
    if len(loads) > 1:
        yield f"over {len(loads)} loads: {', '.join(cut(loads, _MOST_LOADS))}"


def _other_loads(
    wanted: ComparisonRequest, run: MeasuredRun, reference: Reference
) -> Iterator[str]:
    """Cases in which the load of a finding's conditions differs from the source's."""
    theirs = {one.name: one.setup.load for one in reference.conditions}
    found: dict[str, None] = {}
    for name in names_in(wanted.pairs):
        if name not in run.conditions or name not in theirs:
            continue
        here, there = run.conditions[name].setup.load, theirs[name]
        if intensity(here) != intensity(there):
            found[f"{here.intensity} here for {there.intensity}"] = None
    yield from cut(list(found), _MOST_OTHERS, "such loads")


def _rates_missed(wanted: ComparisonRequest, run: MeasuredRun) -> Iterator[str]:
    """Cases in which operations came slower than asked for: latency is then one of a queue."""
    asked: set[str] = set()
    short: dict[str, float] = {}
    names = set(names_in(wanted.pairs))
    for trial in run.trials:
        if trial.condition not in names:
            continue
        for client in trial.manifest.clients:
            if client.rate_error is None:
                continue
            asked.add(trial.condition)
            if client.rate_error < -RATE_NOTED:
                worst = min(short.get(trial.condition, 0.0), client.rate_error)
                short[trial.condition] = worst
    if short:
        name = min(short, key=lambda one: short[one])
        missed = f"{len(short)} of {len(asked)} conditions"
        yield f"the rate was not reached in {missed}, least in {name}: {short[name]:+.0%}"
