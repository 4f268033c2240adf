"""The part of `tare weigh` that weighs system calls, storage, the machine, names and starts."""

from __future__ import annotations

import csv
import io
import math
from enum import StrEnum
from typing import TYPE_CHECKING, get_args

from rich.table import Table

from tare.analysis.part_prices import apart, part_prices, shown_of
from tare.analysis.prices import AGAIN
from tare.analysis.tariff import NATIVE
from tare.cli.background_load import STOP_THEM, disturbance
from tare.cli.prices_text import added
from tare.errors import UsageError
from tare.machines.facts import local_facts
from tare.monitor.background_load import BUSY_CORES
from tare.records.kept_measurements import MeasuredMachine
from tare.records.part_prices import WeighedPart
from tare.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from tare.records.part_prices import Cost, PartPrice, PartWeighing

HEADINGS = (
    "operation", "time", NATIVE, f"{AGAIN} over it", "on", f"over {NATIVE}", "percent"
)  # fmt: skip
LEFT = ("operation", "time", "on")
_UNITS = ((10_000_000, 1_000_000, "ms"), (10_000, 1000, "us"), (-math.inf, 1, "ns"))
"""from this number of nanoseconds on, a cost is shown in this unit of nanoseconds"""
STARTS_ARE = (
    "a start is timed from the order to the first answer of a server that needs no time itself; "
    "its image and its network are there before"
)
NAMES_ARE = (
    "names: native and docker.hosts find theirs in /etc/hosts, docker.dns asks the engine's own "
    "DNS server; CPU time is that of the caller and of the engine"
)
CANNOT_TELL = (
    "A price is of one operation that does nothing else, with warm caches, on one CPU of this "
    "machine. CPU time is that of the process: what the kernel's own threads write is in the time "
    "that passes alone. Disks were not made cold, and no two wrote at once."
)


class What(StrEnum):
    """What `tare weigh` weighs."""

    NETWORK = "network"
    WORKING = "working"
    CONNECTION = "connection"
    BYTES = "bytes"
    SYSTEM = "system"
    STORAGE = "storage"
    MACHINE = "machine"
    NAME = "name"
    START = "start"


def parse(text: str) -> list[What]:
    """The parts of --what, in the order in which they are weighed.

    Raises:
        UsageError: there is no such part, or none was named.
    """
    named = [one.strip() for one in text.split(",") if one.strip()]
    unknown = [one for one in named if one not in list(What)]
    if unknown or not named:
        raise UsageError(
            f"--what {text!r} names nothing that is weighed",
            why=f"{', '.join(unknown) or 'nothing'} is none of {', '.join(What)}",
            remedy=f"tare weigh --what {','.join(What)}",
        )
    return [one for one in What if one in named]


def weigh(
    what: Sequence[What],
    runtimes: Collection[str],
    rounds: int,
    say: Callable[[str], None],
) -> PartWeighing:
    """Measure these parts, natively and on these runtimes, and find their prices.

    Raises:
        TareError: as `tare.lab.microbenchmarks.weigh_parts` does.
    """
    from tare.lab.microbenchmarks import weigh_parts  # takes a second to import

    parts: list[WeighedPart] = [part for part in get_args(WeighedPart) if part in what]
    return part_prices(
        weigh_parts(parts, runtimes, rounds, say=say), MeasuredMachine.of(local_facts())
    )


def table(found: PartWeighing) -> Table:
    """The prices: an operation's CPU time or time that passes, native and on a platform, a row."""
    shown = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        shown.add_column(heading, justify="left" if heading in LEFT else "right")
    for clock, native, again, others in _compared(found):
        unit_ns, unit = scale(max(_cost(one, clock).ns.value for one in (native, *others)))
        places = digits(_cost(native, clock).ns.value / unit_ns)
        first = (
            native.title,
            "CPU" if clock == "cpu" else "passed",
            f"{_cost(native, clock).ns.value / unit_ns:.{places}f} {unit}",
            added(_cost(again, clock).added, places, unit_ns),
        )
        rows: list[PartPrice | None] = [*others] or [None]
        for number, one in enumerate(rows):
            cost = _cost(one, clock) if one else None
            shown.add_row(
                *(first if number == 0 else [""] * len(first)),
                one.platform if one else "",
                added(cost.added, places, unit_ns) if cost else "",
                added(cost.percent, 1) if cost else "",
            )
    return shown


