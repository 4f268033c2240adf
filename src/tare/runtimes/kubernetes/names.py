"""Names and labels of everything that Tare makes in a cluster."""

from __future__ import annotations

from tare.runtimes.slug import slug

RUN_LABEL = "tare.run"
"""label of everything that Tare makes; its value is the run, as far as labels can hold it"""
HOST_LABEL = "tare.host"
"""label of namespaces: the machine that Tare ran on; clusters are shared, and Tare removes only its
own leftovers"""
UNIT_LABEL = "tare.unit"
GROUP_LABEL = "tare.group"
POD_LABEL = "statefulset.kubernetes.io/pod-name"
"""Kubernetes' own label of a StatefulSet's pods, by which a service finds exactly one"""


def namespace_of(run: str) -> str:
    """The namespace of a run."""
    return f"tare-{slug(run)}"


def pod_of(cluster: str, index: int) -> str:
    """The pod that a StatefulSet makes of its node, 0-based."""
    return f"{cluster}-{index}"
