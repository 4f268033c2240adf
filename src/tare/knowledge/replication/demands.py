"""Every field that a finding states of one side, as a demand on a condition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.knowledge.nearness import same_plugin
from tare.machines.registry import HERE, guests
from tare.study.schema import SHORT_STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tare.knowledge.replication.reference import Reference
    from tare.knowledge.schema import Finding, Side
    from tare.study.conditions import Condition
    from tare.study.schema import Setup

    Fits = Callable[[Condition], bool]

_SHORT = {long: short for short, long in SHORT_STRATEGIES.items()}


@dataclass(frozen=True)
class Demand:
    """One stated field.

    Attributes:
        field: its name, for the reason why nothing fits.
        stated: its value, as a reader sees it.
        fits: whether a condition has it.
    """

    field: str
    stated: str
    fits: Fits


def demands(
    finding: Finding, side: Side, settings: dict[str, set[str]], reference: Reference
) -> Iterator[Demand]:
    """Every stated field except the load, which depends on the available loads.

    Args:
        settings: per setting that the finding names, the values that this side may have.
    """
    if not reference.other_database:
        yield _same("database", finding.database, lambda s: s.database.kind)
    yield from _platform(side)
    yield from _cluster(finding, side)
    if finding.workload:
        asked = set(finding.workload)
        stated = " or ".join(finding.workload)
        yield Demand("workload", stated, lambda c: c.setup.load.label in asked)
    for name, values in settings.items():
        yield _setting(name, values)
    for factor, levels in reference.named_by(finding.hardware).items():
        yield _level(factor, levels)


def _platform(side: Side) -> Iterator[Demand]:
    machines = _machines(side.machines)
    yield Demand(
        "platform",
        side.platform,
        lambda c: (
            c.setup.platform.runtime == side.runtime and c.setup.platform.machines in machines
        ),
    )
    if side.network:
        yield _same("network", side.network, lambda s: s.platform.way)
    if side.address:
        yield _same("address", side.address, lambda s: s.platform.address)
    if side.plugin:
        plugin = side.plugin
        yield Demand("plugin", plugin, lambda c: same_plugin(plugin, c.setup.platform.plugin))
    if side.storage:
        yield _same("storage", side.storage, lambda s: s.platform.storage)
    if side.client:
        yield _same("client", side.client, lambda s: s.client.runtime)


def _machines(stated: str | None) -> tuple[str, ...]:
    """The kinds of machines on which a side's statement can be measured."""
    if stated == "vm":
        return (HERE, *guests())  # a source's virtual machines surround what it compares
    return (stated,) if stated in guests() else (HERE,)


def _cluster(finding: Finding, side: Side) -> Iterator[Demand]:
    if finding.nodes is not None:
        yield _same("nodes", finding.nodes, lambda s: s.database.nodes)
    if side.clusters is not None:
        yield _same("clusters", side.clusters, lambda s: s.clusters)
    copies = side.replication_factor or finding.replication_factor
    if copies is not None:
        yield _same("replication factor", copies, lambda s: s.database.replication_factor)


def _same(field: str, wanted: object, of: Callable[[Setup], object]) -> Demand:
    return Demand(field, str(wanted), lambda c: of(c.setup) == wanted)


def _level(factor: str, levels: set[str]) -> Demand:
    return Demand(factor, " or ".join(sorted(levels)), lambda c: c.levels[factor] in levels)


def _setting(name: str, values: set[str]) -> Demand:
    return Demand(
        name.replace("_", " "), " or ".join(sorted(values)), lambda c: _has(c.setup, name, values)
    )


def _has(setup: Setup, name: str, values: set[str]) -> bool:
    database = setup.database
    if name == "compaction":
        strategy = database.compaction.strategy
        return bool({strategy, _SHORT.get(strategy, strategy)} & values)
    if name == "key_cache":
        return str(database.key_cache) in values
    return str(database.settings.get(name)) in values


def settings_of(finding: Finding) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Per setting, the values of the baseline's and of the treatment's side.

    "LCS over STCS and TWCS" differs between the sides; "TWCS" holds for both.
    """
    baseline: dict[str, set[str]] = {}
    treatment: dict[str, set[str]] = {}
    for name, text in finding.settings.items():
        treated, over, base = text.partition(" over ")
        treatment[name] = _values(treated)
        baseline[name] = _values(base if over else treated)
    return baseline, treatment


def _values(text: str) -> set[str]:
    return {part.strip() for part in re.split(r",| and ", text) if part.strip()}
