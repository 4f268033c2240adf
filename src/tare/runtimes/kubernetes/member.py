"""A database node in a pod of a StatefulSet, as a running unit."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tare.runtimes.kubernetes import local_pods
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.pod_parts import MAIN
from tare.runtimes.kubernetes.pods import container_id, ended, machine_fault
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.orchestrated import OrchestratedNode, keep_log
from tare.runtimes.unit import Exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tare.runtimes.kubernetes.api import Api, Document
    from tare.runtimes.unit import Site, Unit


class MemberRunning(OrchestratedNode):
    """A pod of a set."""

    of = local_pods.POD

    def __init__(
        self,
        unit: Unit,
        site: Site,
        api: Api,
        namespace: str,
        pod: Document,
        path: Callable[[], str],
        cpu: Callable[[str, str], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take over a pod that runs.

        Args:
            unit: what was launched.
            site: its site, settled by where the pod came to run.
            api, namespace: where the pod is.
            pod: its document.
            path: what packets to it pass through.
            cpu: CPU seconds of a pod on another machine, by its machine and name.
            clock: monotonic seconds.
        """
        name, machine = str(pod["metadata"]["name"]), site.machine
        container = container_id(pod, MAIN)
        accounting = local_pods.accounting_of(container, lambda: cpu(machine, name))
        super().__init__(unit, site, container, accounting, clock)
        self._api = api
        self._namespace = namespace
        self._name = name
        self._uid = str(pod["metadata"]["uid"])
        self._path = path
        self._quality = str((pod.get("status") or {}).get("qosClass") or "")

    def _poll_once(self) -> Exit | None:
        try:
            pod = self._api.get("Pod", self._name, self._namespace)
        except ApiError as error:
            if not error.gone:
                raise
            return self._with_events(Exit(-1, "its pod is gone: deleted, or evicted"))
        if pod["metadata"]["uid"] != self._uid:
            return self._with_events(Exit(-1, "its pod was replaced by another"))
        found = ended(pod, MAIN)
        if found is None and pod["metadata"].get("deletionTimestamp"):
            found = Exit(-1, "its pod is being deleted")
        if found is None:
            fault = self._machine_fault()
            found = Exit(-1, fault) if fault else None
        return None if found is None else self._with_events(found)

    def _with_events(self, found: Exit) -> Exit:
        heard = events_in_words(events_of(self._api, self._name, self._namespace))
        return replace(found, detail=f"{found.detail}; events: {heard}") if heard else found

    def packet_path(self) -> str:
        return self._path()

    def facts(self) -> dict[str, str]:
        return {"quality of service": self._quality}

    def terminate(self) -> None:
        self._api.delete("Pod", self._name, self._namespace)

    def _machine_fault(self) -> str:
        return machine_fault(self._api, self.unit.site.machine)

    def collect_logs(self, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        name = self.unit.site.name
        for last, ending in ((False, "stderr.log"), (True, "stderr-before.log")):
            with contextlib.suppress(ApiError):
                pieces = self._api.log(self._name, MAIN, self._namespace, last=last)
                text = b"".join(pieces)
                if text or not last:
                    (into / f"{name}-{ending}").write_bytes(text)
        keep_log(self.unit, self._accounting.pid, into)
        events = [vars(event) for event in events_of(self._api, self._name, self._namespace)]
        (into / f"{name}-events.json").write_text(json.dumps(events, indent=1), encoding="utf-8")
