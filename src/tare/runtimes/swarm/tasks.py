"""Waits until a service's one task runs, and reads how it ended, in the Swarm's own words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.unit import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.swarm.manager import Document, Manager

START_S = 60.0
"""longest wait for a task whose image is on its node"""
_UNPLACED_S = 10.0
"""longest wait for a node that a task may run on"""
_POLL_S = 0.2
_LAST_LINES = 5
_ENDED = ("complete", "shutdown", "failed", "rejected", "remove", "orphaned")
_PENDING = ("new", "pending")
_NO_IMAGE = "No such image"
_IMAGE_REMEDY = "name the node's engine in the file of TARE_SWARM, so that it is given the image"


def task_of(manager: Manager, service: str) -> Document | None:
    """The task of a service that has one; the newest if it has had several."""
    found = manager.find("task", {"service": service})
    return max(found, key=lambda task: str(task["CreatedAt"])) if found else None


def await_task(
    manager: Manager,
    service: str,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> Document:
    """The task of a service, once it runs.

    Raises:
        RuntimeUnavailableError: it does not run; with the Swarm's reason.
    """
    begun = clock()
    while True:
        task = task_of(manager, service)
        state = str(task["Status"]["State"]) if task else "new"
        if task is not None and state == "running":
            return task
        if task is not None and state in _ENDED:
            raise _not_started(service, ending(task).detail + _last_words(manager, service))
        waited = clock() - begun
        if waited > (_UNPLACED_S if state in _PENDING else START_S):
            message = _message(task) if task else "the service has no task"
            raise _not_started(service, f"after {waited:.0f} s it is {state}: {message}")
        wait(_POLL_S)


def _last_words(manager: Manager, service: str) -> str:
    """The end of a task's output."""
    try:
        text = b"".join(manager.logs(service)).decode(errors="replace")
    except TareError:
        return ""
    return "".join(f"\n    {line}" for line in text.strip().splitlines()[-_LAST_LINES:])


def _not_started(service: str, why: str) -> RuntimeUnavailableError:
    remedy = _IMAGE_REMEDY if _NO_IMAGE in why else f"docker service ps --no-trunc {service}"
    return RuntimeUnavailableError("a task did not start", where=service, why=why, remedy=remedy)


def ended(task: Document) -> bool:
    """Whether a task has ended."""
    return task["Status"]["State"] in _ENDED


def ending(task: Document) -> Exit:
    """How a task ended."""
    status = task["Status"]
    code = int((status.get("ContainerStatus") or {}).get("ExitCode") or 0)
    detail = f"its task is {status['State']}"
    message = _message(task)
    if message:
        detail += f": {message}"
    return Exit(code or -1, detail)


def _message(task: Document) -> str:
    status = task["Status"]
    return str(status.get("Err") or status.get("Message") or "")


def container_of(task: Document) -> tuple[str, int]:
    """Id and first process of a task's container; the process is one of its node's."""
    status = task["Status"].get("ContainerStatus") or {}
    return str(status.get("ContainerID") or ""), int(status.get("PID") or 0)


def address_on(task: Document, network: str) -> str:
    """A task's own address on a network; empty where the Swarm does not tell it.

    Args:
        network: its id.
    """
    for one in task.get("NetworksAttachments") or []:
        if one["Network"]["ID"] == network and one.get("Addresses"):
            return str(one["Addresses"][0]).partition("/")[0]
    return ""
