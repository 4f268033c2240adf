"""Whether the platform was the only difference, and the observer was light."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count, noted, percent
from tare.analysis.parity import BITS

if TYPE_CHECKING:
    from tare.analysis.model import Check, ParityDifference

PROBE_NOTED = 0.05
"""Share of one core that the sampler may use unmentioned."""
STEAL_NOTED = 0.02


def parity(evidence: Evidence) -> Check:
    """Differences that the study did not ask for."""
    facts = [difference for difference in evidence.parity if difference.fact != BITS]
    unexpected = [difference for difference in facts if not difference.expected]
    details = [_words(difference) for difference in facts]
    if unexpected:
        names = ", ".join(difference.fact for difference in unexpected)
        return check("parity", "warning", f"conditions differ in more than the platform: {names}",
                     details)  # fmt: skip
    summary = "the conditions differ only in what the study varies"
    return check("parity", "ok", summary, details)


def bits(evidence: Evidence) -> Check:
    """Whether all conditions run the same files."""
    different = [difference for difference in evidence.parity if difference.fact == BITS]
    if not different:
        return check("same files", "ok", "all conditions run the same database files")
    images = sorted(
        {
            f"{trial.condition}: image {unit.image}"
            for trial in evidence.done
            for unit in trial.manifest.units
            if unit.role == "database" and unit.image
        }
    )
    summary = "conditions run different database files, so the files are part of every difference"
    return check("same files", "warning", summary, [_words(d) for d in different] + images)


def _words(difference: ParityDifference) -> str:
    values = "; ".join(f"{v}: {', '.join(names)}" for v, names in difference.values.items())
    return f"{difference.fact} ({'expected' if difference.expected else 'unexpected'}): {values}"


def stand_in(evidence: Evidence) -> Check | None:
    """Whether another program stood in for the database; then no number is the database's."""
    names = {trial.name: trial.manifest.database.get("stand_in") for trial in evidence.done}
    found = {name: str(who) for name, who in names.items() if who}
    if not found:
        return None
    who = ", ".join(sorted(set(found.values())))
    summary = f"{who} was measured: its numbers say nothing of the database"
    return check("stand-in", "invalid", summary, [f"in {count(len(found), 'trial')}"])


def notes(evidence: Evidence) -> Check:
    """What the lab noted: fallbacks and other departures from what was asked for."""
    details = noted(evidence)
    if not details:
        return check("notes", "ok", "the lab noted no departure from the plan")
    return check("notes", "warning", f"the lab noted {count(len(details), 'thing')}", details)


def observer(evidence: Evidence) -> Check:
    """What the sampler itself cost."""
    shares = {
        trial.name: trial.manifest.probe_cpu_s / length
        for trial in evidence.done
        if (length := trial.manifest.measured_s) > 0
    }
    if not shares:
        return check("observer", "ok", "no trial to judge by")
    name, worst = max(shares.items(), key=lambda item: item[1])
    summary = f"the sampler used up to {percent(worst)} of a core"
    status = check("observer", "ok", summary)
    if worst > PROBE_NOTED:
        status = check("observer", "warning", summary, [f"most in {name}"])
    return status


def steal(evidence: Evidence) -> Check | None:
    """CPU time that a hypervisor gave to others."""
    shares = {trial.name: trial.steal for trial in evidence.done if trial.steal is not None}
    if not shares:
        return None
    details = [f"{n}: {percent(share)}" for n, share in shares.items() if share > STEAL_NOTED]
    worst = max(shares.values())
    summary = f"a hypervisor took up to {percent(worst)} of the machine's CPU time"
    return check("steal", "warning" if details else "ok", summary, details)
