"""The size of an experiment in a few facts, and its checks in one line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.report import numbers
from tare.report.escaping import plain

if TYPE_CHECKING:
    from tare.analysis.model import Analysis


def overview(analysis: Analysis) -> list[tuple[str, str]]:
    """The size of the experiment in a few facts."""
    rounds = len({t.round for t in analysis.trials})
    blocks = len({(t.round, t.block) for t in analysis.trials})
    failed = sum(t.status == "failed" for t in analysis.trials)
    missing = f", {len(analysis.left_out):,} more left out" if analysis.left_out else ""
    trials = f"{len(analysis.trials):,}" + (f", {failed:,} failed" if failed else ", none failed")
    return [
        ("Baseline", plain(analysis.baseline)),
        ("Conditions", f"{len(analysis.conditions):,}{missing}"),
        ("Rounds of deployments", f"{rounds:,}"),
        ("Blocks", f"{blocks:,}"),
        ("Trials", trials),
    ]


def check_summary(analysis: Analysis) -> str:
    """'Valid. 6 checks: 4 ok, 2 warnings, 0 invalid.'"""
    counts = Counter(check.status for check in analysis.checks)
    return (
        f"{_state(analysis)} {numbers.count(len(analysis.checks), 'check')}: {counts['ok']} ok, "
        f"{numbers.count(counts['warning'], 'warning')}, {counts['invalid']} invalid."
    )


def _state(analysis: Analysis) -> str:
    return "Valid." if analysis.valid else "Not valid."


def standing(analysis: Analysis) -> tuple[str, bool]:
    """Whether the run is valid and which checks warn, in a line; and whether any does."""
    found = [plain(one.name) for one in analysis.checks if one.status != "ok"]
    said = _state(analysis)
    if not found:
        return f"{said} {numbers.count(len(analysis.checks), 'check')}, all ok.", False
    verb = "is" if len(found) == 1 else "are"
    return (
        f"{said} {len(found)} of {len(analysis.checks)} checks {verb} not ok: {listing(found)}.",
        True,
    )
