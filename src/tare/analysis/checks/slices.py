"""Whether the slices of a trial measured its condition alone, and all that was asked of it."""

from __future__ import annotations

import math
from collections import defaultdict
from contextlib import suppress
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from scipy import special

from tare.analysis.checks.evidence import Evidence, Status, check, count, percent
from tare.analysis.metrics import on_hosts, server_cpus, server_util
from tare.analysis.slices import LEAST_USABLE
from tare.study.metric_names import SERVER_UTIL
from tare.study.quantities import cpus_of

if TYPE_CHECKING:
    from tare.analysis.inference.contrasts import CellPair
    from tare.analysis.inference.estimates import Cell
    from tare.analysis.model import Check
    from tare.analysis.trials import Trial
    from tare.records.manifest import Slices

DISTURBED_NOTED = 0.05
"""Share of a trial's slices in which other work took more than 5% of the CPU time."""
OTHERS_NOTED = 0.05
"""Share of the CPU time of all slices of a trial together. A program that runs throughout takes too
little of a short slice to disturb that slice."""
MOST_UTILISED = 1.05
"""Share of the CPUs that servers may use; it was 0.97 to 0.99 on one CPU that was never idle."""
LATE_NOTED = 0.05
"""Share of a trial's slices whose servers were thawed or frozen too late."""
UNDRAINED_NOTED = 0.001
UNDRAINED_INVALID = 0.01
"""Share of a trial's operations, as for failed operations: with 1% the p99 measures pauses."""
PACE_ALPHA = 0.01
LEAST_PACED = 3
"""blocks"""


def other_work(evidence: Evidence) -> Check | None:
    """Trials in which programs outside the measurement took CPU time."""
    sliced = _sliced(evidence)
    if not sliced:
        return None
    used = {t.name: s.other_cpu_s / (t.manifest.loaded_s or math.inf) for t, s in sliced}
    most = OTHERS_NOTED * _cpus(sliced) or math.inf
    hurt = [
        (t, s) for t, s in sliced if s.disturbed > DISTURBED_NOTED * s.count or used[t.name] > most
    ]
    if not hurt:
        return check(
            "other work",
            "ok",
            f"other programs used {_range([*used.values()])}, and disturbed no more than 5% of any "
            "trial's slices",
        )
    cores = [used[t.name] for t, _ in hurt]
    details = [
        f"{t.name}: {s.disturbed:,} of {count(s.count, 'slice')}, {used[t.name]:.2g} cores"
        for t, s in hurt
    ]
    return check(
        "other work",
        "warning",
        f"Other programs used {_range(cores)} in {len(hurt)} of {count(len(sliced), 'trial')}: "
        "stop them (`top` names them while they run) and repeat the run: `tare run` with another "
        "--name",
        details,
    )


def undrained(evidence: Evidence) -> Check | None:
    """Operations whose reply came only after their server had stood still."""
    sliced = _sliced(evidence)
    if not sliced:
        return None
    left = [(t, s.undrained) for t, s in sliced if s.undrained]
    if not left:
        return check("undrained", "ok", "every operation had its reply before its slice was over")
    total = sum(number for _, number in left)
    shares = {t.name: number / max(t.operations, number) for t, number in left}
    status: Status = "ok"
    if max(shares.values()) > UNDRAINED_NOTED:
        status = "invalid" if max(shares.values()) > UNDRAINED_INVALID else "warning"
    pronoun = "its" if total == 1 else "their"
    return check(
        "undrained",
        status,
        f"{count(total, 'operation')} had no reply when {pronoun} slice was over: what came after "
        f"it is not in {pronoun} latency" + ("" if status == "ok" else "; raise design.drain"),
        [
            f"{t.name}: {count(number, 'operation')}, {percent(shares[t.name])} of its operations"
            for t, number in left
        ],
    )


def overload(evidence: Evidence) -> Check | None:
    """Rates that servers kept only because nothing more was sent in the drains.

    The servers queue in each slice, so that latency is that of a queue as long as a slice allows.
    """
    shares = {
        t.name: busy / 100
        for t, _ in _sliced(evidence)
        if t.manifest.setup.get("load", {}).get("rate")
        and (busy := server_util(t.manifest).get(SERVER_UTIL)) is not None
    }
    if not shares:
        return None
    over = {name: share for name, share in shares.items() if share > 1}
    if not over:
        return check("overload", "ok", "servers could keep the rate within the slices")
    return check(
        "overload",
        "warning",
        f"in {len(over)} of {count(len(shares), 'trial')} servers needed more CPU time than their "
        "slices have, and answered in the drains what had queued up: its latency is none of a load "
        "that they keep; lower load.rate",
        [f"{name}: {percent(share)} of its slices' CPU time" for name, share in over.items()],
    )


