"""All kinds of machines: Tare's own, and those of other packages
(docs/add-a-kind-of-machines.md)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tare.machines.declaration import MachinesDeclaration
from tare.self_declared import SelfDeclared

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP = "tare.machines"
"""entry points of packages that bring machines"""
OWN = (
    "tare.machines.local_declaration",
    "tare.machines.ssh_declaration",
    "tare.machines.kvm.declaration",
    "tare.machines.vmware_declaration",
)
"""modules of Tare's own kinds, in the order in which they are listed"""
HERE = "local"
"""This machine: a study's default."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A name is part of others: of groups of hosts, keys, conditions and findings."""
NOT_KINDS = ("physical", "vm", "nodes", "clients")
"""Words of findings and inventories, for which a kind's name would be mistaken."""
ALL = SelfDeclared(
    "kind of machines", GROUP, MachinesDeclaration, OWN, _NAME,
    f"begins with a letter, and is none of {', '.join(NOT_KINDS)}", NOT_KINDS,
)  # fmt: skip

registered, names, declared, having = ALL.registered, ALL.names, ALL.declared, ALL.having


def guests() -> tuple[str, ...]:
    """Hypervisors' machines, which findings compare."""
    return having(lambda one: one.guest)


def of_record(setup: Mapping[str, Any]) -> MachinesDeclaration | None:
    """What a condition's nodes ran on, by its record; None: a kind that is not installed here."""
    platform = setup.get("platform")
    named = platform.get("machines", HERE) if isinstance(platform, dict) else HERE
    return registered().get(named)


def emulated(record: Mapping[str, Any]) -> bool:
    """Whether the processor of a machine that was made for a run was a program's, by its record."""
    return any(one.recorded(record) and one.emulated(record) for one in registered().values())


def made_in_words(record: Mapping[str, Any]) -> str:
    """How a machine was made for a run, by its record."""
    own = next((one for one in registered().values() if one.recorded(record)), None)
    return own.made_in_words(record) if own is not None else "by what is not installed here"
