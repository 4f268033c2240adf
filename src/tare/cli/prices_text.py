"""Prices in words: for the terminal, for other programs, and what speaks against them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rich.table import Table
from scipy import special

from tare.analysis.amounts import amount_of
from tare.cli.quiet import STOOD_STILL, STOP_THEM
from tare.monitor.quiet import BUSY_CORES
from tare.report import numbers

if TYPE_CHECKING:
    from tare.records.prices import Interval, Weighing

HEADINGS = (
    "way",
    "in flight",
    "CPU us",
    "over native",
    "packets",
    "round trip us",
    "over native",
    "through",
)
CANNOT_TELL = (
    "A price is of a round trip on this machine, to a server that does nothing else. An operation "
    "pays it once for each request and answer. It cannot tell what a database adds: caches that "
    "are shared, its JVM, and waiting where it is near its limit."
)


def table(found: Weighing) -> Table:
    """The prices, a way per row."""
    shown = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        shown.add_column(heading, justify="left" if heading in ("way", "through") else "right")
    for one in found.prices:
        shown.add_row(
            one.way,
            str(one.in_flight),
            f"{one.demand.value:.2f}",
            added(one.added),
            f"{one.counts['packets'].value:.2f}" if "packets" in one.counts else "",
            f"{one.round_trip.value:.1f}",
            added(one.round_trip_added),
            one.path,
        )
    return shown


def added(interval: Interval | None) -> str:
    """A difference in microseconds with its interval."""
    if interval is None:
        return ""
    return f"{interval.value:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]"


def _service(found: Weighing) -> str:
    return f", {found.service_us:g} us each at the server" if found.service_us else ""


def lines(found: Weighing) -> list[str]:
    """What a reader must know of the prices."""
    told = [
        f"{numbers.count(found.rounds, 'round')} of {numbers.count(found.slices, 'slice')} of "
        f"{found.slice_s * 1000:.0f} ms for each way; "
        f"rows of {found.row_bytes:,} bytes{_service(found)}; 95% intervals over the rounds; "
        f"{found.seconds:.0f} s in all",
        f"the hypervisor took {numbers.share(found.steal)} of the CPU time; other programs used "
        f"{found.other_cores:.2g} cores; {numbers.count(found.late, 'slice')} late; servers and "
        f"clients {'had a CPU each' if found.pinned else 'shared all CPUs'}; servers "
        f"{'stood still' if found.frozen else 'went on running'} between their slices; idle CPUs: "
        f"{found.idle_cpus}",
    ]
    told += doubts(found)
    told += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    return [*told, CANNOT_TELL]


def doubts(found: Weighing) -> list[str]:
    """What speaks against these prices."""
    told = []
    if found.other_cores > BUSY_CORES:
        told.append(f"not valid: other programs disturbed it: {STOP_THEM}, then again")
    if found.stood_still:
        told.append(f"not valid: {STOOD_STILL.format(gap_s=found.gap_s)}, then again")
    again = next((one for one in found.prices if one.way == "native again"), None)
    unlike = [
        name
        for name, one in (
            ("CPU time", again.added if again else None),
            ("round trip", again.round_trip_added if again else None),
        )
        if one is not None and _beyond_chance(one, found.rounds - 1)
    ]
    if unlike:
        told.append(
            f"not valid: native again is not the same as native ({' and '.join(unlike)}); trust "
            "nothing that small"
        )
    return told


def _beyond_chance(interval: Interval, df: int) -> bool:
    """Whether it excludes 0 with 99.9%: one in twenty of the shown ones does by chance."""
    amount = amount_of(interval, df)
    return abs(amount.value) > float(special.stdtrit(df, 0.9995)) * amount.error


def csv_text(found: Weighing) -> str:
    """A way with so many in flight per line; values, and the ends of their 95% intervals."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ("demand", "added", "round_trip", "round_trip_added")
    ends = ("", "_low", "_high")
    heads = [f"{column}_us{end}" for column in columns for end in ends]
    writer.writerow(["way", "in_flight", "path", *heads, "packets"])
    for one in found.prices:
        known = [getattr(one, column) for column in columns]
        values = [x for c in known for x in ((c.value, c.low, c.high) if c else ("", "", ""))]
        packets = one.counts["packets"].value if "packets" in one.counts else ""
        writer.writerow([one.way, one.in_flight, one.path, *values, packets])
    return out.getvalue()
