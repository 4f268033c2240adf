"""Whether identical conditions came out alike, and alike enough for the declared margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.catalogue import describe
from tare.analysis.checks.evidence import Evidence, Status, check, percent
from tare.analysis.inference.noise_floor import hides_answer
from tare.enumeration import listing
from tare.study.metric_names import lowered, margin_of

if TYPE_CHECKING:
    from tare.analysis.model import Check, NoiseFloor

TOLD_APART = 0.001
"""P value at which an A/A difference makes the result invalid: one test in 1000 by chance alone."""


def noise_floor(evidence: Evidence) -> Check:
    """The noise floor of the metrics with a margin."""
    if not evidence.contrasts.twins:
        return check(
            "noise floor",
            "ok",
            "unknown: no condition was measured under two names",
            ["add a level without any change to a factor, e.g. native-again: {}"],
        )
    floors = [f for f in evidence.floors if margin_of(f.metric, evidence.margins) is not None]
    if not floors:
        return check("noise floor", "ok", "no metric with a margin to compare it with")
    details = []
    for floor in floors:
        words = f"{floor.metric}, {' and '.join(floor.conditions)}: {percent(floor.floor)}"
        if floor.deployment_floor is not None:
            words += f" in one block, {percent(floor.deployment_floor)} over whole deployments"
        margin = margin_of(floor.metric, evidence.margins) or 0.0
        details.append(f"{words}; margin {percent(margin)}")
    above = [floor for floor in floors if floor.exceeds_margin]
    if not above:
        return check("noise floor", "ok", "identical conditions stay within the margins", details)
    hidden = [floor for floor in above if hides_answer(floor, evidence.effects)]
    averaged = [floor for floor in above if floor not in hidden]
    said = []
    if hidden:
        said.append(
            f"two identical setups differed in {_titles(hidden)} by more than the margin; do not "
            "use undecided differences there"
        )
    if averaged:
        said.append(
            f"single blocks of two identical setups differed in {_titles(averaged)} by more than "
            "the margin; averages over deployments decide"
        )
    summary = ". ".join(said)
    return check("noise floor", "warning", summary, details)


def _titles(floors: list[NoiseFloor]) -> str:
    return listing(sorted({lowered(describe(floor.metric).title) for floor in floors}))


def told_apart(evidence: Evidence) -> Check | None:
    """Identical conditions that the analysis calls different: something else differs."""
    same = [e for e in evidence.effects if e.aa and e.margin is not None]
    if not same:
        return None
    apart = [e for e in same if e.verdict == "different"]
    if not apart:
        return check("identical conditions", "ok", "the analysis does not tell them apart")
    status: Status = "warning"
    if any(e.p is not None and e.p < TOLD_APART for e in apart):
        status = "invalid"
    details = [
        f"{e.metric}: {e.treatment} / {e.baseline} = {e.ratio:.3f} ({e.ci[0]:.3f} to {e.ci[1]:.3f})"
        for e in apart
    ]
    summary = "conditions with the same setup came out different; one test in 20 does by chance"
    return check("identical conditions", status, summary, details)
