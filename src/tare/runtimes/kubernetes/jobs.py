"""Jobs of one pod, as documents: a load client, one that asks other pods, one that removes data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.runtimes.confinement import IN_POD
from tare.runtimes.kubernetes.names import POD_LABEL
from tare.runtimes.kubernetes.pod_parts import (
    CONF,
    HOST_BASE,
    MAIN,
    POD_PROGRAM,
    Container,
    basics,
    container_of,
    network_of,
    pull_policy,
    resources,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.runtimes.kubernetes.api import Document


def job(name: str, labels: Mapping[str, str], pod: Document, longest_s: int | None) -> Document:
    """One pod that runs to its end, once."""
    spec: Document = {
        "backoffLimit": 0,
        "template": {
            "metadata": {"labels": dict(labels)},
            "spec": {**basics(), "restartPolicy": "Never", **pod},
        },
    }
    if longest_s is not None:
        spec["activeDeadlineSeconds"] = longest_s
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": spec,
    }


def asking_pod(helper: Container, on_node: bool) -> Document:
    """A pod that asks others and prints their replies."""
    return {
        "containers": [container_of(MAIN, helper)],
        **network_of(on_node),
    }


_AWAY_FROM_NODES: Document = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {
            "weight": 100,
            "podAffinityTerm": {
                "labelSelector": {"matchExpressions": [{"key": POD_LABEL, "operator": "Exists"}]},
                "topologyKey": "kubernetes.io/hostname",
            },
        }
    ]
}
"""a machine without pods of a StatefulSet, if there is one: the load must not disturb what it
measures"""


def client_pod(
    container: Container, helper: str, files: str, names: Sequence[str], *, on_node: bool
) -> Document:
    """A pod that runs a load client, and hands its files over when it has ended.

    Args:
        files: name of the map with the client's own files, `names`.
        on_node: whether it uses the node's own network.
    """
    scratch = {"name": "conf", "mountPath": CONF}
    shown = [
        {"name": "files", "mountPath": f"{CONF}/{name}", "subPath": name, "readOnly": True}
        for name in names
    ]
    skipped = [word for name in names for word in ("--skip", name)]
    policy = pull_policy(container)
    return {
        "initContainers": [{**container_of(MAIN, container), "volumeMounts": [scratch, *shown]}],
        "containers": [
            {
                "name": "files",
                "image": helper,
                "imagePullPolicy": policy,
                "command": [POD_PROGRAM],
                "args": ["hand-over", CONF, *skipped],
                "resources": resources(container),
                "securityContext": IN_POD,
                "volumeMounts": [scratch],
            }
        ],
        "volumes": [
            {"name": "conf", "emptyDir": {}},
            {"name": "files", "configMap": {"name": files}},
        ],
        **network_of(on_node),
        "affinity": {"podAntiAffinity": _AWAY_FROM_NODES},
    }


def removing_pod(helper: Container, node: str) -> Document:
    """A pod that removes directories of one node, below HOST_BASE alone."""
    made: dict[str, Any] = container_of(MAIN, helper)
    # the files belong to whichever user the database's image has
    rights = {"drop": ["ALL"], "add": ["DAC_OVERRIDE", "FOWNER"]}
    made["securityContext"] = {**IN_POD, "capabilities": rights}
    made["volumeMounts"] = [{"name": "base", "mountPath": HOST_BASE}]
    place = {"path": HOST_BASE, "type": "DirectoryOrCreate"}
    return {
        "containers": [made],
        "volumes": [{"name": "base", "hostPath": place}],
        "nodeName": node,
        "tolerations": [{"operator": "Exists"}],
    }
