"""A database node in a task of a Swarm, as a running unit."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING

from tare.machines.cgroups import Accounting, group_paths
from tare.runtimes.orchestrated import Orchestrated, OrchestratedNode, keep_log
from tare.runtimes.swarm.facts import node_fault
from tare.runtimes.swarm.manager import SwarmError
from tare.runtimes.swarm.tasks import container_of, ended, ending
from tare.runtimes.unit import Exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tare.runtimes.swarm.manager import Document, Manager
    from tare.runtimes.unit import Site, Unit

_TASK = Orchestrated(
    "task",
    "a Swarm pauses no tasks",
    "a Swarm limits how much CPU time a task has, not on which CPUs",
)


class MemberRunning(OrchestratedNode):
    """A task of a service."""

    of = _TASK

    def __init__(
        self,
        unit: Unit,
        site: Site,
        manager: Manager,
        service: str,
        task: Document,
        path: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take over a task that runs.

        Args:
            unit: what was launched.
            site: its site, settled by where the task came to run.
            manager: of the Swarm.
            service: whose task it is.
            task: its document.
            path: what packets to it pass through.
            clock: monotonic seconds.
        """
        container, _ = container_of(task)
        super().__init__(unit, site, container, accounting_of(task), clock)
        self._manager = manager
        self._service = service
        self._task = str(task["ID"])
        self._node = str(task["NodeID"])
        self._path = path

    def _poll_once(self) -> Exit | None:
        try:
            task = self._manager.inspect("task", self._task)
        except SwarmError as error:
            if not error.gone:
                raise
            return Exit(-1, "its task is gone: its service was removed")
        if ended(task):
            return ending(task)
        fault = self._machine_fault()  # first: the Swarm wants all tasks of a lost node shut down
        if fault:
            return Exit(-1, f"its node cannot be used: {fault}")
        if task.get("DesiredState") != "running":
            return Exit(-1, f"the Swarm wants its task to be {task.get('DesiredState')}")
        return None

    def _machine_fault(self) -> str:
        """The fault of a node that does not answer; a drained node ends its tasks itself."""
        document = self._manager.inspect("node", self._node)
        return node_fault(document) if document["Status"].get("State") != "ready" else ""

    def packet_path(self) -> str:
        return self._path

    def terminate(self) -> None:
        self._manager.remove("service", self._service)

    def collect_logs(self, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        name = self.unit.site.name
        with contextlib.suppress(SwarmError):
            text = b"".join(self._manager.logs(self._service))
            (into / f"{name}-stderr.log").write_bytes(text)
        with contextlib.suppress(SwarmError):
            status = self._manager.inspect("task", self._task)["Status"]
            (into / f"{name}-task.json").write_text(json.dumps(status, indent=1), encoding="utf-8")
        keep_log(self.unit, self._accounting.pid, into)


def accounting_of(task: Document) -> Accounting:
    """Where a task's use can be read; nowhere if its node is another machine."""
    container, pid = container_of(task)
    paths = group_paths(pid, container) if pid and container else {}
    return Accounting(paths, (pid,)) if paths else Accounting()
