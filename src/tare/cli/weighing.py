"""Weighs, keeps what was weighed as usual for the bills of later runs, and shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.prices import prices
from tare.cli import weigh_parts
from tare.cli.console import say, say_document, say_json, table_console
from tare.cli.finish import NOT_VALID, only_one
from tare.cli.prices_text import csv_text, doubts, lines, table
from tare.cli.weigh import IN_FLIGHT, ORCHESTRATED_SECONDS, ROUNDS, ROW_BYTES, SECONDS, USUAL
from tare.cli.weigh_parts import What
from tare.errors import RecordError, UsageError
from tare.lab.weighed_servers import ORCHESTRATORS
from tare.lab.weighing import weigh
from tare.machines.facts import local_facts
from tare.records.quiet import Machine, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.records.part_prices import PartWeighing
    from tare.records.prices import Weighing


def show(
    what: str,
    runtimes: Sequence[str] | None,
    seconds: float | None,
    rounds: int,
    *,
    in_flight: tuple[int, ...],
    row_bytes: int,
    service_us: float,
    json: bool,
    csv: bool,
) -> int:
    """Weigh and print; the exit status that the prices deserve.

    Args:
        what: the parts, with commas.

    Raises:
        UsageError: they cannot be told together, or in this form.
    """
    only_one(json=json, csv=csv)
    wanted = weigh_parts.parse(what)
    network = What.NETWORK in wanted
    parts = [one for one in wanted if one != What.NETWORK]
    if parts and (csv or (json and network)):
        raise UsageError(
            f"{'--csv' if csv else '--json'} with --what {what}",
            why="the prices of ways and those of other parts are two documents, the first alone a "
            "table",
            remedy="give the command with --what network, and again with the other parts",
        )
    tell = (lambda line: None) if json or csv else say
    doubtful = False
    if network:
        found = weigh_and_keep(
            tell,
            runtimes,
            seconds,
            rounds,
            in_flight=in_flight,
            row_bytes=row_bytes,
            service_us=service_us,
        )
        _print(found, json=json, csv=csv)
        doubtful = bool(doubts(found))
    if parts:
        _show_parts(weigh_parts.weigh(parts, runtimes or USUAL, rounds, tell), json=json)
    return NOT_VALID if doubtful else 0


def _print(found: Weighing, *, json: bool, csv: bool) -> None:
    if json:
        say_json(found.model_dump_json(indent=1))
    elif csv:
        say_document(csv_text(found))
    else:
        table_console().print(table(found))
        for line in lines(found):
            say(line)


def _show_parts(found: PartWeighing, *, json: bool) -> None:
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    table_console().print(weigh_parts.table(found))
    for line in weigh_parts.lines(found):
        say(line)


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
    """Weigh, and keep in the cache for the bills of later runs what was weighed as usual, whole
    and without a doubt.

    Raises:
        TareError: as `tare.lab.weighing.weigh` and `tare.analysis.prices.prices`.
    """
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
    usual = seconds is None and rounds == ROUNDS and set(USUAL) <= set(asked)
    usual = usual and (in_flight, row_bytes, service_us) == (IN_FLIGHT, ROW_BYTES, 0.0)
    if usual and not doubts(found) and not set(USUAL) & found.left_out.keys():
        try:
            keep(found)
        except RecordError as error:
            say(f"not kept for later runs: {error.what}, {error.why}")
    return found
