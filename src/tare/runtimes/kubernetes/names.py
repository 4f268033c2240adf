"""Names and labels of everything that Tare makes in a cluster."""

from __future__ import annotations

import hashlib
import re

RUN_LABEL = "tare.run"
"""label of everything that Tare makes; its value is the run, as far as labels can hold it"""
HOST_LABEL = "tare.host"
"""label of namespaces: the machine that Tare ran on, for clusters are shared and only its own
leftovers are Tare's to remove"""
UNIT_LABEL = "tare.unit"
GROUP_LABEL = "tare.group"
POD_LABEL = "statefulset.kubernetes.io/pod-name"
"""Kubernetes' own label of a StatefulSet's pods, by which a service finds exactly one"""

_LONGEST = 40
"""characters; a StatefulSet's name may have 52, for it ends up in a label with a hash"""
_DIGEST = 6


def slug(text: str, longest: int = _LONGEST) -> str:
    """A name as Kubernetes takes it for any object: a DNS label that begins with a letter.

    What had to be changed is told apart by a digest, so that different texts stay different.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not plain or not plain[0].isalpha():
        plain = f"t-{plain}".rstrip("-")
    if plain == text and len(plain) <= longest:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{plain[: longest - _DIGEST - 1].rstrip('-')}-{digest}"


def namespace_of(run: str) -> str:
    """The namespace of a run."""
    return f"tare-{slug(run)}"


def pod_of(cluster: str, index: int) -> str:
    """The pod that a StatefulSet makes of its node, 0-based."""
    return f"{cluster}-{index}"
