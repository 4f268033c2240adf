"""Costs of one operation on each way to a server: the prices that `tare weigh` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from tare.databases.names import DatabaseName
from tare.databases.registry import USUAL
from tare.records.kept_measurements import (
    KeptMeasurement,
    MeasuredMachine,
    MeasurementPart,
    kept_at,
    kept_here,
    read,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tare.machines.facts import MachineFacts

LARGEST = 1e12
"""Microseconds, or a count: no measured value is larger."""
Operation = Literal["request", "working", "connection", "kilobyte"]


class Interval(MeasurementPart):
    """A mean over the rounds with its 95% interval (Student's t)."""

    value: float = Field(ge=-LARGEST, le=LARGEST)
    low: float = Field(ge=-LARGEST, le=LARGEST)
    high: float = Field(ge=-LARGEST, le=LARGEST)

    @model_validator(mode="after")
    def _in_order(self) -> Interval:
        if not self.low <= self.value <= self.high:
            raise ValueError("the value lies outside of its interval")
        return self


class Price(MeasurementPart):
    """One way to a server. Times are microseconds per operation."""

    way: str = Field(description="RUNTIME.ENDPOINT, or native again: the same twice")
    in_flight: int = Field(description="operations of the client at once")
    tls: bool = Field(
        False, description="of connections: with a full handshake of TLS 1.3, none resumed"
    )
    runtime: str
    endpoint: str = Field(
        description="as platform.endpoint names it; host: the host's network; between-nodes: its "
        "own address, for a client in the network namespace of another unit, which of an "
        "orchestrator is on another node; between-published: the same by a published port; "
        "to-host: a server on the host, for a client in the network namespace of a container"
    )
    path: str = Field(description="what packets were seen to pass through")
    slices: int = Field(ge=1, description="measured in a round, with so many in flight")
    demand: Interval = Field(
        description="service demand: CPU time of server, client, engine and the kernel's threads"
    )
    over: str = Field(
        "",
        description="the way that added, percent, parts, round_trip_added and pace are over; "
        "empty: native. With servers that work, the loopback device of the same server, where it "
        "is weighed: two such servers differ by where their code and data lie in memory",
    )
    added: Interval | None = Field(
        description="demand over that way's; null for native, which the others are compared with. "
        "Of native with more in flight, to a server that works: over native with the fewest"
    )
    percent: Interval | None = Field(
        None,
        description="the same as a share of that way's in each round, percent: without the speed "
        "of the machine, which differs from round to round and is in the interval of `added`",
    )
    parts: dict[str, Interval] = Field(
        description="of `added`, by owner (server, client, engine, kernel: its own threads), and "
        "softirq, a mode of any owner's time, sampled at the kernel's ticks; not of `added`, of "
        "servers on a host over SSH, unowned: the same of what unowned_us of `counts` is"
    )
    counts: dict[str, Interval] = Field(
        description="per operation: packets that the server sent and received; of the machine "
        "switches (context switches) and net_rx (runs of the network's receive soft interrupt); of "
        "the processes of server and client server_switches, server_faults, server_calls (system "
        "calls), server_futex_calls, client_switches and so on. Of servers on a host over SSH "
        "packets alone, of all programs of its network namespace, and unowned_us: microseconds of "
        "CPU time of both machines that no process's time holds, which is not in demand "
        "(interrupts that found a CPU idle), by the kernel's ticks"
    )
    round_trip: Interval = Field(description="from a request to its answer, as the client has it")
    round_trip_added: Interval | None = Field(description="round_trip over that way's")
    pace: Interval | None = Field(
        None,
        description="how much longer the same arithmetic took on the CPUs than in that way's "
        "slices, percent: what it costs is taken off; null: of native, or not sampled",
    )


class ServersHost(MeasurementPart):
    """The host over SSH on which servers ran, and where their clients did."""

    name: str = Field(description="as the inventory calls it")
    group: str = Field(
        description="of the inventory, of which it is the first host; empty: those that take nodes"
    )
    clients: MeasuredMachine = Field(description="the machine on which the clients ran")
    one_kernel: bool = Field(
        description="it is the clients' machine under another name: no wire is between them"
    )
    clock_uncertain_s: float = Field(
        ge=0, description="the largest bound on the error of what its clock was ahead, seconds"
    )


class Weighing(KeptMeasurement):
    """What one `tare weigh` found."""

    kept_as: ClassVar[str] = "prices.json"

    database: DatabaseName = Field(
        USUAL,
        description="whose protocol client and server spoke: CQL, with all operations in flight on "
        "one connection; or MongoDB's OP_MSG, with a connection for each",
    )
    seconds: float = Field(description="from the first round's start to the last one's end")
    rounds: int = Field(
        ge=2, le=10_000, description="each with new servers and clients; the unit of intervals"
    )
    operation: Operation = Field(
        "request",
        description="request: and its answer, over a connection that lasts; working: the same, and "
        "the server walks through working_kib of data for each; connection: its "
        "opening, STARTUP, a request and its answer, its close; kilobyte: each further 1,000 bytes "
        "of an answer, by those of two sizes",
    )
    row_bytes: int = Field(
        description="of the row in each answer: ten values; of kilobytes, in the smaller answers"
    )
    larger_row_bytes: int = Field(
        0, ge=0, description="of kilobytes, in the larger answers; 0: there are none"
    )
    working_kib: int = Field(
        0,
        ge=0,
        description="KiB of data that a server walks through before each answer, so that the "
        "network's path finds cold caches; 0: it answers without work",
    )
    service_us: float = Field(
        description="how long a server took for an operation, one after the other; 0: no time"
    )
    paced: bool = Field(
        False, description="the pace of the CPUs was sampled, and is a term of the fit"
    )
    why_no_calls: str = Field(
        description="why the server's and the client's system calls were not counted; empty: they "
        "were",
    )
    on_host: ServersHost | None = Field(
        None,
        description="the host over SSH on which the servers ran, whose facts `machine` has then; "
        "null: servers ran beside their clients",
    )
    left_out: dict[str, str] = Field(description="what could not be weighed, and why")
    prices: list[Price]

    def kept_file(self) -> str:
        """Prices of each protocol, of each operation and of each host have a file of their own."""
        host = self.on_host.name if self.on_host else ""
        return _kept_file(self.database, self.operation, host)


def prices_here(
    database: DatabaseName,
    facts: MachineFacts,
    cache: Path | None = None,
    operation: Operation = "request",
) -> Weighing | None:
    """This machine's latest prices for this database's protocol; None: there are none.

    Prices of a host over SSH are never among them, whatever the host: they are of another way.
    """
    found = kept_here(Weighing, facts, cache, file=_kept_file(database, operation))
    return found if found is not None and found.on_host is None else None


def prices_on(
    host: str, cache: Path | None = None, database: DatabaseName = USUAL
) -> Weighing | None:
    """The latest prices of a host over SSH by its name in an inventory; None: there are none."""
    if "/" in host:  # it is no name of a host
        return None
    file = _kept_file(database, "request", host)
    return read(Weighing, kept_at(Weighing, cache).with_name(file))


def _kept_file(database: DatabaseName, operation: Operation, host: str = "") -> str:
    apart = [name for name in (database, operation) if name not in (USUAL, "request")]
    on = ["on", host] if host else []
    return f"{'-'.join(['prices', *apart, *on])}.json"
