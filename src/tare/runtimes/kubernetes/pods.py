"""A pod's state by its document: whether it runs, how containers ended, what prevents its start."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.unit import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tare.runtimes.kubernetes.api import Api, Document

START_S = 90.0
"""longest wait for a pod whose image is on its node, its volumes and its own name included"""
_POLL_S, _LOOK_S = 0.2, 2.0
_LAST_LINES = 3
"""of a container's output, which its engine keeps if the container ends badly"""
_HOPELESS = {
    "ErrImageNeverPull": "the image was never given to this node",
    "InvalidImageName": "no node can make sense of the image's name",
    "ImagePullBackOff": "the node could not fetch the image, and waits before it tries again",
    "CreateContainerConfigError": "something that the pod refers to is missing",
}
"""reasons for which waiting longer changes nothing"""
_NO_IMAGE = ("ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName")
_IMAGE_REMEDY = (
    "give it to every node (images.import in the file that TARE_KUBERNETES names), or push it to a "
    "registry that they can reach (images.registry); see docs/kubernetes.md"
)
_UNPLACED_REMEDY = (
    "kubectl describe nodes; lower platform.limits or database.nodes, or change platform.placement"
)


def container_status(pod: Document, container: str) -> Document:
    """The status of one of its containers, init containers too; empty before it has one."""
    status = pod.get("status") or {}
    lists = (status.get("containerStatuses"), status.get("initContainerStatuses"))
    for one in (entry for entries in lists for entry in entries or []):
        if one.get("name") == container:
            return dict(one)
    return {}


def container_id(pod: Document, container: str) -> str:
    """The engine's id of a container, without the engine's name; empty before it has one."""
    return str(container_status(pod, container).get("containerID") or "").partition("://")[2]


def running(pod: Document, container: str) -> bool:
    return "running" in (container_status(pod, container).get("state") or {})


def ended(pod: Document, container: str) -> Exit | None:
    """How a container ended; None: it has not ended, or not begun.

    A pod of a set is started again at once: a restart shows that it had ended.
    """
    status = pod.get("status") or {}
    if status.get("phase") == "Failed" and status.get("reason"):
        return Exit(-1, f"{status['reason']}: {status.get('message') or 'no message'}")
    own = container_status(pod, container)
    for state in (own.get("state") or {}, own.get("lastState") or {}):
        if "terminated" in state:
            return _exit(state["terminated"])
    if own.get("restartCount"):
        return Exit(-1, f"it was started again {own['restartCount']} times")
    return None


def _exit(state: dict[str, Any]) -> Exit:
    reason = state.get("reason")
    ended = Exit.of(int(state.get("exitCode") or 0), out_of_memory=reason == "OOMKilled")
    detail = ended.detail
    if reason not in (None, "", "Error", "Completed", "OOMKilled"):
        detail += f", {reason}"
    if state.get("message"):
        said = str(state["message"]).strip().splitlines()
        last = [line for line in said if not line.startswith("WARNING:")][-_LAST_LINES:]
        detail += f": {' / '.join(last)}" if last else ""
    return replace(ended, detail=detail)


def hindrance(pod: Document) -> tuple[str, str]:
    """(reason, message) why a pod has not started yet; empty: the pod names none."""
    status = pod.get("status") or {}
    entries = [
        *(status.get("initContainerStatuses") or []),
        *(status.get("containerStatuses") or []),
    ]
    for one in entries:
        waiting = (one.get("state") or {}).get("waiting") or {}
        reason = str(waiting.get("reason") or "")
        if reason not in ("", "PodInitializing", "ContainerCreating"):
            return reason, str(waiting.get("message") or "")
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("reason") or "Pending"), str(condition.get("message") or "")
    return "", ""


