"""Common parts of all pods that Tare makes: labels, the container, its resources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.runtimes.confinement import IN_POD
from tare.runtimes.kubernetes.names import GROUP_LABEL, RUN_LABEL, UNIT_LABEL
from tare.runtimes.slug import slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.machines.cgroups import LimitValues
    from tare.runtimes.kubernetes.api import Document

CONF, DATA = "/opt/tare/conf", "/var/lib/cassandra"
"""where a pod finds its configuration and keeps its data"""
MAIN, NAMING, TAKING = "unit", "own-name", "data"
"""containers of a pod: the unit; before it, one that waits until its name is known; after this, one
that takes the initial files of its data directory"""
COPYING = "program"
"""container that brings tare-pod into the unit's container, if that takes its files itself"""
HANDED = "/opt/tare/handed"
"""where tare-pod is then"""
POD_PROGRAM = "/opt/tare/bin/tare-pod"
HOST_BASE = "/var/lib/tare"
"""directory of the nodes above the data of `storage: host-path`"""
_NAME = {"name": "TARE_POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
"""environment of every container"""


@dataclass(frozen=True)
class Container:
    """A container of a pod.

    Attributes:
        image: its name on nodes.
        pull: whether nodes may fetch it; else it must have been given to them.
        command: the program and its arguments.
        environment: variables beside those of every pod.
        limits: applied as they stand.
        requests: what the scheduler sets aside; None: as much as the limits.
    """

    image: str
    pull: bool
    command: Sequence[str]
    limits: LimitValues
    environment: Mapping[str, str] = field(default_factory=dict)
    requests: LimitValues | None = None


def labels_of(run: str, group: str = "", unit: str = "") -> dict[str, str]:
    """Labels of an object of a run."""
    found = {RUN_LABEL: run, GROUP_LABEL: group, UNIT_LABEL: unit}
    return {key: slug(value, 63) for key, value in found.items() if value}


def basics() -> Document:
    """A pod that gets no data of the cluster, has no rights in it and dies at once."""
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
    }


def container_of(name: str, container: Container) -> Document:
    own = [{"name": key, "value": value} for key, value in container.environment.items()]
    return {
        "name": name,
        "image": container.image,
        "imagePullPolicy": pull_policy(container),
        "command": list(container.command[:1]),
        "args": list(container.command[1:]),
        "env": [_NAME, *own],
        "resources": resources(container),
        # a database that cannot start says why in its last lines
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": IN_POD,
    }


def network_of(on_node: bool) -> Document:
    """A pod's network, its node's or its own, with the cluster's names in both."""
    return {
        "hostNetwork": on_node,
        "dnsPolicy": "ClusterFirstWithHostNet" if on_node else "ClusterFirst",
    }


def pull_policy(container: Container) -> str:
    return "IfNotPresent" if container.pull else "Never"


def resources(container: Container) -> Document:
    made: Document = {}
    for key, values in (("limits", container.limits), ("requests", container.requests)):
        chosen = _amounts(values) if values is not None else {}
        if chosen:
            made[key] = chosen
    return made


def _amounts(values: LimitValues) -> dict[str, str]:
    made: dict[str, str] = {}
    if values.cpus is not None:
        made["cpu"] = f"{round(values.cpus * 1000)}m"
    if values.memory is not None:
        made["memory"] = str(values.memory)
    return made
