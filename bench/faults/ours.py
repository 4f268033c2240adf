"""Finds what Tare has on this machine by /proc, the engine and the kernel, without Tare's code.

`tare clean` is itself under test, so its own search cannot be the check.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import psutil
import requests

GROUPS = Path("/sys/fs/cgroup")
RIG = "/var/lib/tare-rig/"
ON_HOSTS = frozenset({"host processes", "host files", "host groups"})
"""Kinds that are on hosts over SSH. Those of a campaign share this machine's kernel."""
TEMPORARY = (Path(tempfile.gettempdir()), Path("/run"), Path("/run/lock"))
ALWAYS = {"/run/lock/tare-lab.lock"}


@dataclass
class Seen:
    """By kind, what is there: names or ids."""

    kinds: dict[str, set[str]] = field(default_factory=dict)

    def without(self, other: Seen) -> Seen:
        left = {kind: names - other.kinds.get(kind, set()) for kind, names in self.kinds.items()}
        return Seen({kind: names for kind, names in left.items() if names})

    def both(self, other: Seen) -> Seen:
        return Seen(
            {
                kind: same
                for kind, names in self.kinds.items()
                if (same := names & other.kinds.get(kind, set()))
            }
        )

    def __bool__(self) -> bool:
        return any(self.kinds.values())

    def __str__(self) -> str:
        return "; ".join(
            f"{kind}: {', '.join(sorted(names))}" for kind, names in self.kinds.items()
        )


def see(runs: Path, disks: Iterable[Path] = ()) -> Seen:
    """Everything that is Tare's by its looks, decoys included.

    Args:
        runs: directory of all runs.
        disks: of hosts, each its /var/tmp.
    """
    return Seen(
        {
            "processes": set(processes()),
            **engine_items(),
            "addresses": addresses(),
            "rules": rules(),
            "groups": {str(path) for path in GROUPS.glob("*/tare/**/")}
            | {str(path) for path in GROUPS.glob("tare/**/")},
            "directories": {str(path) for path in runs.glob("*/work") if any(path.iterdir())}
            | {str(path) for path in runs.glob("*/trials/.*") if any(path.iterdir())},
            "temporary": {str(path) for base in TEMPORARY for path in base.glob("*tare*")} - ALWAYS,
            "mounts": mounts(),
            "host processes": set(processes("TARE_HOST_RUN")),
            "host files": {
                str(path)
                for disk in disks
                for one in ("runs/*/*", "files/.*.partial")
                for path in disk.glob(f"tare/{one}")
            },
            "host groups": {str(path) for path in GROUPS.glob("*/tare-ssh/*/*/**/")}
            | {str(path) for path in GROUPS.glob("tare-ssh/*/*/**/")},
        }
    )


def processes(variable: str = "TARE_RUN") -> dict[str, int]:
    """Processes with a variable of Tare's in their environment: name and id, to the id."""
    found: dict[str, int] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if variable in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                found[f"{process.name()} {process.pid}"] = process.pid
    return found


def containers() -> list[Any]:
    """Containers with Tare's label; none where no engine answers."""
    with contextlib.suppress(docker.errors.DockerException, requests.RequestException):
        client = docker.from_env(timeout=30)
        return list(client.containers.list(all=True, filters={"label": "tare.run"}, sparse=True))
    return []


def engine_items() -> dict[str, set[str]]:
    """Containers, networks and volumes that have Tare's label or a name as Tare gives.

    With the ids that the engine gives, because every weighing has the same names.
    """
    found: dict[str, set[str]] = {"containers": set(), "networks": set(), "volumes": set()}
    with contextlib.suppress(docker.errors.DockerException, requests.RequestException):
        api = docker.from_env(timeout=30).api
        listed = {
            "containers": [
                (_with_id(one["Names"][0], one), one) for one in api.containers(all=True)
            ],
            "networks": [(_with_id(one["Name"], one), one) for one in api.networks()],
            "volumes": [(one["Name"], one) for one in api.volumes()["Volumes"] or []],
        }
        for kind, items in listed.items():
            found[kind] = {
                name
                for name, one in items
                if "tare.run" in (one["Labels"] or {}) or "tare-" in name
            }
    return found


def _with_id(name: str, item: dict[str, Any]) -> str:
    return f"{name} {item['Id'][:12]}"


def addresses() -> set[str]:
    told = _output("ip", "-json", "-4", "addr", "show", "dev", "lo") or "[]"
    return {
        f"{entry['local']} {entry.get('label', '')}"
        for device in json.loads(told)
        for entry in device.get("addr_info", [])
        if entry["local"].startswith("198.")
    }


def rules() -> set[str]:
    lines = _output("iptables", "-w", "5", "-t", "raw", "-S", "PREROUTING").splitlines()
    return {line for line in lines if "tare" in line}


def mounts() -> set[str]:
    """Mount points with Tare's name in them, but for those of a rig's own programs."""
    points = (line.split()[1] for line in Path("/proc/mounts").read_text().splitlines())
    return {point for point in points if "tare" in point and not point.startswith(RIG)}


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
