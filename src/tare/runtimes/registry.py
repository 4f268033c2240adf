"""Every runtime that there is: Tare's own, and those that other packages bring.

A package of others names its declaration as an entry point of the group `tare.runtimes`; the entry
point's name says nothing, the declaration's does (docs/add-a-runtime.md). Tare's own are listed
here, so that they are found without an installation too.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.declaration import Declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

GROUP = "tare.runtimes"
"""entry points of packages that bring a runtime"""
OWN = (
    "tare.runtimes.native_declaration",
    "tare.runtimes.docker_declaration",
    "tare.runtimes.podman.declaration",
    "tare.runtimes.gvisor.declaration",
    "tare.runtimes.kubernetes.declaration",
    "tare.runtimes.swarm.declaration",
)
"""modules of Tare's own, in the order in which runtimes are listed and weighed"""
BARE = "native"
"""The runtime that adds nothing: what a study has where it names none, and what others are compared
with."""
_NAME = re.compile(r"(?!ssh(-|$))[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A name is part of others: of ways (docker.bridge), keys (ssh-docker@group, tare.runtimes.key),
conditions, labels and images."""
CONTAINER = "docker"
"""The runtime of a plain container: what is asked about where nobody says, and named in advice."""


@cache
def registered() -> Mapping[str, Declaration]:
    """Every runtime by its name.

    Raises:
        RuntimeUnavailableError: what another package brings cannot be used.
    """
    from importlib.metadata import entry_points  # which takes longer than all else here

    found = {one.name: one for name in OWN for one in _each(import_module(name).DECLARED)}
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        for brought in _brought(point):
            if brought.name in found:
                raise _unusable(point, f"there is a runtime {brought.name} already")
            found[brought.name] = brought
    return found


def names() -> tuple[str, ...]:
    """The runtimes' names, as they are listed."""
    return tuple(registered())


def declared(name: str) -> Declaration:
    """What the runtime says of itself.

    Raises:
        RuntimeUnavailableError: there is none of this name here.
    """
    try:
        return registered()[name]
    except KeyError:
        raise RuntimeUnavailableError(
            f"there is no runtime {name} here",
            why=f"there are {', '.join(names())}",
            remedy="install the package that brings it, or name one of these",
        ) from None


def containers() -> tuple[str, ...]:
    """The names of runtimes of plain containers, as one engine of one machine has them."""
    return having(lambda one: not one.in_place and not one.orchestrator)


def having(fits: Callable[[Declaration], bool]) -> tuple[str, ...]:
    """The names of the runtimes of which this is true."""
    return tuple(name for name, one in registered().items() if fits(one))


def values(of: Callable[[Declaration], Iterable[str]]) -> tuple[str, ...]:
    """What the runtimes have of something, each once."""
    return tuple(dict.fromkeys(value for one in registered().values() for value in of(one)))


def _each(declared: Any) -> tuple[Any, ...]:
    """One declaration, or several of one module."""
    return declared if isinstance(declared, tuple) else (declared,)


def _brought(point: Any) -> tuple[Declaration, ...]:
    try:
        found = _each(point.load())
    except Exception as error:  # whatever the code of others raises
        raise _unusable(point, f"{type(error).__name__}: {error}") from error
    if not all(isinstance(one, Declaration) for one in found):
        raise _unusable(point, "it is no tare.runtimes.declaration.Declaration")
    for one in found:
        name = getattr(one, "name", None)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _unusable(
                point,
                f"its name is {name!r}: a name has small letters, digits and single hyphens, "
                "begins with a letter, and not with ssh-, which is what runs it on hosts",
            )
    return found


def _unusable(point: Any, why: str) -> RuntimeUnavailableError:
    package = point.dist.name if point.dist else ""
    return RuntimeUnavailableError(
        f"the runtime that the entry point {point.name} brings cannot be used",
        where=point.value,
        why=why,
        remedy=f"pip uninstall {package}, or repair it" if package else "repair its package",
    )
