"""What dead runs left in a Swarm, found by label, and its removal."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.machines import cgroups
from tare.runtimes.swarm.facts import read_facts
from tare.runtimes.swarm.manager import SwarmError, label_filter
from tare.runtimes.swarm.member import accounting_of
from tare.runtimes.swarm.named import manager_of
from tare.runtimes.swarm.names import own_labels
from tare.runtimes.swarm.services import await_gone
from tare.runtimes.swarm.settings import VARIABLE, swarm_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tare.runtimes.swarm.manager import Kind, Manager

_KINDS: tuple[Kind, ...] = ("container", "service", "config", "network")
"""in the order of removal: each may hold what follows"""
_ANSWER_S = 10
_NAMING = (VARIABLE, "DOCKER_HOST", "DOCKER_CONTEXT")
"""variables that name an engine, of which the first says that it is a manager"""
_OF_A_TASK = "com.docker.swarm.task.id"
"""the engine's own label of a task's container, which goes with its service"""


@dataclass
class SwarmLeftovers:
    """Everything in a Swarm that runs of this machine made; kind to id to name."""

    manager: Manager | None = None
    found: dict[Kind, dict[str, str]] = field(default_factory=dict)
    unanswered: str = ""
    """why a Swarm that is named could not be asked"""

    def words(self) -> dict[str, list[str]]:
        """Kind to names, for people."""
        return {f"Swarm {kind}s": list(named.values()) for kind, named in self.found.items()}


def leftovers(
    connect: Callable[[], Manager] | None = None, environment: Mapping[str, str] = os.environ
) -> SwarmLeftovers:
    """Look into the Swarm that is named here; nothing where none is, or it does not answer.

    Docker's own engine, where nobody names another, may well be in no Swarm: that is not told.
    """
    manager: Manager | None = None
    try:
        manager = connect() if connect else manager_of(swarm_settings(environment), _ANSWER_S)
        read_facts(manager)
        found = {kind: _ours(manager, kind) for kind in _KINDS}
    except TareError as error:
        silent = isinstance(error, SwarmError) or manager is None
        naming = next((name for name in _NAMING if environment.get(name)), "")
        if naming != VARIABLE and not silent:
            naming = ""  # an engine that answers, and is no manager: nobody said that it was
        told = f"the Swarm of {naming}: {error.what} ({error.where}); {error.remedy}"
        return SwarmLeftovers(unanswered=told if naming else "")
    return SwarmLeftovers(manager, {kind: named for kind, named in found.items() if named})


def _ours(manager: Manager, kind: Kind) -> dict[str, str]:
    named: dict[str, str] = {}
    for one in manager.find(kind, label_filter(own_labels())):
        if kind == "container" and _OF_A_TASK in (one.get("Labels") or {}):
            continue
        names = one.get("Names") or [(one.get("Spec") or {}).get("Name") or one.get("Name")]
        named[str(one.get("ID") or one.get("Id"))] = str(names[0]).lstrip("/")
    return named


def remove(left: SwarmLeftovers) -> None:
    """Remove it: what runs first, because it holds the rest.

    Raises:
        RuntimeUnavailableError: something could not be removed.
    """
    manager = left.manager
    if manager is None or not left.found:
        return
    thaw_tasks(manager)
    faults: list[TareError] = []
    for kind in _KINDS:
        for identity in left.found.get(kind, {}):
            try:
                manager.remove(kind, identity)
            except TareError as error:
                faults.append(error)
        if kind == "service":
            await_gone(manager, label_filter(own_labels()))
    if faults:
        raise faults[0]


def thaw_tasks(manager: Manager) -> None:
    """Let tasks of this machine go on that a dead run left paused: a frozen process cannot die."""
    for task in manager.find("task", label_filter(own_labels())):
        accounting = accounting_of(task)
        if accounting.pid:
            with contextlib.suppress(TareError, OSError):
                cgroups.freeze(accounting.paths, False)