def utilisation(evidence: Evidence) -> Check | None:
    """Servers whose operations needed more CPU time than the servers had meanwhile.

    By the utilisation law, throughput times CPU time per operation is the CPUs in use. If this
    exceeds the CPUs of the server, service demand includes other work than the operations', and
    each difference is too small a share of it. With a rate, see `overload`.
    """
    shares: dict[str, float] = {}
    for trial in evidence.done:
        own = trial.manifest
        cpus = 0.0 if on_hosts(own) or own.setup.get("load", {}).get("rate") else server_cpus(own)
        if cpus and trial.operations:
            per_s = sum(client.throughput for client in own.clients)
            shares[trial.name] = per_s * own.server_cpu_s / trial.operations / cpus
    if not shares:
        return None
    over = {name: share for name, share in shares.items() if share > MOST_UTILISED}
    said = f"servers used up to {percent(max(shares.values()))} of their CPUs"
    if not over:
        return check("utilisation", "ok", f"{said} for their operations")
    return check(
        "utilisation",
        "warning",
        f"{said} by throughput and CPU time per operation, in {len(over)} of "
        f"{count(len(shares), 'trial')} more than they had: service demand has other work in it, "
        "and its changes are too small a share",
        [f"{name}: {percent(share)}" for name, share in over.items()],
    )


def late(evidence: Evidence) -> Check | None:
    """Trials with many slices that did not begin or end when they should have."""
    sliced = _sliced(evidence)
    if not sliced:
        return None
    shares = {t.name: s.late / s.count for t, s in sliced if s.late}
    many = {name: share for name, share in shares.items() if share > LATE_NOTED}
    if not many:
        return check("late slices", "ok", "at least 95% of every trial's slices were on time")
    return check(
        "late slices",
        "warning",
        f"up to {percent(max(many.values()))} of the slices began or ended too late, in "
        f"{len(many)} of {count(len(sliced), 'trial')}; raise design.slice or quieten the machine",
        [f"{name}: {percent(share)} of its slices" for name, share in many.items()],
    )


def unequally_driven(evidence: Evidence) -> Check | None:
    """Comparisons of two servers if one was measured in more slices than the other.

    The server that is driven more often costs less per reply: its caches are warmer. Tare drives
    all servers equally often, but its older records differ in this. Each block is judged by
    itself, as a run may have been extended since, and only where no trial of the two servers is
    missing.
    """
    sliced = _sliced(evidence)
    if not sliced:
        return None
    lives: dict[str, set[str]] = defaultdict(set)
    for trial in evidence.trials:
        if trial.manifest.deployment:  # it has none where none could be made
            lives[trial.manifest.deployment].add(trial.condition)
    served: dict[Cell, dict[str, str]] = defaultdict(dict)
    driven: dict[tuple[Cell, str], int] = defaultdict(int)
    for trial, slices in sliced:
        served[trial.cell][trial.condition] = trial.manifest.deployment
        driven[trial.cell, trial.manifest.deployment] += slices.count
    judged: dict[CellPair, list[tuple[int, int]]] = defaultdict(list)
    for pair in (one.cells[0] for one in evidence.contrasts.of if not one.rows):
        beside = {*pair}.union(*(own for own in lives.values() if not own.isdisjoint(pair)))
        for cell, deployments in served.items():
            if deployments.keys() >= beside:
                base, treated = (driven[cell, deployments[name]] for name in pair)
                judged[pair].append((base, treated))
    if not judged:
        return None
    unequal = {
        pair: apart
        for pair, blocks in judged.items()
        if (apart := [(base, treated) for base, treated in blocks if base != treated])
    }
    if not unequal:
        return check("equally driven", "ok", "servers that are compared were driven equally often")
    return check(
        "equally driven",
        "warning",
        f"{', '.join(treatment for _, treatment in unequal)}: compared with a server that was "
        "driven more or less often; on one machine, identical containers differed by 2.2 to 2.4% "
        "for it. Trust only larger differences, or repeat the run: servers are now driven alike",
        [
            f"{treatment}: {count(blocks[0][1], 'slice')} a block, {baseline}: "
            f"{count(blocks[0][0], 'slice')}" + _part(len(blocks), len(judged[baseline, treatment]))
            for (baseline, treatment), blocks in unequal.items()
        ],
    )


def _part(some: int, of: int) -> str:
    """In how many blocks; empty: in all."""
    return "" if some == of else f", in {some:,} of {count(of, 'block')}"


