"""What groups of hosts that were compared are made of, as their kernels tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.model import HostGroupFact
from tare.analysis.parity import OF_MACHINES, SEVERAL, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.trials import Trial

HYPERVISOR = "hypervisor"
UNNAMED = "nodes"
"""What hosts are called that a condition took without naming a group."""


def host_group(setup: Mapping[str, Any]) -> str:
    """The group of hosts that a condition's nodes ran on; empty: on no hosts that SSH reached."""
    platform = setup.get("platform")
    if not isinstance(platform, dict) or platform.get("machines") != "ssh":
        return ""
    return str(platform.get("hosts") or UNNAMED)


def host_group_facts(conditions: Sequence[str], trials: Iterable[Trial]) -> list[HostGroupFact]:
    """Every fact that hosts tell of themselves, those that differ between groups first.

    Empty where the trials ran on hosts of fewer than two groups.

    Args:
        conditions: names, in the order in which they are listed, which groups come in too.
    """
    seen: dict[str, dict[str, set[str]]] = {}
    done = [one for one in trials if one.done and one.condition in conditions]
    for trial in sorted(done, key=lambda one: conditions.index(one.condition)):
        group = host_group(trial.manifest.setup)
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
