"""What the clients of servers without a database report while they are driven."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.errors import QuietError, TareError
from tare.load.client import progress, result_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.load.client import LoadClient, ProgressLine
    from tare.study.slice_schedule import Schedule

_READY_S = 0.2
"""how long before the first slice a client must be connected"""
_POLL_S = 0.02


@dataclass
class ClientReports:
    """What the clients have reported so far, by their names.

    Attributes:
        operations: of each measured slice.
        per_s: of each measured slice, operations answered within it, per second.
        answered: likewise, operations answered within the slice, and in its drain.
        waited_s: likewise, the time of all operations together.
        warming: operations of each slice of the warm-up.
        ready: who is connected.
        gap_s: longest time without a reply of a driven server.
        fault: what went wrong, if anything did.
    """

    operations: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    per_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answered: defaultdict[str, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    waited_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    warming: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    ready: set[str] = field(default_factory=set)
    gap_s: float = 0.0
    fault: TareError | None = None

    def listen(self, clients: list[LoadClient], silence_s: float) -> None:
        """Take in what clients print until they end. What goes wrong becomes the fault."""
        try:
            for line in progress(clients, lambda: None, silence_s=silence_s):
                self._take(line)
        except TareError as error:
            self.fault = error
        except (OSError, ValueError, LookupError, TypeError) as error:
            self.fault = QuietError("a load client's line cannot be read", why=repr(error))

    def _take(self, line: ProgressLine) -> None:
        if line.event is None:
            return
        name, kind = line.client.name, line.event["event"]
        if kind == "ready":
            self.ready.add(name)
        elif kind == "interval" and line.event["phase"] == "measure":
            operations, per_s = int(line.event["ops"]), float(line.event["ops_per_s"])
            self.operations[name].append(operations)
            self.per_s[name].append(per_s)
            answered = int(line.event["within"]), int(line.event["drained"])
            self.answered[name].append(answered)
            self.waited_s[name].append(operations * float(line.event.get("mean_us", 0.0)) / 1e6)
        elif kind == "interval":
            self.warming[name].append(int(line.event["ops"]))
        elif kind == "result":
            result = result_of(line.client, line.event)
            self.gap_s = max(self.gap_s, result.longest_gap_s or 0.0)
            if result.errors:
                self.fault = QuietError(f"{result.errors} operations failed")

    def refuse_fault(self) -> None:
        """Raise what went wrong, if anything did."""
        if self.fault is not None:
            raise self.fault

    def await_ready(self, clients: Sequence[LoadClient], begins: float, command: str) -> None:
        """Wait until all clients are connected.

        Args:
            begins: Unix time of the first slice.
            command: the user's command, to be given again.

        Raises:
            TareError: a client was not in time, or something else went wrong.
        """
        while len(self.ready) < len(clients):
            self.refuse_fault()
            if time.time() > begins - _READY_S:
                self.fault = QuietError(
                    "a load client was not connected in time",
                    remedy=f"run `{command}` again while the machine has less to do",
                )
            else:
                time.sleep(_POLL_S)
        self.refuse_fault()

    def refuse_missing(self, clients: Sequence[LoadClient], schedule: Schedule) -> None:
        """Raise what went wrong, or an error if a client reported too few slices."""
        self.refuse_fault()
        for place, client in enumerate(clients):
            if len(self.operations[client.name]) < schedule.measured(place):
                raise QuietError("slices are missing", why="a client ended early")
