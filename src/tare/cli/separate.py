"""Reads and writes as separate questions: what they would add, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.registry import declared
from tare.load.workloads import sides
from tare.study.comparisons import comparisons
from tare.study.start import why_not

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.databases.declaration import Spread
    from tare.study.load import Load
    from tare.study.plan import Plan

FACTORS = ("load", "operations", "reads-and-writes")
"""Names for the factor; the first that the study does not use is taken."""
_WHOLE = {
    ("ycsb-a", "reads"): "ycsb-c",
    ("ycsb-b", "reads"): "ycsb-c",
    ("ycsb-f", "reads"): "ycsb-c",
    ("stress-mixed", "reads"): "stress-read",
    ("stress-mixed", "writes"): "stress-write",
}
"""(workload, side) to the workload of this side alone, with the same keys."""


def separate_lines(plan: Plan, words: str = "STUDY") -> list[str]:
    """What reads alone would add, and the YAML to write; empty: nothing.

    They add something where servers that start from one snapshot are compared in slices. Then the
    difference is mostly the state of their storage after writes. A study that also has other loads,
    selected here or not, gets no such hint.

    Args:
        words: the study and its options, as a command line writes them.
    """
    loads = {one.setup.load.operations: one.setup.load for one in plan.whole}
    factor = next((name for name in FACTORS if name not in plan.study.factors), None)
    if len(loads) != 1 or factor is None:
        return []
    (load,) = loads.values()
    reads, writes = sides(load)
    differ = spread_of_servers(plan)
    if not reads or not writes or differ is None:
        return []
    return [
        "note: the load reads and writes. Identical deployments differ by "
        f"{differ.half_writes} (sd) where half is writes, by {differ.reads} under reads alone, "
        "which therefore need two thirds of the rounds or fewer (docs/resolution.md). To ask about "
        "each side by itself, add to the study",
        *(f"  {line}" for line in _yaml(plan, factor, load, reads, writes)),
        "and measure each in a run of its own, where reads find nothing that was written: "
        f"tare run {words} --only {factor}=reads",
    ]


def spread_of_servers(plan: Plan) -> Spread | None:
    """How far servers differ if some are compared in slices, from one snapshot; None: none are, or
    it is unknown for their database."""
    study = plan.study
    if study.design.slice_s is None:
        return None
    compared = (
        declared(base.setup.database.kind).deployments_differ
        for base, treated in comparisons(study, plan.conditions)
        if base.deployment != treated.deployment
        and not treated.repeats(base)
        and not why_not(base.setup, study.design)
        and not why_not(treated.setup, study.design)
    )
    return next(filter(None, compared), None)


def _yaml(
    plan: Plan, factor: str, load: Load, reads: Mapping[str, float], writes: Mapping[str, float]
) -> list[str]:
    """The factor, its baseline, and the setting to compare at each of its levels."""
    by = [*plan.study.analysis.by, factor]
    named = ", ".join(f"{name}: {level}" for name, level in plan.study.baseline.items())
    return [
        "factors:",
        f"  {factor}:",
        "    mix: {}",
        f"    reads: {{{_patch(load, 'reads', reads, writes)}}}",
        f"    writes: {{{_patch(load, 'writes', writes, reads)}}}",
        f"baseline: {{{named}, {factor}: mix}}",
        f"analysis: {{by: [{', '.join(by)}]}}",
    ]


def _patch(load: Load, side: str, kept: Mapping[str, float], gone: Mapping[str, float]) -> str:
    """The settings of a level for one side of the load alone."""
    if load.statements is not None:
        return ", ".join(f"load.statements.operations.{name}.weight: 0" for name in gone)
    whole = _WHOLE.get((load.workload, side)) if not load.mix else None
    if whole is not None:
        return f"load.workload: {whole}"
    least = min(kept.values())
    weights = {name: weight / least for name, weight in kept.items()}
    weights |= dict.fromkeys(gone, 0.0) if load.mix else {}
    return f"load.mix: {{{', '.join(f'{n}: {w:g}' for n, w in weights.items())}}}"