def csv_text(found: PartWeighing) -> str:
    """One line per operation and platform: both times, and what is added to native's in nanoseconds
    and percent, each with the ends of its 95% interval; empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [
        f"{clock}_{name}{end}"
        for clock in ("cpu", "wall")
        for name in ("ns", "added_ns", "percent")
        for end in ("", "_low", "_high")
    ]
    writer.writerow(["what", "operation", "title", "platform", "rounds", *columns])
    for one in found.prices:
        known = [
            each for cost in (one.cpu, one.wall) for each in (cost.ns, cost.added, cost.percent)
        ]
        values = [x for c in known for x in ((c.value, c.low, c.high) if c else ("", "", ""))]
        writer.writerow([one.what, one.piece, one.title, one.platform, one.rounds, *values])
    return out.getvalue()


def lines(found: PartWeighing) -> list[str]:
    """What a reader must know about the prices."""
    told = [
        f"{numbers.count(found.rounds, 'round')} of {numbers.count(found.passes, 'turn')} for each "
        f"operation and platform, on CPU {found.cpu}; 95% intervals over the rounds; "
        f"{found.seconds:.0f} s in all",
        f"{disturbance(found.steal, found.other_cores)}; {found.late} of "
        f"{numbers.count(found.turns, 'turn')} late or too long, and left out; "
        f"idle CPUs: {found.idle_cpus}",
    ]
    weighed = {one.what for one in found.prices}
    told += [said for what, said in (("name", NAMES_ARE), ("start", STARTS_ARE)) if what in weighed]
    if found.file_systems:
        kinds = (f"{name}: {one.kind}" for name, one in found.file_systems.items())
        told.append(f"files of {', '.join(kinds)}")
    if places := elsewhere(found):
        told.append(
            f"note: files of {places} are not on the device of native's: set TMPDIR to a "
            "directory beside the engine's own, else two disks are compared; of these no price of "
            "storage is kept for bills"
        )
    if found.other_cores > BUSY_CORES:
        told.append(f"note: other programs disturbed it: {STOP_THEM}, then again")
    if fewer := [one for one in found.prices if one.rounds < found.rounds]:
        least: dict[str, int] = {}
        for one in fewer:
            least[one.title] = min(one.rounds, least.get(one.title, one.rounds))
        names = ", ".join(f"{title} ({rounds})" for title, rounds in least.items())
        told.append(f"fewer rounds, as their turns were late or too long in the others: {names}")
    told += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    if differing := apart(found):
        names = ", ".join(one.title for one in differing)
        told.append(
            f"note: native again is not the same as native: {names}; trust no smaller difference "
            "there (one interval of twenty misses by chance)"
        )
    return [*told, CANNOT_TELL]


def _compared(
    found: PartWeighing,
) -> Iterator[tuple[str, PartPrice, PartPrice, list[PartPrice]]]:
    """Each shown operation's clock, native, native again, and the other prices."""
    by_piece: dict[str, dict[str, PartPrice]] = {}
    for price in found.prices:
        by_piece.setdefault(price.piece, {})[price.platform] = price
    for piece, own in by_piece.items():
        others = [one for name, one in own.items() if name not in (NATIVE, AGAIN)]
        for clock in ("cpu", "wall"):
            if shown_of(piece) in (clock, "both"):
                yield clock, own[NATIVE], own[AGAIN], others


def elsewhere(found: PartWeighing) -> str:
    """Platforms whose files are on another device than native's. An overlay has its own device,
    which does not tell which disk holds it."""
    own = found.file_systems.get(NATIVE)
    return ", ".join(
        name
        for name, one in found.file_systems.items()
        if own and one.kind != "overlay" and one.device != own.device
    )


def billable(found: PartWeighing) -> PartWeighing | None:
    """The part that bills may use: no storage if two disks were compared; None: nothing."""
    return found.only("system") if elsewhere(found) else found


def _cost(price: PartPrice, clock: str) -> Cost:
    return price.cpu if clock == "cpu" else price.wall


def scale(largest: float) -> tuple[float, str]:
    """The unit for costs up to this one: its nanoseconds and its name."""
    return next((scale, unit) for least, scale, unit in _UNITS if largest >= least)


def digits(value: float) -> int:
    """Decimals that show a price with four figures."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 10 else 3
