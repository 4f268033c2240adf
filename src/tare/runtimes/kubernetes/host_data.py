"""Removes directories of nodes with the data of `storage: host-path`, by a pod on each node."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes import jobs, manifests, pod_parts
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.facts import read_facts
from tare.runtimes.kubernetes.pod_parts import HOST_BASE, MAIN, POD_PROGRAM, Container
from tare.runtimes.kubernetes.pods import ended
from tare.runtimes.slug import slug
from tare.study.platform import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.kubernetes.api import Api

_WITHIN_S = 30.0
_POLL_S = 0.2
_GROUP = "remove-host-data"


def remove_host_data(
    api: Api,
    namespace: str,
    run: str,
    helper: str,
    *,
    pull: bool,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Remove what a namespace's pods left below HOST_BASE on every node that is ready.

    Pods are started only if one of its sets used such a directory.

    Raises:
        RuntimeUnavailableError: a node did not do it in time, or a used node is not ready.
    """
    marks = api.find("ConfigMap", namespace, labels=f"{manifests.HOST_DATA_LABEL}=used")
    if not helper or not marks:
        return
    used = {str((mark.get("data") or {}).get(manifests.MACHINE)) for mark in marks}
    command = [POD_PROGRAM, "remove", HOST_BASE, f"{namespace}."]
    container = Container(helper, pull, command, Limits())
    names: list[str] = []
    lost: list[str] = []
    for machine in read_facts(api).machines:
        if not machine.ready and machine.name in used:
            lost.append(machine.name)
        # a control plane that takes no pods had none, and may lack the image
        if machine.ready and (machine.schedulable or machine.name in used):
            name = slug(f"{_GROUP}-{secrets.token_hex(3)}-{machine.name}")  # one may be left
            pod = jobs.removing_pod(container, machine.name)
            labels = pod_parts.labels_of(run, _GROUP)
            api.create(jobs.job(name, labels, pod, int(_WITHIN_S)), namespace)
            names.append(name)
    _await_all(api, namespace, names, clock, wait)
    if lost:
        raise RuntimeUnavailableError(
            "data of a run is left on machines that are not ready",
            where=", ".join(lost),
            why=f"{HOST_BASE}/{namespace}.* could not be removed there",
            remedy="tare clean, once they are back; or kubectl delete node, if they never will be",
        )


def _await_all(
    api: Api,
    namespace: str,
    names: list[str],
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> None:
    deadline = clock() + _WITHIN_S
    open_jobs = list(names)
    while open_jobs:
        for name in list(open_jobs):
            pods = api.find("Pod", namespace, labels=f"job-name={name}")
            if any((end := ended(pod, MAIN)) is not None and end.status == 0 for pod in pods):
                open_jobs.remove(name)
        if not open_jobs:
            return
        if clock() > deadline:
            names = [
                str(pod["metadata"]["name"])
                for job in open_jobs
                for pod in api.find("Pod", namespace, labels=f"job-name={job}")
            ]
            heard = "; ".join(
                filter(None, (events_in_words(events_of(api, n, namespace)) for n in names))
            )
            raise RuntimeUnavailableError(
                "data of a run could not be removed from nodes",
                where=", ".join(open_jobs),
                why=f"no pod ended well within {_WITHIN_S:.0f} s"
                + (f"; events: {heard}" if heard else ""),
                remedy=f"remove {HOST_BASE}/{namespace}.* on these nodes",
            )
        wait(_POLL_S)
