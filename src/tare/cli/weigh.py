"""`tare weigh`: what one operation costs on each way to a server, without a database."""

from __future__ import annotations

import csv as csv_module
import io
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tare.cli.console import say, say_document, say_json, table_console
from tare.cli.quiet import STOP_THEM
from tare.cli.report import NOT_VALID, only_one
from tare.machines.facts import local_facts
from tare.monitor.quiet import BUSY_CORES
from tare.records.quiet import Machine, keep
from tare.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.records.prices import Interval, Weighing

LEAST_ROUNDS = 3
USUAL = ("native", "docker")
SECONDS, ORCHESTRATED_SECONDS = 118.0, 150.0
ROUNDS, ROW_BYTES = 5, 1000
IN_FLIGHT = (1, 32)
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


def command(
    runtimes: Annotated[
        list[str] | None,
        typer.Argument(
            help="native, docker, kubernetes, swarm: what to weigh; nothing: the first two. Native "
            "is always weighed, as the others are compared with it.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="How long it may take; nothing: two minutes, and as much and a half for each "
            "orchestrator.",
            min=10,
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Each with new servers and clients.", min=LEAST_ROUNDS)
    ] = ROUNDS,
    in_flight: Annotated[
        list[int] | None,
        typer.Option(
            help="Operations at once: with 1, answers come one at a time; with more, one packet "
            "carries several. May be given more than once; nothing: 1 and 32.",
            min=1,
            show_default=False,
        ),
    ] = None,
    row_bytes: Annotated[
        int, typer.Option(help="Size of the row in each answer, bytes.", min=10, max=1_000_000)
    ] = ROW_BYTES,
    service_us: Annotated[
        float, typer.Option(help="A server takes so long for each operation, microseconds.", min=0)
    ] = 0.0,
    json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print a table, a way per line.")] = False,
) -> None:
    """Weigh the ways to a server: CPU time of an operation, without a database, in two minutes.

    Example: tare weigh docker --in-flight 32
    """
    only_one(json=json, csv=csv)
    found = weigh_and_keep(
        (lambda line: None) if json or csv else say,
        runtimes,
        seconds,
        rounds,
        in_flight=tuple(sorted(set(in_flight or IN_FLIGHT))),
        row_bytes=row_bytes,
        service_us=service_us,
    )
    if json:
        say_json(found.model_dump_json(indent=1))
    elif csv:
        say_document(csv_text(found))
    else:
        table_console().print(table(found))
        for line in lines(found):
            say(line)
    if doubts(found):
        raise typer.Exit(NOT_VALID)


def weigh_and_keep(
    say: Callable[[str], None],
    runtimes: Sequence[str] | None = None,
    seconds: float | None = None,
    rounds: int = ROUNDS,
    *,
    in_flight: tuple[int, ...] = IN_FLIGHT,
    row_bytes: int = ROW_BYTES,
    service_us: float = 0.0,
) -> Weighing:
    """Weigh, and keep in the cache for the bills of later runs what was weighed as usual.

    Raises:
        TareError: as `tare.lab.weighing.weigh` and `tare.analysis.prices.prices`.
    """
    from tare.analysis.prices import prices  # these take a second to import
    from tare.lab.weighed_servers import ORCHESTRATORS
    from tare.lab.weighing import weigh

    asked = list(runtimes or USUAL)
    orchestrated = sum(one in ORCHESTRATORS for one in asked)
    weighed = weigh(
        asked,
        SECONDS + ORCHESTRATED_SECONDS * orchestrated if seconds is None else seconds,
        rounds,
        in_flight=in_flight,
        row_bytes=row_bytes,
        service_us=service_us,
        say=say,
    )
    found = prices(weighed, Machine.of(local_facts()))
    if set(USUAL) <= set(asked) and (in_flight, row_bytes, service_us) == (
        IN_FLIGHT,
        ROW_BYTES,
        0.0,
    ):
        keep(found)
    return found


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
    again = next((one.added for one in found.prices if one.way == "native again"), None)
    if again is not None and not again.low <= 0 <= again.high:
        told.append("not valid: native again is not the same as native; trust nothing that small")
    return told


def csv_text(found: Weighing) -> str:
    """A way with so many in flight per line; values, and the ends of their 95% intervals."""
    out = io.StringIO()
    writer = csv_module.writer(out, lineterminator="\n")
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
