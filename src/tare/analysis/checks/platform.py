"""Whether the platform was the only difference, and the observer was light."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count, noted, percent
from tare.analysis.host_groups import THIS_MACHINE, emulated_conditions, host_group
from tare.analysis.parity import BITS
from tare.enumeration import listing

if TYPE_CHECKING:
    from tare.analysis.model import Check, ParityDifference

PROBE_NOTED = 0.05
"""Share of one core that the sampler may use unmentioned."""
STEAL_NOTED = 0.02
SIZE = ("CPU model", "CPUs", "memory")
"""Facts of machines that a hypervisor does not decide, but that change what a database does."""


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


def host_groups(evidence: Evidence) -> Check | None:
    """Whether groups of hosts are separate machines of the same size and processor."""
    if not evidence.host_groups:
        return None
    differ = [one for one in evidence.host_groups if one.differs]
    details = [
        f"{one.fact}: {'; '.join(f'{told} ({group})' for group, told in one.values.items())}"
        for one in differ
    ]
    shared = _of_one_kernel(evidence)
    if shared:
        summary = "groups of hosts are one machine: an effect is none of other machines"
        return check("host groups", "warning", summary, [*shared, *details])
    made = any(THIS_MACHINE in one.values for one in differ)
    bounded = _bounded(evidence) if made else frozenset()
    confounded = [one.fact for one in differ if one.fact in SIZE and one.fact not in bounded]
    if confounded:
        summary = f"groups of hosts also differ in {listing(confounded)}, which an effect may be of"
        return check("host groups", "warning", summary, details)
    names = listing([one.fact for one in differ])
    summary = f"groups of hosts differ in {names}" if names else "groups of hosts tell the same"
    return check("host groups", "ok", summary, details)


def _bounded(evidence: Evidence) -> frozenset[str]:
    """The limits that every server had, so that it had as much on this machine as in a virtual
    machine that is as large as the limit."""
    limits = [one.manifest.setup.get("platform", {}).get("limits", {}) for one in evidence.done]
    cpus = all(one.get("cpus") or one.get("cpuset") for one in limits)
    memory = all(one.get("memory") for one in limits)
    return frozenset((*(("CPUs",) if cpus else ()), *(("memory",) if memory else ())))


def _of_one_kernel(evidence: Evidence) -> list[str]:
    """Hosts of several groups that share a kernel, by the identifier of its start."""
    members: dict[str, dict[str, str]] = {}
    for trial in evidence.done:
        group = host_group(trial.manifest.setup)
        for unit in trial.manifest.units:
            boot = str(evidence.hosts.get(unit.machine, {}).get("boot", ""))
            if boot and group and unit.role == "database":
                members.setdefault(boot, {})[unit.machine] = group
    return [
        f"{listing([f'{host} of {group}' for host, group in own.items()])} are one machine"
        for own in members.values()
        if len(set(own.values())) > 1
    ]


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


def emulation(evidence: Evidence) -> Check | None:
    """Whether the processor of virtual machines was QEMU's emulation; then no number is KVM's."""
    names = emulated_conditions(evidence.trials)
    if not names:
        return None
    summary = f"emulated, not in KVM: {listing(names)}: these numbers say nothing of KVM's cost"
    return check("virtual machines", "invalid", summary)


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
    if not worst:
        return check("observer", "ok", "no sampler ran while trials were measured")
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
