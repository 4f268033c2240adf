"""Leftovers of dead runs in a Swarm, found by label, and their removal."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from tare.all_steps import faults_of, raise_first
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines import cgroups
from tare.runtimes.swarm.facts import read_facts
from tare.runtimes.swarm.manager import SwarmError, label_filter
from tare.runtimes.swarm.member import accounting_of
from tare.runtimes.swarm.named import manager_of
from tare.runtimes.swarm.names import own_labels
from tare.runtimes.swarm.services import await_gone
from tare.runtimes.swarm.settings import VARIABLE, connect_engine, swarm_settings
from tare.runtimes.swarm.volumes import FREE_S, OF_A_TASK, left_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import docker

    from tare.runtimes.swarm.manager import Kind, Manager

_KINDS: tuple[Kind, ...] = ("container", "service", "config", "network")
"""in the order of removal: each may hold what follows"""
_ANSWER_S = 10
_POLL_S = 0.5
_NAMING = (VARIABLE, "DOCKER_HOST", "DOCKER_CONTEXT")
"""variables that name an engine; the first one says that it is a manager"""


@dataclass
class SwarmLeftovers:
    """Everything in a Swarm that runs of this machine made; kind to id to name."""

    manager: Manager | None = None
    found: dict[Kind, dict[str, str]] = field(default_factory=dict)
    on_nodes: dict[str, list[Any]] = field(default_factory=dict)
    """node to what its own engine holds"""
    unanswered: str = ""
    """why a Swarm that is named, or the engine of a node, could not be asked"""

    def words(self) -> dict[str, list[str]]:
        """Kind to names, for people."""
        told = {f"Swarm {kind}s": list(named.values()) for kind, named in self.found.items()}
        held = [f"{one.name} ({node})" for node, all_ in self.on_nodes.items() for one in all_]
        return told | ({"volumes of Swarm nodes": held} if held else {})


def leftovers(
    connect: Callable[[], Manager] | None = None,
    environment: Mapping[str, str] = os.environ,
    engines: Mapping[str, Callable[[], docker.DockerClient]] | None = None,
) -> SwarmLeftovers:
    """Search the Swarm that is named here; nothing if none is named, or it does not answer.

    Docker's own engine, if no other is named, may well be in no Swarm: that is not reported.
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
    on_nodes: dict[str, list[Any]] = {}
    faults = []
    for node, ask in (_engines(environment) if engines is None else engines).items():
        try:
            if held := left_on(ask()):
                on_nodes[node] = held
        except (TareError, DockerException, RequestException, OSError) as error:
            why = error.why if isinstance(error, TareError) else str(error)
            faults.append(f"the engine of the Swarm's node {node} does not answer: {why}")
    some = {kind: named for kind, named in found.items() if named}
    return SwarmLeftovers(manager, some, on_nodes, "; ".join(faults))


def _engines(environment: Mapping[str, str]) -> dict[str, Callable[[], docker.DockerClient]]:
    """By node; none if the file of the Swarm cannot be read, which others report."""
    try:
        named = swarm_settings(environment).engines
    except TareError:
        return {}
    return {node: partial(connect_engine, one, _ANSWER_S) for node, one in named.items()}


def _ours(manager: Manager, kind: Kind) -> dict[str, str]:
    named: dict[str, str] = {}
    for one in manager.find(kind, label_filter(own_labels())):
        if kind == "container" and OF_A_TASK in (one.get("Labels") or {}):
            continue
        names = one.get("Names") or [(one.get("Spec") or {}).get("Name") or one.get("Name")]
        named[str(one.get("ID") or one.get("Id"))] = str(names[0]).lstrip("/")
    return named


def remove(
    left: SwarmLeftovers,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Remove everything; first what runs, because it holds the rest.

    Raises:
        RuntimeUnavailableError: something could not be removed.
    """
    manager = left.manager
    if manager is None or not (left.found or left.on_nodes):
        return
    thaw_tasks(manager)
    faults: list[TareError] = []
    for kind in _KINDS:
        ids = left.found.get(kind, {})
        faults += faults_of(partial(manager.remove, kind, identity) for identity in ids)
        if kind == "service":
            await_gone(manager, label_filter(own_labels()))
    deadline = clock() + FREE_S
    for one in (one for held in left.on_nodes.values() for one in held):
        fault = _remove_held(one, lambda: clock() > deadline, wait)
        faults += [fault] if fault else []
    raise_first(faults)


def _remove_held(
    one: Any, over: Callable[[], bool], wait: Callable[[float], None]
) -> TareError | None:
    """Remove a container or volume of a node; a task's own volume goes with its container.

    Returns:
        Why it is still there; None: it is not.
    """
    while True:
        try:
            one.remove(force=True)
        except NotFound:
            return None
        except (DockerException, RequestException, OSError) as error:
            if isinstance(error, APIError) and not over():
                wait(_POLL_S)
                continue
            return RuntimeUnavailableError(
                "a node of the Swarm still holds something of a run",
                where=str(one.name),
                why=str(error),
                remedy="tare clean, once its task's container is gone",
            )
        else:
            return None


def thaw_tasks(manager: Manager) -> None:
    """Continue tasks of this machine that a dead run left paused."""
    for task in manager.find("task", label_filter(own_labels())):
        cgroups.thaw_left(accounting_of(task).paths)
