"""Prices in words, for the terminal and other programs, and doubts about them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rich.table import Table

from tare.analysis.price_doubts import doubts
from tare.analysis.prices import UNOWNED, UNOWNED_US, compared_with
from tare.cli.background_load import disturbance
from tare.databases.registry import declared
from tare.monitor.background_load import BUSY_CORES
from tare.report import numbers

if TYPE_CHECKING:
    from tare.records.kept_measurements import MeasuredMachine
    from tare.records.prices import Interval, Weighing

TIMES = {
    "request": "round trip us",
    "working": "round trip us",
    "connection": "connection us",
    "kilobyte": "round trip us",
}
"""The name of an operation's time."""
CANNOT_TELL = {
    "request": "A price is of a round trip on this machine, to a server that does nothing else. An "
    "operation pays it once for each request and answer. It cannot tell what a database adds: "
    "caches that are shared, its JVM, and waiting where it is near its limit.",
    "working": "A price is of a round trip on this machine, to a server that walks through data "
    "and code before it answers, so that the kernel finds none of its own in the caches. Two such "
    "servers cost unequally, by where their data and code lie in memory. So a way is compared with "
    "the loopback device of its own server, and a comparison with native is of these two servers "
    "alone. A price cannot tell how cold a database leaves them, and what it adds itself: its JVM, "
    "threads that wait for one another.",
    "connection": "A price is of a TCP connection: opened, STARTUP answered, one request answered, "
    "closed, one after the other, to a server that does nothing else; with TLS after a full "
    "handshake of version 1.3 (X25519, ECDSA on P-256, one certificate that is checked), none "
    "resumed. It cannot tell what a database adds: a thread or a session for each, "
    "authentication, and many at once; longer chains and RSA keys cost more.",
    "kilobyte": "A price is of 1,000 further bytes in an answer that is alone under way, on this "
    "machine: what answers of two sizes differ by, and nothing about larger ones. It cannot tell "
    "what they cost with many in flight, or a database that has to read them first.",
}
WIRE = (
    "Servers ran on another machine: native is over the same network, whose cards and interrupts "
    "are in every price. No bill uses these prices, and none of this machine's own is of this way."
)
_DIGITS = {"request": 2, "working": 2, "connection": 2, "kilobyte": 3}
"""of microseconds"""


def table(found: Weighing) -> Table:
    """The prices, one row per way."""
    shown = Table(box=None, pad_edge=False)
    time = TIMES[found.operation]
    digits = _DIGITS[found.operation]
    kind = "TLS" if found.operation == "connection" else "in flight"
    within = found.operation == "working"
    more = "more" if within else "over native"
    for heading in ("way", kind, "CPU us", *(["compared with"] if within else []), more, "percent",
                    "packets", time, more, "through"):  # fmt: skip
        shown.add_column(
            heading, justify="left" if heading in ("way", "compared with", "through") else "right"
        )
    for one in found.prices:
        shown.add_row(
            one.way,
            ("yes" if one.tls else "no") if kind == "TLS" else str(one.in_flight),
            f"{one.demand.value:.{digits}f}",
            *([compared_with(one)] if within else []),
            added(one.added, digits),
            added(one.percent, 1),
            f"{one.counts['packets'].value:.2f}" if "packets" in one.counts else "",
            f"{one.round_trip.value:.{digits - 1}f}",
            added(one.round_trip_added, digits),
            one.path,
        )
    return shown


def added(interval: Interval | None, digits: int = 2, scale: float = 1) -> str:
    """What is added, divided by `scale`; empty: unknown."""
    if interval is None:
        return ""
    return difference(interval.value, interval.low, interval.high, digits, scale)


def difference(value: float, low: float, high: float, digits: int, scale: float = 1) -> str:
    """A difference with the ends of its interval, divided by `scale`."""
    first, *ends = (f"{one / scale:+,.{digits}f}" for one in (value, low, high))
    return f"{first} [{', '.join(ends)}]"


def _rows(found: Weighing) -> str:
    larger = f" and {found.larger_row_bytes:,}" if found.larger_row_bytes else ""
    return f"rows of {found.row_bytes:,}{larger} bytes"


def _slices(found: Weighing) -> str:
    """Slices of a way in a round."""
    each = [price.slices for price in found.prices]
    few, many = min(each), max(each)
    several = f"{few} to {many} slices" if few < many else numbers.count(few, "slice")
    return f"{several} of {found.slice_s * 1000:.0f} ms for each way"


