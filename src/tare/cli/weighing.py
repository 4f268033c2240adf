"""Weighs, keeps usual weighings for the bills of later runs, and shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.price_doubts import doubts, part_doubts
from tare.analysis.prices import prices
from tare.cli import weigh_parts
from tare.cli.console import say, say_document, say_json, table_console
from tare.cli.finish import NOT_VALID, near, only_one
from tare.cli.prices_text import csv_text, lines, not_valid, notes, table
from tare.cli.weigh import (
    FURTHER_SECONDS,
    IN_FLIGHT,
    ORCHESTRATED_SECONDS,
    ROUNDS,
    ROW_BYTES,
    SECONDS,
    TO_HOST_SECONDS,
    USUAL,
    VARIED_SECONDS,
)
from tare.cli.weigh_parts import What
from tare.databases.registry import USUAL as USUAL_DATABASE
from tare.databases.registry import names
from tare.enumeration import listing
from tare.errors import RecordError, UsageError
from tare.lab.weighed_servers import ORCHESTRATORS
from tare.lab.weighing import weigh
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine, keep
from tare.records.part_prices import keep_parts
from tare.report.prices_page import part_sections, render_prices, ways_section
from tare.runtimes.registry import BARE, having
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tare.databases.names import DatabaseName
    from tare.lab.weighed_hosts import WeighedHost
    from tare.records.part_prices import PartWeighing
    from tare.records.prices import Operation, Weighing
    from tare.report.prices_page import PricesSection

_OPERATIONS: dict[What, Operation] = {
    What.NETWORK: "request",
    What.WORKING: "working",
    What.CONNECTION: "connection",
    What.BYTES: "kilobyte",
}
_KEPT = ("request", "working", "kilobyte")
_USUALLY = f"what was weighed of {listing(USUAL)} together, with the usual options"
"""what bills and `tare advise` use"""


@dataclass(frozen=True)
class WeighingRequest:
    """What to weigh, and how.

    Attributes:
        runtimes: None: the usual ones.
        seconds: None: the usual time.
        in_flight: empty: the usual numbers.
        on: the host over SSH that servers run on; None: this machine.
        to_host: clients in containers reach a native server, too.
    """

    runtimes: Sequence[str] | None = None
    seconds: float | None = None
    rounds: int = ROUNDS
    in_flight: tuple[int, ...] = ()
    row_bytes: int = ROW_BYTES
    service_us: float = 0.0
    database: DatabaseName = USUAL_DATABASE
    on: WeighedHost | None = None
    to_host: bool = False

    def usual(self) -> bool:
        """Whether later runs may use the result for this machine, or for the host."""
        alike = replace(
            self, runtimes=None, in_flight=self.in_flight or IN_FLIGHT, on=None, to_host=False
        )
        usual = WeighingRequest(in_flight=IN_FLIGHT, database=self.database)
        return alike == usual and set(USUAL) <= set(self.runtimes or USUAL)


USUALLY = WeighingRequest()


def host_of(hosts: Path | None, group: str) -> WeighedHost | None:
    """The requested host; None: this machine.

    Args:
        hosts: an inventory; None: the one in TARE_INVENTORY, if a group is named.

    Raises:
        InventoryError: it cannot be read, or has no such host.
        UsageError: a group without an inventory.
    """
    if hosts is None and not group:
        return None
    from tare.lab.weighed_hosts import first_host
    from tare.machines.inventory.read import named_inventory, read_inventory

    inventory = read_inventory(hosts) if hosts is not None else named_inventory()
    if inventory is None:
        raise UsageError(
            f"--group {group} is a group of no inventory",
            why="neither --hosts nor TARE_INVENTORY names a file",
            remedy=f"tare weigh --hosts hosts.yaml --group {group}",
        )
    return first_host(inventory, group)


def refuse_unspoken(database: str) -> None:
    """Refuse a database whose protocol Tare does not speak.

    Raises:
        UsageError: the database is unknown.
    """
    if database not in names():
        raise UsageError(
            f"--database {database}",
            why=f"prices are of the protocol of {' or '.join(names())}",
            remedy=f"tare weigh --database {names()[-1]}",
        )


def show(what: str, wanted: WeighingRequest, *, json: bool, csv: bool, html: Path | None) -> int:
    """Weigh and print; returns the exit status for the prices.

    Args:
        what: the parts, with commas.
        html: the file for a page of all results.

    Raises:
        UsageError: they cannot be told together, or in this form.
    """
    only_one(json=json, csv=csv)
    named = weigh_parts.parse(what)
    parts = [one for one in named if one not in _OPERATIONS]
    _refuse(named, wanted, json=json, csv=csv)
    tell = (lambda line: None) if json or csv else say
    sections: list[PricesSection] = []
    found: Weighing | PartWeighing | None = None
    doubtful = False
    for one in named:
        if one in _OPERATIONS:
            found = weigh_and_keep(tell, wanted, _OPERATIONS[one])
            _print(found, json=json, csv=csv)
            against = not_valid(found)
            sections.append(ways_section(found, against, notes(found)))
            doubtful = doubtful or bool(against)
    if parts:
        found = weigh_and_keep_parts(parts, wanted.runtimes or USUAL, wanted.rounds, tell)
        _show_parts(found, json=json, csv=csv)
        sections += part_sections(found, weigh_parts.lines(found))
    if html is not None and found is not None:
        _write(html, render_prices(sections, found.machine, f"{found.made:%Y-%m-%d %H:%M} UTC"))
        tell(f"page: {near(html)}")
    return NOT_VALID if doubtful else 0


def _refuse(named: Sequence[What], wanted: WeighingRequest, *, json: bool, csv: bool) -> None:
    """Refuse several documents in one output, and options that do not go together."""
    ways = [one for one in named if one in _OPERATIONS]
    documents = len(ways) + (len(named) > len(ways))
    if (json or csv) and documents > 1:
        raise UsageError(
            f"{'--csv' if csv else '--json'} with --what {','.join(named)}",
            why="the prices of ways, of connections, of kilobytes and of all other parts are a "
            "document each",
            remedy="give the command for each, such as --what network and --what system,storage",
        )
    parts = [one for one in named if one not in _OPERATIONS]
    if wanted.on is not None and wanted.to_host:
        raise UsageError(
            "--to-host with --hosts",
            why="clients run on this machine, and servers on the host",
            remedy="give them one at a time",
        )
    if wanted.on is not None and parts:
        raise UsageError(
            f"--what {','.join(parts)} is not weighed on hosts",
            why="single operations are timed in turns that the machine itself keeps",
            remedy=f"install Tare on {wanted.on.host} and give `tare weigh --what "
            f"{','.join(parts)}` there",
        )
    alone = [one for one in ways if one != What.NETWORK]
    by_cql = [one for one in alone if one != What.WORKING]
    if by_cql and wanted.database != USUAL_DATABASE:
        raise UsageError(
            f"--what {','.join(by_cql)} --database {wanted.database}",
            why="new connections and further kilobytes are weighed by CQL alone, so far",
            remedy="give them without --database, and the rest again with it",
        )
    if ways and ways == alone and wanted.in_flight not in ((), (1,)):
        raise UsageError(
            "connections, kilobytes and servers that work are weighed with one operation at a time",
            why=f"--in-flight {' --in-flight '.join(map(str, wanted.in_flight))}",
            remedy="leave --in-flight out, or add network to --what",
        )


def _write(page: Path, text: str) -> None:
    try:
        replace_file(page, text)
    except OSError as error:
        raise RecordError(
            "the page of prices cannot be written",
            where=str(page),
            why=error.strerror or str(error),
            remedy="name a file in a directory that there is",
        ) from error


def _print(found: Weighing, *, json: bool, csv: bool) -> None:
    if json:
        say_json(found.model_dump_json(indent=1))
    elif csv:
        say_document(csv_text(found))
    else:
        table_console().print(table(found))
        for line in lines(found):
            say(line)


def _show_parts(found: PartWeighing, *, json: bool, csv: bool) -> None:
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    if csv:
        say_document(weigh_parts.csv_text(found))
        return
    table_console().print(weigh_parts.table(found))
    for line in weigh_parts.lines(found):
        say(line)


def weigh_and_keep_parts(
    parts: Sequence[What],
    runtimes: Sequence[str],
    rounds: int,
    say: Callable[[str], None],
) -> PartWeighing:
    """Weigh parts; keep a usual, complete and undisturbed weighing for the bills of
    later runs, with storage only if all files were on one device.

    Raises:
        TareError: as `tare.lab.microbenchmarks.weigh_parts`.
    """
    found = weigh_parts.weigh(parts, runtimes, rounds, say)
    usual = rounds == ROUNDS and set(USUAL) <= set(runtimes)
    kept = weigh_parts.billable(found)
    if usual and kept and not part_doubts(found):
        _keep(found, lambda: keep_parts(kept), say)
    return found


def weigh_and_keep(
    say: Callable[[str], None],
    wanted: WeighingRequest = USUALLY,
    operation: Operation = "request",
) -> Weighing:
    """Weigh; keep a usual, complete weighing without doubts in the cache for the bills of later
    runs.

    Raises:
        TareError: as `tare.lab.weighing.weigh` and `tare.analysis.prices.prices`.
    """
    asked = list(wanted.runtimes or USUAL)
    requests = operation == "request"
    orchestrators = sum(one in ORCHESTRATORS for one in asked)
    engines = len({*asked} - {BARE}) - orchestrators
    usual_s = VARIED_SECONDS if operation in ("connection", "kilobyte") else SECONDS
    usual_s += FURTHER_SECONDS * max(engines - 1, 0) + ORCHESTRATED_SECONDS * orchestrators
    bridged = {*asked} & {*having(lambda one: one.bridged_here)}
    usual_s += TO_HOST_SECONDS * len(bridged) * wanted.to_host
    weighed = weigh(
        asked,
        usual_s if wanted.seconds is None else wanted.seconds,
        wanted.rounds,
        in_flight=(wanted.in_flight or IN_FLIGHT) if requests else (1,),
        row_bytes=wanted.row_bytes,
        service_us=wanted.service_us,
        database=wanted.database,
        operation=operation,
        to_host=wanted.to_host,
        on=wanted.on,
        say=say,
    )
    found = prices(weighed, weighed.machine or MeasuredMachine.of(local_facts()))
    if operation in _KEPT and not wanted.usual():
        uses = "bills of later runs" if wanted.on is None else "tare findings prices --host"
        say(f"not kept for {uses}, which take {_USUALLY}")
    elif operation in _KEPT and not doubts(found):
        _keep(found, lambda: keep(found), say)
    return found


def _keep(
    found: Weighing | PartWeighing, write: Callable[[], object], say: Callable[[str], None]
) -> None:
    """Keep the prices in the cache if no usual runtime was left out."""
    if not set(USUAL) & found.left_out.keys():
        try:
            write()
        except RecordError as error:
            say(f"not kept for later runs: {error.what}, {error.why}")
