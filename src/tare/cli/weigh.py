"""`tare weigh`: what one operation costs on each way to a server, without a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.databases.registry import USUAL as USUAL_DATABASE
from tare.runtimes.registry import BARE, CONTAINER, names

USUAL = (BARE, CONTAINER)
SECONDS, FURTHER_SECONDS, ORCHESTRATED_SECONDS = 86.0, 60.0, 150.0
"""for native and one container engine, each further engine, each orchestrator"""
VARIED_SECONDS = 110.0
"""for the same ways, each without and with TLS, or with answers of two sizes"""
TO_HOST_SECONDS = 10.0
"""extra, for the way from each engine's containers to a native server"""
LEAST_ROUNDS = 3
"""that of tare.analysis.part_prices, which loads libraries"""
ROUNDS, ROW_BYTES = 5, 1000
IN_FLIGHT = (1, 32)


def command(
    runtimes: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(names())}: what to weigh; nothing: the first two. "
            f"{BARE.capitalize()} is always weighed, as the others are compared with it.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="How long each of ways, connections and bytes may take; nothing: 86 for "
            "ways, 110 for the others; 60 more for each further engine of containers, 150 for each "
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
    database: Annotated[
        str,
        typer.Option(
            help="Whose protocol: cassandra (CQL, all operations on one connection) or mongodb "
            "(OP_MSG, a connection for each operation at once).",
        ),
    ] = USUAL_DATABASE,
    row_bytes: Annotated[
        int, typer.Option(help="Size of the row in each answer, bytes.", min=10, max=1_000_000)
    ] = ROW_BYTES,
    service_us: Annotated[
        float, typer.Option(help="A server takes so long for each operation, microseconds.", min=0)
    ] = 0.0,
    what: Annotated[
        str,
        typer.Option(
            help="What to weigh, with commas: network (ways to a server), working (the same to a "
            "server that works for each request, as a database does), connection (a new one on "
            "each way), bytes (each further kilobyte of an answer), system (calls), storage, "
            "machine, name (resolution), start (of a unit).",
            metavar="PARTS",
        ),
    ] = "network",
    to_host: Annotated[
        bool,
        typer.Option(
            "--to-host",
            help="Also weigh the way of a client in a container to a server on the host, of each "
            "engine of containers; ten seconds more for each.",
        ),
    ] = False,
    hosts: Annotated[
        Path | None,
        typer.Option(
            help="Servers run on a host of this inventory, reached over SSH; clients here "
            "(docs/weigh.md).",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            help="Of the inventory (TARE_INVENTORY, or --hosts): servers run on the first host of "
            "this group. Nothing: on the first that takes database nodes.",
            metavar="NAME",
            show_default=False,
        ),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print a table, a way or an operation per line.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Also write one page of HTML that needs nothing but itself.",
            metavar="FILE",
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Weigh the ways to a server: CPU time of an operation, without a database, in two minutes.

    With --what also servers that work, connections, kilobytes, system calls, storage and more.

    With --hosts the servers run on another machine, and the network between is part of the price.

    Prices that are weighed as usual are kept for the bills of later runs and for tare advise.
    Exit status 3: other programs ran, or native again differed from native.
    """
    from tare.cli.weighing import WeighingRequest, host_of, refuse_unspoken, show

    refuse_unspoken(database)
    flights = tuple(sorted(set(in_flight or ())))
    wanted = WeighingRequest(
        runtimes, seconds, rounds, flights, row_bytes, service_us, database,
        host_of(hosts, group), to_host,
    )  # fmt: skip
    raise typer.Exit(show(what, wanted, json=json, csv=csv, html=html))