def node_fault(node: Document) -> str:
    """Why a machine of the cluster is not ready; empty: it is."""
    name = node["metadata"]["name"]
    for condition in (node.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            why = condition.get("message") or condition.get("reason") or "no reason is told"
            since = condition.get("lastTransitionTime")
            return f"its machine {name} is not ready since {since}: {why}"
    return ""


def machine_fault(api: Api, name: str) -> str:
    """Why a machine cannot be used now; empty: it can.

    Raises:
        ApiError: the cluster does not answer.
    """
    try:
        return node_fault(api.get("Node", name))
    except ApiError as error:
        if not error.gone:
            raise
        return f"its machine {name} was removed from the cluster"


def forget_lost(api: Api, namespace: str, pods: Iterable[Document]) -> None:
    """Let the API forget pods of machines that are lost; such a machine ends them when it is back.

    Raises:
        ApiError: the cluster does not answer.
    """
    faults: dict[str, str] = {}
    for pod in pods:
        machine = str((pod.get("spec") or {}).get("nodeName") or "")
        if machine and machine not in faults:
            faults[machine] = machine_fault(api, machine)
        if faults.get(machine):
            api.delete("Pod", str(pod["metadata"]["name"]), namespace, grace_s=0)


def await_pod(
    api: Api,
    namespace: str,
    name: str,
    container: str,
    *,
    within_s: float = START_S,
    never: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> Document:
    """The pod, once its container runs or has ended.

    Args:
        api: the cluster.
        namespace: the pod's.
        name: the pod's.
        container: the container to wait for.
        within_s: longest wait, in seconds.
        never: whether something beside the pod shows that waiting is in vain.
        clock: seconds that never go back.
        wait: waits for a number of seconds.

    Raises:
        RuntimeUnavailableError: it does not start; with the reason and the cluster's events.
    """
    looked = clock()
    deadline = looked + within_s
    pod: Document = {}
    while True:
        try:
            pod = api.get("Pod", name, namespace)
        except ApiError as error:
            if not error.gone:
                raise
        if pod and (running(pod, container) or ended(pod, container)):
            return pod
        reason, message = hindrance(pod) if pod else ("", "")
        if reason in _HOPELESS or clock() > deadline:
            raise not_started(api, namespace, name, reason, message, within_s)
        failed = _failed_before(pod, container)
        if failed is not None:
            raise not_started(api, namespace, name, "", failed.detail, within_s)
        if clock() - looked >= _LOOK_S:
            looked = clock()
            _refuse_lost(api, namespace, pod)
            if never():
                raise not_started(api, namespace, name, reason, message, within_s)
        wait(_POLL_S)


def _refuse_lost(api: Api, namespace: str, pod: Document) -> None:
    """Raise if a pod was given to a machine that has gone away since."""
    machine = str((pod.get("spec") or {}).get("nodeName") or "")
    fault = machine_fault(api, machine) if machine else ""
    if fault:
        raise RuntimeUnavailableError(
            "a pod did not start",
            where=f"{namespace}/{pod['metadata']['name']}",
            why=fault,
            remedy=f"kubectl describe node {machine}",
        )


def _failed_before(pod: Document, container: str) -> Exit | None:
    """How a container before this one failed, if one did."""
    for one in (pod.get("status") or {}).get("initContainerStatuses") or []:
        if one.get("name") != container:
            found = ended(pod, str(one.get("name")))
            if found is not None and found.status != 0:
                return found
    return None


def not_started(
    api: Api, namespace: str, name: str, reason: str, message: str, within_s: float
) -> RuntimeUnavailableError:
    """The error for a pod that does not start."""
    parts = [part for part in (reason, message) if part]
    known = _HOPELESS.get(reason, "")
    why = ": ".join(parts) + (f" ({known})" if known else "")
    heard = events_in_words(events_of(api, name, namespace))
    if heard:
        why = f"{why}\n  events: {heard}" if why else heard
    remedy = f"kubectl describe pod {name} -n {namespace}, while it is there"
    if reason in _NO_IMAGE:
        remedy = _IMAGE_REMEDY
    elif reason == "Unschedulable":
        remedy = _UNPLACED_REMEDY
    return RuntimeUnavailableError(
        "a pod did not start",
        where=f"{namespace}/{name}",
        why=why or f"no reason was told within {within_s:.0f} s",
        remedy=remedy,
    )
