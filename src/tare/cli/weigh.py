"""`tare weigh`: what one operation costs on each way to a server, without a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tare.cli import weigh_parts
from tare.cli.console import say, say_json, table_console
from tare.cli.quiet import STOP_THEM
from tare.errors import UsageError
from tare.machines.facts import local_facts
from tare.monitor.quiet import BUSY_CORES
from tare.records.quiet import Machine
from tare.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.records.prices import Interval, Weighing

LEAST_ROUNDS = 3
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
        typer.Argument(help="native, docker: what to weigh; nothing: both.", show_default=False),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long it may take.", min=10)] = 115,
    rounds: Annotated[
        int, typer.Option(help="Each with new servers and clients.", min=LEAST_ROUNDS)
    ] = 5,
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
    ] = 1000,
    service_us: Annotated[
        float, typer.Option(help="A server takes so long for each operation, microseconds.", min=0)
    ] = 0.0,
    what: Annotated[
        str,
        typer.Option(
            help="What to weigh: of network, system (calls), storage and machine, with commas.",
            metavar="PARTS",
        ),
    ] = "network",
    json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Weigh the ways to a server: CPU time of an operation, without a database, in two minutes.

    Example: tare weigh docker --in-flight 32
    """
    from tare.analysis.prices import prices  # these take a second to import
    from tare.lab.weighing import RUNTIMES, weigh

    wanted = weigh_parts.parse(what)
    if json and len(wanted) > 1 and wanted[0] == weigh_parts.What.NETWORK:
        raise UsageError(
            f"--json with --what {what}",
            why="the prices of ways and those of other parts are two documents",
            remedy="give the command with --what network, and again with the other parts",
        )
    telling = (lambda line: None) if json else say
    if wanted[0] != weigh_parts.What.NETWORK:
        _weigh_parts(wanted, runtimes or RUNTIMES, rounds, telling, json=json)
        return
    weighed = weigh(
        runtimes or RUNTIMES,
        seconds,
        rounds,
        in_flight=sorted(set(in_flight or IN_FLIGHT)),
        row_bytes=row_bytes,
        service_us=service_us,
        say=telling,
    )
    found = prices(weighed, Machine.of(local_facts()))
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    table_console().print(table(found))
    for line in lines(found):
        say(line)
    if len(wanted) > 1:
        _weigh_parts(wanted, runtimes or RUNTIMES, rounds, telling, json=json)


def _weigh_parts(
    wanted: Sequence[weigh_parts.What],
    runtimes: Sequence[str],
    rounds: int,
    telling: Callable[[str], None],
    *,
    json: bool,
) -> None:
    found = weigh_parts.weigh(wanted, runtimes, rounds, telling)
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    table_console().print(weigh_parts.table(found))
    for line in weigh_parts.lines(found):
        say(line)


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
    if found.other_cores > BUSY_CORES:
        told.append(f"note: other programs disturbed it: {STOP_THEM}, then again")
    told += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    again = next((one.added for one in found.prices if one.way == "native again"), None)
    if again is not None and not again.low <= 0 <= again.high:
        told.append("note: native again is not the same as native: do not trust what is smaller")
    return [*told, CANNOT_TELL]