def _service(found: Weighing) -> str:
    work = f", {found.working_kib:,} KiB of work for each" if found.working_kib else ""
    return work + (f", {found.service_us:g} us each at the server" if found.service_us else "")


def lines(found: Weighing) -> list[str]:
    """What a reader must know about the prices, doubts first."""
    return [*not_valid(found), *notes(found)]


def notes(found: Weighing) -> list[str]:
    """How the prices were weighed, what is left out, and what they cannot tell."""
    told = [
        f"{numbers.count(found.rounds, 'round')} of {_slices(found)}; "
        f"{declared(found.database).protocol_in_words}; "
        f"{_rows(found)}{_service(found)}; 95% intervals over the rounds; "
        f"{found.seconds:.0f} s in all",
        f"{disturbance(found.steal, found.other_cores)}; "
        f"{numbers.count(found.late, 'slice')} late; "
        f"servers and clients {'had a CPU each' if found.pinned else 'shared all CPUs'}; "
        f"servers {'stood still' if found.frozen else 'waited for requests'} between their slices; "
        f"idle CPUs: {found.idle_cpus}; the pace of the CPUs is "
        f"{'a' if found.paced else 'no'} term of the fit",
    ]
    told += on_host(found)
    told += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    return [*told, CANNOT_TELL[found.operation], *([WIRE] if found.on_host else [])]


def on_host(found: Weighing) -> list[str]:
    """Where servers and clients ran if not on one machine, and the CPU time outside processes;
    empty for a weighing on one machine."""
    host = found.on_host
    if host is None:
        return []
    of = f", group {host.group}" if host.group else ""
    told = [
        f"servers on {host.name}{of} ({machine_in_words(found.machine)}), clients on "
        f"{machine_in_words(host.clients)}: CPU us is that of both machines, but for the host's "
        f"engine; the host's clock is known to ± {host.clock_uncertain_s * 1e3:.1f} ms; packets "
        "are those of all programs of the server's network namespace; system calls are not counted"
    ]
    if host.one_kernel:
        told.append(
            f"note: {host.name} is this machine under another name: no wire is between them"
        )
    return told + (_unowned(found) if found.other_cores <= BUSY_CORES else [])


def _unowned(found: Weighing) -> list[str]:
    """CPU time outside of all processes, if beyond chance. If other programs run, it could be
    theirs."""
    told = []
    for one in found.prices:
        unowned = one.counts.get(UNOWNED_US)
        more = one.parts.get(UNOWNED)
        if one.added is None and unowned is not None and _apart(unowned):
            told.append(
                f"not in CPU us: {unowned.value:.2f} us [{unowned.low:.2f}, {unowned.high:.2f}] of "
                f"{one.way} with {one.in_flight} in flight, by the kernel's ticks: interrupts that "
                "found a CPU idle are no process's time"
            )
        elif more is not None and _apart(more):
            told.append(
                f"not in CPU us: of {one.way} with {one.in_flight} in flight {added(more)} us over "
                f"{compared_with(one)}, likewise"
            )
    return told


def _apart(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def machine_in_words(machine: MeasuredMachine) -> str:
    """A machine, on one line."""
    return (
        f"{machine.hostname}: {machine.cpus} CPUs, {machine.cpu_model}, "
        f"{machine.virtualization or 'no virtualization'}, Linux {machine.kernel}"
    )


def not_valid(found: Weighing) -> list[str]:
    """Doubts about these prices, one line each."""
    return [f"not valid: {doubt}: stop all other work, then again" for doubt in doubts(found)]


def csv_text(found: Weighing) -> str:
    """A way with so many in flight per line; values, and the ends of their 95% intervals."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = {"demand": "_us", "added": "_us", "percent": "", "round_trip": "_us",
               "round_trip_added": "_us"}  # fmt: skip
    ends = ("", "_low", "_high")
    heads = [f"{column}{unit}{end}" for column, unit in columns.items() for end in ends]
    writer.writerow(["way", "in_flight", "path", *heads, "packets", "tls", "database", "over"])
    for one in found.prices:
        known = [getattr(one, column) for column in columns]
        values = [x for c in known for x in ((c.value, c.low, c.high) if c else ("", "", ""))]
        packets = one.counts["packets"].value if "packets" in one.counts else ""
        tls = "yes" if one.tls else "no"
        row = [one.way, one.in_flight, one.path, *values, packets, tls, found.database]
        writer.writerow([*row, compared_with(one)])
    return out.getvalue()
