"""Whether a cluster can run Tare's units: it answers, grants the rights, has a ready node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.runtimes.kubernetes.api import ClientApi, may
from tare.runtimes.kubernetes.facts import read_facts
from tare.runtimes.kubernetes.refusals import RIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.kubernetes.api import Api
    from tare.runtimes.kubernetes.settings import ClusterSettings

NEEDED = (
    *((verb, "nodes", "") for verb in ("get", "list")),
    *((verb, "namespaces", "") for verb in ("get", "list", "create", "delete")),
    *((verb, "services", "") for verb in ("create", "delete")),
    *((verb, "configmaps", "") for verb in ("list", "create", "delete")),
    *((verb, "statefulsets", "apps") for verb in ("create", "patch", "delete")),
    *((verb, "jobs", "batch") for verb in ("create", "delete")),
    *((verb, "pods", "") for verb in ("get", "list", "delete")),
    ("get", "pods/log", ""),
    ("get", "pods/portforward", ""),
    ("list", "events", ""),
)
"""(verb, resource, group) without which a run does not get far, or leaves something behind"""


def fault(
    settings: ClusterSettings, connect: Callable[[ClusterSettings], Api] = ClientApi
) -> str | None:
    """Why the cluster cannot be used, with the remedy; None: it can."""
    try:
        api = connect(settings)
        facts = read_facts(api)
        missing = [
            f"{verb} {resource}"
            for verb, resource, group in NEEDED
            if not may(api, verb, resource, group)
        ]
    except TareError as error:
        where = f" ({error.where})" if error.where else ""
        return f"{error.what}{where}: {error.why}; {error.remedy}"
    if missing:
        return (
            f"rights are missing at {facts.server}: {', '.join(missing)}; have an administrator "
            f"run kubectl apply -f {RIGHTS}, with your name in it"
        )
    if not facts.usable:
        why = [f"{one.name}: {one.fault or 'takes no ordinary pods'}" for one in facts.machines]
        told = "; ".join(why) or "it has none"
        return f"no node of {facts.server} can take a pod: {told}; kubectl get nodes"
    return None
