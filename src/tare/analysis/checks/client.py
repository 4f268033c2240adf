"""Whether the load client measured the database, and not itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, Status, check, count, percent

if TYPE_CHECKING:
    from tare.analysis.model import Check

ERRORS_NOTED = 0.001
ERRORS_INVALID = 0.01
"""Share of failed operations. Latencies exclude failed operations, so with 1% of them the p99 of
the rest is another quantity."""

SATURATED_INVALID = 0.5
"""Share of a condition's trials in which the client was the limit."""

RATE_NOTED = 0.02
LATE_NOTED = 0.1
LATE_INVALID = 0.5
"""Send lateness (p99) over the trial's p99 of response time."""
LATE_MATTERS_US = 1000.0

GAP_NOTED_S = 1.0
"""Longest time without an answer; shorter for a short trial: see `GAP_INVALID`."""
GAP_IN_SLICES_S = 0.1
"""The same limit for a trial in slices, or a whole slice with its drain where that is longer: the
trial's clock stands still while other conditions have their turns."""
GAP_INVALID = 0.1
"""The same gap as a share of the trial: its throughput is then that of the rest, and a pause."""
GAP_KNOWN_S = 0.1
"""A gap is known exactly from this length on (`longest_gap_s`)."""
GAP_ANSWERS = 10
"""A gap is ignored if fewer answers than this were to be expected in it."""


def errors(evidence: Evidence) -> Check:
    """Share of operations that failed."""
    shares = {
        trial.name: trial.errors / (trial.errors + trial.operations)
        for trial in evidence.done
        if trial.errors
    }
    if not shares:
        return check("errors", "ok", "no operation failed")
    worst = max(shares.values())
    status: Status = "ok"
    if worst > ERRORS_NOTED:
        status = "invalid" if worst > ERRORS_INVALID else "warning"
    details = [f"{name}: {percent(share)} of its operations" for name, share in shares.items()]
    details += _kinds(evidence)
    return check(
        "errors", status, f"up to {percent(worst)} of a trial's operations failed", details
    )


def _kinds(evidence: Evidence) -> list[str]:
    kinds: dict[str, int] = {}
    for trial in evidence.done:
        for client in trial.manifest.clients:
            for kind, number in client.errors_by_kind.items():
                kinds[kind] = kinds.get(kind, 0) + number
    return [f"{kind}: {number:,} in all" for kind, number in sorted(kinds.items()) if number]


def answers(evidence: Evidence) -> Check | None:
    """Seconds in which a cluster answered none of its requests, whatever stopped it."""
    known = False
    found: list[tuple[float, str]] = []
    for trial in evidence.done:
        slices = trial.manifest.slices
        noted_s, drain_s, silent_s = GAP_NOTED_S, 0.0, 0.0
        if slices is not None:
            drain_s = slices.drain_s
            slice_s = slices.length_s + drain_s
            noted_s = max(slice_s, GAP_IN_SLICES_S)
            # A pause that takes slices of others, too, may leave no long gap in any one's own.
            silent_s = slice_s * sum(not row.ops for row in trial.slices)
        for client in trial.manifest.clients:
            if client.longest_gap_s is None:
                continue
            known = True
            gap_s = max(client.longest_gap_s, silent_s)
            whole_s = max(trial.manifest.measured_s if slices else client.measured_s, gap_s)
            rest_s = whole_s - gap_s
            expected = math.inf if rest_s <= 0 else client.ok / rest_s * gap_s
            # in a drain there is mostly no answer, and another slice's may be the next one
            least_s = min(noted_s, drain_s + max(GAP_KNOWN_S, GAP_INVALID * whole_s))
            if gap_s >= least_s and expected >= GAP_ANSWERS:
                sentence = f"{trial.name}, {client.client}: {gap_s:.2g} s without an answer"
                found.append((gap_s / whole_s, f"{sentence}, {percent(gap_s / whole_s)} of it"))
    if not known:
        return None
    if not found:
        return check("answers", "ok", "no trial had a long time without an answer")
    worst = max(share for share, _ in found)
    return check(
        "answers",
        "invalid" if worst > GAP_INVALID else "warning",
        f"nothing was answered for up to {percent(worst)} of a trial: look for GC "
        "pauses, full disks and lost packets in its events and logs, and repeat the run",
        [sentence for _, sentence in found],
    )


def saturation(evidence: Evidence) -> Check:
    """Trials in which the client, not the database, was probably the limit."""
    saturated = [trial for trial in evidence.done if trial.saturated]
    if not saturated:
        return check("client", "ok", "the load client was never the limit")
    details = [
        f"{trial.name}, {client.client}: {'; '.join(client.saturation_reasons) or 'no reason'}"
        for trial in saturated
        for client in trial.manifest.clients
        if client.saturated
    ]
    worst = max(
        sum(t.condition == name for t in saturated)
        / sum(t.condition == name for t in evidence.done)
        for name in {trial.condition for trial in saturated}
    )
    summary = f"the load client was probably the limit in {count(len(saturated), 'trial')}"
    status: Status = "invalid" if worst >= SATURATED_INVALID else "warning"
    return check("client", status, summary, details)


def open_loop(evidence: Evidence) -> Check | None:
    """Open loop only: whether operations were sent when they should have been."""
    late: list[tuple[float, str]] = []
    off: list[str] = []
    asked = False
    for trial in evidence.done:
        for client in trial.manifest.clients:
            if client.rate_error is not None:
                asked = True
                if abs(client.rate_error) > RATE_NOTED:
                    off.append(
                        f"{trial.name}, {client.client}: {client.rate_error:+.1%} of the rate"
                    )
            lateness, p99 = client.send_lateness_p99_us, trial.values.get("all.p99")
            if lateness is not None and p99 and lateness > max(LATE_MATTERS_US, LATE_NOTED * p99):
                sentence = f"{trial.name}, {client.client}: p99 of lateness {lateness:,.0f} us"
                late.append((lateness / p99, f"{sentence}, p99 of response time {p99:,.0f} us"))
    if not asked:
        return None
    if not late and not off:
        return check("open loop", "ok", "operations were sent on time, at the rate asked for")
    invalid = any(share > LATE_INVALID for share, _ in late)
    parts = [f"{count(len(late), 'client')} sent late"] if late else []
    parts += [f"{count(len(off), 'client')} missed the rate"] if off else []
    details = [sentence for _, sentence in late] + off
    return check("open loop", "invalid" if invalid else "warning", " and ".join(parts), details)
