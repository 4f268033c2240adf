"""Facts that should be alike in all conditions, and the differences among them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tare.analysis.model import ParityDifference
from tare.records.manifest import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.trials import Trial

UNKNOWN = "not recorded"
UNTOLD = "not told"
"""Value of an imported trial whose files do not print the fact."""
SEVERAL = " and "
"""Between the values of a condition that has several."""
BITS = "bits"

MACHINES = ("machines", "hosts")
"""Fields of a setup that name the machines it runs on."""
OF_MACHINES = (
    *("hypervisor", "CPU model", "CPUs", "memory", "disk"),
    *("kernel", "clock source", "transparent huge pages"),
)
"""Facts that every unit of a machine shares."""

# A fact may differ between conditions whose setups differ in one of these fields, because the
# study itself asks for it. Facts that are not listed should never differ.
FOLLOWS_FROM: Mapping[str, tuple[str, ...]] = {
    "cpus allowed": ("limits.cpuset", *MACHINES),
    "cpu quota": ("limits.cpus",),
    "memory limit": ("limits.memory",),
    "own control group": ("runtime",),
    "quality of service": ("runtime", "limits.cpus", "limits.memory", "placement.requests"),
    "seccomp": ("runtime",),
    "sandbox": ("runtime",),
    "user": ("runtime",),
    "file system": ("storage", *MACHINES),
    "largest memory in huge pages": (*MACHINES, "database.heap", "database.jvm"),
    **dict.fromkeys(OF_MACHINES, MACHINES),
    "heap": ("database.heap", "database.jvm"),
    "cache": ("limits.memory", "database.settings"),
    "JVM": ("database.jvm", "database.home", "database.image", "database.version"),
    BITS: ("database.version", "database.home", "database.image", "tool"),
}
TOLD_FOLLOWS_FROM: Mapping[str, tuple[str, ...]] = {
    "threads": ("load.threads",),
    "concurrency": ("load.threads",),
    "rate": ("load.rate",),
    "load": ("load.workload",),
    "consistency": ("database.consistency",),
    "read consistency": ("database.consistency",),
    "write consistency": ("database.consistency",),
    "database binding": ("database.kind",),
    "property recordcount": ("load.records",),
    "property target": ("load.rate",),
    "property requestdistribution": ("load.distribution", "load.workload"),
    "property readproportion": ("load.workload", "load.mix"),
    "property updateproportion": ("load.workload", "load.mix"),
    "property workload file": ("load.workload",),
    "property workload": ("load.workload", "load.mix"),
    "property functions": ("load.workload", "load.mix"),
    "property Rate: OpsPer Sec": ("load.rate",),
    "property Command: Command Ratios": ("load.workload", "load.mix"),
    "property Population: Distribution": ("load.records", "load.distribution", "load.workload"),
}
"""The same fields for what other tools print."""
PROPERTY = "property "
"""Settings that a load generator prints; a tool that does not print them leaves them unknown."""
_SIDES = {"database": ("", "platform"), "client": ("client ", "client")}


def parity_differences(
    conditions: Sequence[str], trials: Iterable[Trial]
) -> list[ParityDifference]:
    """Every recorded fact that is not the same in all conditions, unexpected ones first.

    Args:
        conditions: names, in the order in which they are listed.
    """
    done = [trial for trial in trials if trial.done]
    recorded = {trial.condition: trial.manifest.setup for trial in done}
    setups = {name: recorded[name] for name in conditions if name in recorded}
    found = []
    for role, (prefix, side) in _SIDES.items():
        for fact, by_condition in _facts(done, role).items():
            known = {name: by_condition.get(name, UNKNOWN) for name in setups}
            if len(set(known.values())) > 1:
                seen = {name: value for name, value in known.items() if value != HIDDEN}
                expected = _expected(seen, setups, _fields(fact, side))
                found.append(
                    ParityDifference(fact=prefix + fact, values=_by_value(known), expected=expected)
                )
    found += _differences_of_files(setups, done)
    return sorted(found, key=lambda difference: difference.expected)


def _differences_of_files(
    setups: Mapping[str, Mapping[str, Any]], trials: Sequence[Trial]
) -> list[ParityDifference]:
    """For imported trials: facts on tool and load in their files, where conditions differ."""
    seen: dict[str, dict[str, set[str]]] = {}
    for trial in trials:
        if trial.manifest.source is not None:
            for fact, value in trial.manifest.source.told.items():
                seen.setdefault(fact, {}).setdefault(trial.condition, set()).add(value)
    found = []
    for fact, by in seen.items():
        known = {name: SEVERAL.join(sorted(by.get(name, {UNTOLD}))) for name in setups}
        told = set(known.values()) - ({UNTOLD} if fact.startswith(PROPERTY) else set())
        if len(told) > 1:
            fields = TOLD_FOLLOWS_FROM.get(fact, ())
            expected = bool(fields) and _expected(known, setups, fields)
            found.append(ParityDifference(fact=fact, values=_by_value(known), expected=expected))
    return found


def _facts(trials: Sequence[Trial], role: str) -> dict[str, dict[str, str]]:
    """Fact to condition to its value; several values of one condition are joined."""
    seen: dict[str, dict[str, set[str]]] = {}
    for trial in trials:
        for unit in trial.manifest.units:
            if unit.role == role:
                for fact, value in (unit.parity | {BITS: unit.bits}).items():
                    seen.setdefault(fact, {}).setdefault(trial.condition, set()).add(value)
    return {
        fact: {name: SEVERAL.join(sorted(values)) for name, values in by.items()}
        for fact, by in seen.items()
    }


def _fields(fact: str, side: str) -> list[str]:
    """The setup's fields that explain a fact; fields without a section are the side's own."""
    return [
        field if field.startswith("database.") else f"{side}.{field}"
        for field in FOLLOWS_FROM.get(fact, ())
    ]


def _expected(
    known: Mapping[str, str], setups: Mapping[str, Mapping[str, Any]], fields: Sequence[str]
) -> bool:
    """Whether conditions that agree in these fields agree in the fact."""
    by_setting: dict[str, set[str]] = {}
    for condition, value in known.items():
        setting = json.dumps([_at(setups[condition], field) for field in fields], default=str)
        by_setting.setdefault(setting, set()).add(value)
    return all(len(values) == 1 for values in by_setting.values())


def _at(document: Any, field: str) -> Any:
    for part in field.split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document


def _by_value(known: Mapping[str, str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for condition, value in known.items():
        values.setdefault(value, []).append(condition)
    return values
