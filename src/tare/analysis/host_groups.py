"""The hosts in groups that were compared, as their kernels describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.model import HostGroupFact
from tare.analysis.parity import OF_MACHINES, SEVERAL, UNKNOWN
from tare.machines.registry import emulated, of_record
from tare.study.platform import Platform

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Analysis
    from tare.analysis.trials import Trial

HYPERVISOR = "hypervisor"
UNNAMED = "nodes"
"""Name of hosts that a condition took without naming a group."""
THIS_MACHINE = "this machine"
"""Name of this machine beside virtual machines that it made."""


def host_group(setup: Mapping[str, Any]) -> str:
    """The group of hosts that a condition's nodes ran on; empty: on no hosts that SSH reached."""
    kind = of_record(setup)
    if kind is None or not kind.over_ssh:
        return ""
    return Platform.model_validate(setup["platform"]).group or UNNAMED


def emulated_conditions(trials: Iterable[Trial]) -> list[str]:
    """Conditions with a trial in virtual machines whose processor was QEMU's emulation, sorted."""
    return sorted({one.condition for one in trials if one.done and _emulated(one)})


def of_emulated(analysis: Analysis, name: str, levels: Mapping[str, str]) -> bool:
    """Whether a side of an effect was emulated: a condition, or one of the conditions with these
    levels that an average is over."""
    return bool(analysis.emulated) and any(
        one.condition in analysis.emulated
        for one in analysis.conditions
        if one.condition == name or (levels and levels.items() <= one.levels.items())
    )


def _emulated(trial: Trial) -> bool:
    return any(map(emulated, _domains(trial)))


def _domains(trial: Trial) -> list[Mapping[str, Any]]:
    """The records of the virtual machines that were made for a trial's nodes."""
    hosts = trial.manifest.path.get("hosts")
    known = hosts.values() if isinstance(hosts, dict) else ()
    return [one["domain"] for one in known if "domain" in one]


def host_group_facts(conditions: Sequence[str], trials: Iterable[Trial]) -> list[HostGroupFact]:
    """Every fact that hosts tell of themselves, facts that differ between groups first.

    Empty where the trials ran on hosts of fewer than two groups.

    Args:
        conditions: names, in the order in which they are listed; groups come in the same order.
    """
    seen: dict[str, dict[str, set[str]]] = {}
    done = [one for one in trials if one.done and one.condition in conditions]
    made = any(_domains(one) for one in done)
    here = THIS_MACHINE if made else ""  # the virtual machines are compared with it
    for trial in sorted(done, key=lambda one: conditions.index(one.condition)):
        group = host_group(trial.manifest.setup) or here
        if not group:
            continue
        own = seen.setdefault(group, {})
        for unit in trial.manifest.units:
            for fact in OF_MACHINES if unit.role == "database" else ():
                if fact in unit.parity:
                    own.setdefault(fact, set()).add(unit.parity[fact])
    if len(seen) < 2:
        return []
    facts = []
    for fact in OF_MACHINES:
        values = {
            group: SEVERAL.join(sorted(own.get(fact, {UNKNOWN}))) for group, own in seen.items()
        }
        if set(values.values()) != {UNKNOWN}:
            differs = len(set(values.values())) > 1
            facts.append(HostGroupFact(fact=fact, values=values, differs=differs))
    return sorted(facts, key=lambda one: not one.differs)
