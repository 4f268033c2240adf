"""One trial of a sliced block: its clients, their reports, and the readings of its units."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import TareError, TrialFailedError
from tare.lab.conductor import TrialHere
from tare.lab.counted_packets import begin_tapping
from tare.lab.host_slices import TrialOnHost, readable
from tare.lab.slice_records import Replies
from tare.lab.trial import see_running
from tare.load.client import LoadClient, progress, result_of
from tare.machines.machine import Here
from tare.records.layout import TrialFiles

if TYPE_CHECKING:
    from tare.lab.trial import TrialRun
    from tare.machines.cgroups import Accounting
    from tare.machines.machine import Machine
    from tare.records.manifest import ClientResult

_GRACE_S = 30.0
"""how long after its last slice a client may take to end"""


@dataclass
class SlicedTrial:
    """A trial while its block is measured.

    Attributes:
        aside: where the trial's files are written until it is complete.
        replies: each client's replies of its measured slices, in their order.
        warming: likewise, operations of its warm-up slices.
        fault: why the trial has failed; None: it has not.
    """

    run: TrialRun
    aside: Path
    clients: list[LoadClient] = field(default_factory=list)
    replies: dict[str, list[Replies]] = field(default_factory=dict)
    warming: dict[str, list[int]] = field(default_factory=dict)
    results: dict[str, ClientResult] = field(default_factory=dict)
    fault: BaseException | None = None
    _ready: set[str] = field(default_factory=set)
    _listener: threading.Thread | None = None

    def listen(self, silence_s: float) -> None:
        """Begin to take the clients' reports, on a separate thread."""
        self.replies = {client.name: [] for client in self.clients}
        self.warming = {client.name: [] for client in self.clients}
        self._listener = threading.Thread(target=self._listen, args=(silence_s,), daemon=True)
        self._listener.start()

    def _listen(self, silence_s: float) -> None:
        try:
            with TrialFiles(self.aside).progress.open("w", encoding="utf-8") as kept:
                for line in progress(self.clients, lambda: None, silence_s=silence_s):
                    if line.event is None:
                        if line.client.name not in self.results:
                            result_of(line.client, None)
                        continue
                    kept.write(json.dumps({"client": line.client.name, **line.event}) + "\n")
                    self._take(line.client, line.event)
        except (TareError, OSError, ValueError, KeyError) as error:
            self.fault = self.fault or error

    def _take(self, client: LoadClient, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "ready":
            self._ready.add(client.name)
        elif kind == "interval" and event["phase"] == "measure":
            self.replies[client.name].append(Replies.of(event))
        elif kind == "interval":
            self.warming[client.name].append(int(event["ops"]))
        elif kind == "result":
            self.results[client.name] = result_of(client, event)

    def connecting(self) -> bool:
        """Whether a client has yet to say that it is connected."""
        return self.fault is None and len(self._ready) < len(self.clients)

    def refuse_elsewhere(self) -> None:
        """Raise TrialFailedError if CPU time of a unit cannot be read here within a slice."""
        for name, one in self.run.watched(self.clients).items():
            if not one.pid:
                raise TrialFailedError(
                    "a unit on a machine of its orchestrator cannot be measured in slices",
                    where=name,
                    why="its CPU time is not read there within a fraction of a second",
                    remedy="write design.slice: off, or use machines that share this one's kernel",
                )
            if not isinstance(one.machine, Here) and not readable(one):
                raise TrialFailedError(
                    "a unit without a control group cannot be measured in slices",
                    where=f"{name} on {one.machine.name}",
                    why="its CPU time is counted too coarsely",
                    remedy="log in as root or set sudo in the inventory, or write design.slice: "
                    "off",
                )

    def here(self) -> TrialHere:
        """What the conductor thaws, freezes and reads of the trial."""
        try:
            self.refuse_elsewhere()
        except TrialFailedError as error:
            self.fault = self.fault or error
        nodes, units = self._on("")
        own = {name: [one] for name, one in units.items()}
        tap = begin_tapping(self.run.nodes(), self.run.condition.setup)
        return TrialHere(nodes, own, self.failed(), tap)

    def on(self, host: str) -> TrialOnHost:
        """What the trial has on another host."""
        return TrialOnHost(*self._on(host))

    def machines(self) -> set[Machine]:
        """Where its units run, once its clients are launched."""
        return {one.machine for one in self.run.watched(self.clients).values()}

    def _on(self, machine: str) -> tuple[list[Accounting], dict[str, Accounting]]:
        """The database's units on a machine, and all units there by name."""
        nodes = [node.accounting() for node in self.run.nodes()]
        units = self.run.watched(self.clients)
        return (
            [one for one in nodes if one.machine.name == machine],
            {name: one for name, one in units.items() if one.machine.name == machine},
        )

    def failed(self) -> str:
        """Why the trial is no longer driven; empty: it is driven."""
        if self.fault is not None:
            return str(self.fault)
        nodes = [node.accounting() for node in self.run.nodes()]
        here = [one for one in nodes if isinstance(one.machine, Here)]
        gone = [pid for one in here for pid in one.pids if not Path(f"/proc/{pid}").exists()]
        return "a database node died" if gone else ""

    def replies_by_slice(self) -> list[Replies]:
        """Replies of each measured slice, over all clients."""
        return [Replies.sum(told) for told in zip(*self.replies.values(), strict=False)]

    def warm_operations(self) -> list[int]:
        """Operations of each warm-up slice, over all clients."""
        return [sum(told) for told in zip(*self.warming.values(), strict=False)]

    def finish(self) -> list[ClientResult]:
        """Wait for the clients' results.

        Raises:
            TareError: the trial has failed.
        """
        if self._listener is not None:
            self._listener.join(_GRACE_S)
            if self._listener.is_alive():
                self.fault = self.fault or TrialFailedError(
                    "the load did not end in time",
                    where=self.run.trial.name,
                    why=f"{_GRACE_S:.0f} s after its last slice",
                )
        self.run.deployment.check_alive()  # a node's death is the better reason
        nodes = {node.unit.site.name: node.accounting() for node in self.run.nodes()}
        see_running(nodes, frozen=False)
        if self.fault is not None:
            raise self.fault
        return [self.results[client.name] for client in self.clients]