def frozen(evidence: Evidence) -> Check | None:
    """Servers that went on running while other conditions were driven: noted, not objected to."""
    sliced = _sliced(evidence)
    if not sliced:
        return None
    running: dict[str, set[str]] = {}
    for trial, slices in sliced:
        if not slices.frozen:
            why = slices.why_not_frozen or "no reason recorded"
            running.setdefault(why, set()).add(trial.condition)
    if not running:
        return check("standstill", "ok", "every server stood still while others were measured")
    return check(
        "standstill",
        "ok",
        "not all servers stood still while others were measured, so their background work is in "
        f"the others' slices: {'; '.join(running)}",
        [f"{', '.join(sorted(names))}: {why}" for why, names in running.items()],
    )


def pace(evidence: Evidence) -> Check | None:
    """Comparisons whose sides met CPUs of different pace, which the fit takes for chance.

    A t test over blocks of the difference in pace, for each comparison of two conditions, at 1%
    over all of them (Bonferroni).
    """
    sliced = _sliced(evidence)
    if not sliced:
        return None
    paced = [t for t, s in sliced if s.paced]
    if not paced:
        why = next((s.why_not_paced for _, s in sliced if s.why_not_paced), "")
        said = f"the pace of the servers' CPUs is no term of the fit: {why}"
        return check("pace", "ok", said) if why else None
    paces: dict[str, dict[tuple[int, int], float]] = defaultdict(dict)
    for trial in paced:
        known = [row.pace for row in trial.slices if row.pace is not None]
        if known:
            paces[trial.condition][trial.cell] = fmean(known)
    asked = [
        one for one in evidence.contrasts.of if not one.rows and paces.keys() >= {*one.cells[0]}
    ]
    details = []
    for one in asked:
        base, treated = (paces[name] for name in one.cells[0])
        differences = [treated[cell] - base[cell] for cell in sorted(base.keys() & treated.keys())]
        if len(differences) < LEAST_PACED or (spread := stdev(differences)) == 0:
            continue
        mean = fmean(differences)
        t = abs(mean) / (spread / math.sqrt(len(differences)))
        if 2 * special.stdtr(len(differences) - 1, -t) * len(asked) < PACE_ALPHA:
            details.append(
                f"{one.treatment} over {one.baseline}: the same arithmetic took "
                f"{percent(abs(mean))} {'longer' if mean > 0 else 'less time'}"
            )
    lacking = {t.name: sum(row.pace is None for row in t.slices) for t in paced}
    seldom = [t.name for t in paced if lacking[t.name] > (1 - LEAST_USABLE) * len(t.slices)]
    never = [_unpaced(t, s) for t, s in sliced if not s.paced]
    if not details:
        said = "the pace of the servers' CPUs did not depend on the condition"
        if seldom or never:
            lost = count(len(seldom) + len(never), "trial")
            said += f"; it was sampled too seldom, or not at all, in {lost}: no term of the fit in "
            said += "their blocks"
            return check("pace", "ok", said, seldom + never)
        if missed := sum(lacking.values()):
            said += f"; {count(missed, 'slice')} without a sample left out"
        return check("pace", "ok", said)
    return check(
        "pace",
        "warning",
        f"the pace of the servers' CPUs differed in {count(len(details), 'comparison')}, and the "
        "fit took its cost away: if the condition caused it, that was part of what it costs; "
        "repeat the run with design.pace: off to see",
        details + never,
    )


def _unpaced(trial: Trial, slices: Slices) -> str:
    why = slices.why_not_paced
    return f"{trial.name}: not sampled{f', {why}' if why else ''}"


def _cpus(sliced: list[tuple[Trial, Slices]]) -> int:
    """How many CPUs servers and clients may use, of all machines together; 0: not known.

    Trials record the CPUs of their units, not the machine's, which may have more.
    """
    lists = {
        (unit.machine, str(unit.parity.get("cpus allowed") or unit.limits.get("cpuset")))
        for trial, _ in sliced
        for unit in trial.manifest.units
    }
    found: set[tuple[str, int]] = set()
    for machine, listed in lists:
        with suppress(ValueError):  # of a unit whose CPUs are not known
            found.update((machine, cpu) for cpu in cpus_of(listed))
    return len(found)


def _sliced(evidence: Evidence) -> list[tuple[Trial, Slices]]:
    """The trials that were cut into slices."""
    return [(t, t.manifest.slices) for t in evidence.done if t.manifest.slices is not None]


def _range(cores: list[float]) -> str:
    low, high = f"{min(cores):.2g}", f"{max(cores):.2g}"
    return f"{low} cores" if low == high else f"{low} to {high} cores"
