"""The Docker engine for Tare's other parts: connections, accounting, leftovers."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
from docker.errors import DockerException, NotFound

from tare import starter
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.cgroups import group_paths, thaw_left

RUN_LABEL = "tare.run"
"""label of every container, network and volume that Tare makes; its value is the run"""
HOST_LABEL = "tare.host"
"""label of what Tare makes in a Swarm: the machine that Tare ran on. A Swarm's engines are shared,
and a machine removes only its own leftovers"""
ENGINE_PROCESSES = (
    "dockerd",
    "containerd",
    "containerd-shim",
    "containerd-shim-runc-v2",
    "docker-proxy",
)
SOCKET = Path("/var/run/docker.sock")
"""where an engine listens by default"""
ENGINE = "Docker"
"""the engine's name; in small letters it is the engine's command"""
PUBLISHED = "published port"
"""the path to a unit's published port, before its parts are known"""
BY_DNAT = "published port: DNAT, bridge and veth pair"
BY_PROXY = "published port: userland docker-proxy, bridge and veth pair"


def connect(timeout_s: int = 60) -> docker.DockerClient:
    """A client of the local engine.

    Raises:
        RuntimeUnavailableError: no engine answers.
    """
    try:
        client = docker.from_env(timeout=timeout_s)
        client.ping()
    except (DockerException, OSError) as error:  # the latter where it is silent
        raise RuntimeUnavailableError(
            "no Docker engine answers",
            why=str(error),
            remedy="apt-get install docker.io, then start dockerd; or make setup, in a checkout",
        ) from error
    return client


def refuse_elsewhere() -> None:
    """Refuse an engine of another machine.

    Containers' control groups, namespaces and addresses are looked for on this one.

    Raises:
        RuntimeUnavailableError: DOCKER_HOST names an engine of another machine.
    """
    named = os.environ.get("DOCKER_HOST", "")
    host = urlsplit(named).hostname or ""
    if host and host != "localhost" and not host.startswith("127."):
        raise RuntimeUnavailableError(
            "the Docker engine is on another machine",
            where=f"DOCKER_HOST={named}",
            why="control groups and addresses of its containers are there",
            remedy="unset DOCKER_HOST; or name that machine in an inventory (docs/machines.md)",
        )


def data_directory() -> Path | None:
    """Where a local engine keeps images, layers and volumes; None: no engine, or a remote one."""
    try:
        root = connect(timeout_s=5).info().get("DockerRootDir")
    except (RuntimeUnavailableError, DockerException, OSError):
        return None
    return Path(root) if root and Path(root).is_dir() else None


def asking(engine: str, then: str = "tare doctor") -> str:
    """What to try where an engine refuses."""
    return f"{engine.lower()} info; {then}"


def published_path(address: str, rules: str | None = None) -> str:
    """The path of packets to a port published on this address, by the NAT table if readable.

    Args:
        rules: of the chain DOCKER of the machine that publishes it; None: this machine's.
    """
    if rules is None:
        rules = nat_rules("DOCKER")
    loopback = address.startswith("127.")
    if not loopback and f"-d {address}/32" in rules:
        return BY_DNAT
    if loopback or rules:
        return BY_PROXY
    return "published port: DNAT or docker-proxy (the NAT table is not readable)"


def nat_rules(*chain: str) -> str:
    """The NAT table's rules, of one chain or of all; empty: they cannot be read."""
    if shutil.which("iptables") is None:
        return ""
    command = ["iptables", "-w", "-t", "nat", "-S", *chain]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def labelled(client: docker.DockerClient, *labels: str) -> dict[str, list[Any]]:
    """Containers, networks and volumes that carry all these labels, by kind.

    Args:
        labels: NAME, or NAME=VALUE.

    Raises:
        DockerException: the engine could not be asked.
    """
    wanted: dict[str, str | list[str] | bool] = {"label": [*labels]}
    return {
        "containers": client.containers.list(all=True, filters=wanted, ignore_removed=True),
        "networks": client.networks.list(filters=wanted),
        "volumes": client.volumes.list(filters=wanted),
    }


