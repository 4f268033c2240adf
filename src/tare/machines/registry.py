"""Every kind of machines that there is: Tare's own, and those that other packages bring.

A package of others names its declaration as an entry point of the group `tare.machines`; the entry
point's name says nothing, the declaration's does (docs/add-a-kind-of-machines.md). Tare's own are
listed here, so that they are found without an installation too.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.machines.declaration import MachinesDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GROUP = "tare.machines"
"""entry points of packages that bring machines"""
OWN = (
    "tare.machines.local_declaration",
    "tare.machines.ssh_declaration",
    "tare.machines.kvm.declaration",
    "tare.machines.vmware_declaration",
)
"""modules of Tare's own, in the order in which they are listed"""
HERE = "local"
"""This machine: what a study has where it names none."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A name is part of others: of groups of hosts, keys, conditions and findings."""
NOT_KINDS = ("physical", "vm", "nodes", "clients")
"""Words of findings and inventories that a kind's name would be taken for."""


@cache
def registered() -> Mapping[str, MachinesDeclaration]:
    """Every kind of machines by its name.

    Raises:
        RuntimeUnavailableError: what another package brings cannot be used.
    """
    from importlib.metadata import entry_points  # which takes longer than all else here

    found = {one.name: one for name in OWN for one in _each(import_module(name).DECLARED)}
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        for brought in _brought(point):
            if brought.name in found:
                raise _unusable(point, f"there are machines {brought.name} already")
            found[brought.name] = brought
    return found


def names() -> tuple[str, ...]:
    """The kinds' names, as they are listed."""
    return tuple(registered())


def declared(name: str) -> MachinesDeclaration:
    """What the kind says of itself.

    Raises:
        RuntimeUnavailableError: there is none of this name here.
    """
    try:
        return registered()[name]
    except KeyError:
        raise RuntimeUnavailableError(
            f"there are no machines {name} here",
            why=f"there are {', '.join(names())}",
            remedy="install the package that brings them, or name one of these",
        ) from None


def having(fits: Callable[[MachinesDeclaration], bool]) -> tuple[str, ...]:
    """The names of the kinds of which this is true."""
    return tuple(name for name, one in registered().items() if fits(one))


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


def _each(declared: Any) -> tuple[Any, ...]:
    """One declaration, or several of one module."""
    return declared if isinstance(declared, tuple) else (declared,)


def _brought(point: Any) -> tuple[MachinesDeclaration, ...]:
    try:
        found = _each(point.load())
    except Exception as error:  # whatever the code of others raises
        raise _unusable(point, f"{type(error).__name__}: {error}") from error
    if not all(isinstance(one, MachinesDeclaration) for one in found):
        raise _unusable(point, "it is no tare.machines.declaration.MachinesDeclaration")
    for one in found:
        name = getattr(one, "name", None)
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in NOT_KINDS:
            raise _unusable(
                point,
                f"its name is {name!r}: a name has small letters, digits and single hyphens, "
                f"begins with a letter, and is none of {', '.join(NOT_KINDS)}",
            )
    return found


def _unusable(point: Any, why: str) -> RuntimeUnavailableError:
    package = point.dist.name if point.dist else ""
    return RuntimeUnavailableError(
        f"the machines that the entry point {point.name} brings cannot be used",
        where=point.value,
        why=why,
        remedy=f"pip uninstall {package}, or repair it" if package else "repair its package",
    )
