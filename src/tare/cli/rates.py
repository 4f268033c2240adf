"""Rates that are too high: above what a run here reached, or above what the CPUs allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.cli.expected import earlier_runs, kept_analysis
from tare.machines.facts import local_facts
from tare.report.numbers import count
from tare.runtimes.registry import declared
from tare.study.conditions import expand
from tare.study.quantities import cpus_of

if TYPE_CHECKING:
    from pathlib import Path

    from tare.study.conditions import Condition
    from tare.study.plan import Plan
    from tare.study.schema import Setup

LEAST_US = 20
"""Least CPU time of any database operation that is answered, microseconds. Cassandra's
cheapest reads take some 100 (docs/resolution.md); a system call and its packet, 5 to 10."""


def rate_lines(plan: Plan, runs: Path) -> list[str]:
    """A hint for each rate that is too high; the first condition that has it is named.

    Args:
        runs: the directory of all runs, whose throughput is known.
    """
    lines: dict[float, str] = {}
    rated = [(one, rate) for one in plan.conditions if (rate := _rate(one.setup)) is not None]
    reached = _reached(runs) if rated else {}
    for one, rate in rated:
        said = _above_cpus(one, rate) or _above_reached(one, rate, reached)
        if said:
            lines.setdefault(rate, f"hint: load.rate {rate:,.0f}/s: {said}")
    return list(lines.values())


def _rate(setup: Setup) -> float | None:
    """Operations per second sent to a condition's servers, if a number sets it."""
    load = setup.load
    if load.sought is not None:
        return None
    rates = [max(one.rate, one.to or one.rate) for one in load.phases]
    rates += [float(load.rate)] if isinstance(load.rate, (int, float)) else []
    return load.each(max(rates), setup.clusters) * setup.clusters if rates else None


def _above_cpus(one: Condition, rate: float) -> str:
    """Why this machine's CPUs cannot serve the rate; empty: they may, or servers are elsewhere."""
    cpus = _cpus(one.setup)
    if cpus is None or rate * LEAST_US <= cpus * 1e6:
        return ""
    each = cpus * 1e6 / rate
    return (
        f"{one.name} has {count(round(cpus), 'CPU')} for its servers, {each:.2g} us for each "
        f"operation, and no database answers in less than {LEAST_US}; what waits would be "
        f"measured as latency. {_INSTEAD}"
    )


def _cpus(setup: Setup) -> float | None:
    """CPUs that a condition's servers may use together; None: not on this machine."""
    platform = setup.platform
    if not platform.source.here or declared(platform.runtime).orchestrator:
        return None
    limits, there = platform.limits, float(local_facts().cpus)
    if limits.cpuset is not None:
        there = min(there, float(len(cpus_of(limits.cpuset))))
    if limits.cpus is not None:
        there = min(there, limits.cpus * setup.database.nodes * setup.clusters)
    return there


_INSTEAD = "To load it as it can be, write rate: 66% of max with search: {of: baseline}, or threads"


def _reached(runs: Path) -> dict[str, tuple[float, str, str]]:
    """Setup, whatever its intensity, to its highest closed-loop throughput in the latest run here,
    with the condition's name and the run."""
    found: dict[str, tuple[float, str, str]] = {}
    for files, study in earlier_runs(runs):
        analysis = kept_analysis(files)
        if analysis is None:
            continue
        known = {one.condition: one.metrics.get("throughput") for one in analysis.conditions}
        own: dict[str, tuple[float, str, str]] = {}
        for one in expand(study):
            value, load = known.get(one.name), one.setup.load
            if value is None or load.rate is not None or load.phases:
                continue
            key = one.setup.apart_from_intensity
            own[key] = max(own.get(key, (0.0, "", "")), (value, one.name, str(files.root)))
        found = own | found
    return found


def _above_reached(one: Condition, rate: float, reached: dict[str, tuple[float, str, str]]) -> str:
    """Why the rate is too high: a closed loop reached less on the same setup here."""
    most = reached.get(one.setup.apart_from_intensity)
    if most is None or rate <= most[0]:
        return ""
    value, name, run = most
    return (
        f"{name} answered {value:,.0f}/s at most in {run}; what waits would be measured as "
        f"latency. {_INSTEAD}"
    )