def leftovers() -> tuple[dict[str, list[Any]], str]:
    """Containers, networks and volumes that carry Tare's label.

    Returns:
        What was found, by kind; and why the engine could not be asked. That is empty if it was
        asked, or if this user has none. A killed engine's containers run on.
    """
    try:
        found = labelled(connect(timeout_s=10), RUN_LABEL)
    except RuntimeUnavailableError as error:
        return {}, error.why if _has_engine() else ""
    except (DockerException, OSError) as error:
        return {}, str(error)
    return ours(found), ""


def ours(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The labelled things that nobody uses, because their run has ended."""
    return {kind: [one for one in items if _is_ours(one)] for kind, items in found.items()}


def _has_engine() -> bool:
    """Whether an engine is named, or has left a socket here that this user may use."""
    return "DOCKER_HOST" in os.environ or os.access(SOCKET, os.W_OK)


def labels_of(run: str) -> dict[str, str]:
    """The labels of what this process makes for a run.

    They name the maker, because another Tare, in a container or elsewhere, may use the same engine
    under another lock.
    """
    return {RUN_LABEL: run, starter.LABEL: starter.label()}


def _is_ours(item: Any) -> bool:
    """Whether neither another machine, nor a live process or another container, made it."""
    labels = item.attrs.get("Labels") or (item.attrs.get("Config") or {}).get("Labels") or {}
    if starter.LABEL in labels:
        return starter.labelled_without_owner(labels[starter.LABEL])
    return bool(labels.get(HOST_LABEL, platform.node()) == platform.node())


def own_volume(
    client: docker.DockerClient, name: str, labels: dict[str, str], engine: str = ENGINE
) -> None:
    """Make a new volume: if one of that name exists, an engine returns it as it is.

    Raises:
        RuntimeUnavailableError: there is one without these labels, which is somebody else's.
        DockerException: the engine could not make it.
    """
    command = engine.lower()
    told = client.volumes.create(name, labels=labels).attrs.get("Labels") or {}
    if not labels.items() <= told.items():
        raise RuntimeUnavailableError(
            "a volume of this name exists, and this run did not make it",
            where=f"{command} volume {name}",
            why="its labels are not this run's; it is left as it is",
            remedy=f"look at it: {command} volume inspect {name}; remove it if you need it no "
            f"more: {command} volume rm {name}; or set platform.storage to directory",
        )


def remove_volume(client: docker.DockerClient, name: str, labels: dict[str, str]) -> None:
    """Remove a volume that has these labels; another's of that name stays.

    Raises:
        DockerException: the engine has none of that name, or could not do it.
    """
    volume = client.volumes.get(name)
    if labels.items() <= (volume.attrs.get("Labels") or {}).items():
        volume.remove(force=True)


def _thaw(container: Any) -> None:
    """Continue what a dead run froze: else it cannot die, or a gVisor sandbox only late."""
    state = container.attrs.get("State", {})
    pid = int(state.get("Pid") or 0)
    if state.get("Paused"):
        with suppress(DockerException):
            container.unpause()
    elif pid and (paths := group_paths(pid, container.id)):
        thaw_left(paths)


def remove(found: dict[str, list[Any]], engine: str = ENGINE) -> list[TareError]:
    """Remove what `leftovers` found, containers first because they hold the rest.

    Returns:
        What is still there, and why.
    """
    for container in found.get("containers", []):
        _thaw(container)
    calls = [
        (kind, item, {"force": True, "v": True} if kind == "containers" else {})
        for kind in ("containers", "networks", "volumes")
        for item in found.get(kind, [])
    ]
    faults: list[TareError] = []
    for kind, item, how in calls:
        try:
            item.remove(**how)
        except NotFound:
            continue
        except (DockerException, OSError) as error:
            fault = RuntimeUnavailableError(
                f"{engine.lower()} could not remove what a run left",
                where=f"{kind}: {item.name}",
                why=str(error),
                remedy=asking(engine, "then tare clean"),
            )
            faults.append(fault)
    return faults
