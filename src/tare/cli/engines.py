"""The runtimes of this machine, and the cluster and Swarm that are named here: can they be used?"""

from __future__ import annotations

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.availability import Cluster, Swarm, no_cluster
from tare.runtimes.docker_engine import connect
from tare.runtimes.kubernetes.api import ClientApi
from tare.runtimes.kubernetes.facts import read_facts
from tare.runtimes.kubernetes.probe import fault
from tare.runtimes.kubernetes.settings import cluster_settings
from tare.runtimes.swarm.facts import SwarmFacts
from tare.runtimes.swarm.named import ask_swarm, swarm_fault


def runtime_states(*, kubernetes: bool = False, swarm: bool = False) -> dict[str, str | None]:
    """Runtime name to None when it can run here, else to the reason why not.

    Args:
        kubernetes: ask the cluster too, which may be far away and none of ours otherwise.
        swarm: ask the Swarm too, for the same reason.
    """
    error = docker_fault()
    states = {"native": None, "docker": f"{error.what} ({error.remedy})" if error else None}
    if kubernetes:
        states["kubernetes"] = cluster_fault()
    if swarm:
        states["swarm"] = swarm_fault()
    return states


def docker_fault() -> RuntimeUnavailableError | None:
    """Why Docker's engine cannot be used; None where it can."""
    try:
        connect(timeout_s=5)
    except RuntimeUnavailableError as error:
        return error
    return None


def cluster_fault() -> str | None:
    """Why the cluster that is named here cannot be used; None where it can."""
    try:
        settings = cluster_settings()
    except RuntimeUnavailableError as error:
        return f"{error.what}: {error.why} ({error.remedy})"
    if settings is None:
        missing = no_cluster()
        return f"{missing.what} ({missing.remedy})"
    return fault(settings)


def named_cluster() -> Cluster | None:
    """The Kubernetes cluster that is named here, asked what it is; None where none is named."""
    settings = cluster_settings()
    if settings is None:
        return None
    try:
        return Cluster(read_facts(ClientApi(settings)))
    except TareError:
        return Cluster(None)


def named_swarm() -> Swarm | None:
    """The Docker Swarm that is named here, asked what it is; None where none is named."""
    found = ask_swarm()
    if isinstance(found, SwarmFacts):
        return Swarm(found)
    return Swarm(None) if found else None
