"""All runtimes: Tare's own, and those of other packages (docs/add-a-runtime.md)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.runtimes.declaration import Declaration
from tare.self_declared import SelfDeclared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GROUP = "tare.runtimes"
"""entry points of packages that bring a runtime"""
OWN = (
    "tare.runtimes.native_declaration",
    "tare.runtimes.docker_declaration",
    "tare.runtimes.podman.declaration",
    "tare.runtimes.gvisor.declaration",
    "tare.runtimes.lxc.declaration",
    "tare.runtimes.kubernetes.declaration",
    "tare.runtimes.swarm.declaration",
)
"""modules of Tare's own runtimes, in the order in which runtimes are listed and weighed"""
BARE = "native"
"""The runtime that adds nothing: a study's default, and the one that others are compared with."""
_NAME = re.compile(r"(?!ssh(-|$))[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A name is part of others: of ways (docker.bridge), keys (ssh-docker@group, tare.runtimes.key),
conditions, labels and images."""
CONTAINER = "docker"
"""The runtime of a plain container: the default in questions, and the one that advice names."""
ALL = SelfDeclared(
    "runtime", GROUP, Declaration, OWN, _NAME,
    "begins with a letter, and not with ssh-, which is what runs it on hosts",
)  # fmt: skip

registered, names, declared, having = ALL.registered, ALL.names, ALL.declared, ALL.having


def containers() -> tuple[str, ...]:
    """The names of runtimes of plain containers, as one engine of one machine has them."""
    return having(lambda one: not one.in_place and not one.orchestrator)


def values(of: Callable[[Declaration], Iterable[str]]) -> tuple[str, ...]:
    """All values of something that the runtimes have, each once."""
    return tuple(dict.fromkeys(value for one in registered().values() for value in of(one)))
