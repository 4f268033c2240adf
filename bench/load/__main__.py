"""Measures the cost of load generators against one real Cassandra node.

    python -m bench.load                     all generators: half an hour, and the first time as
                                             long again for fetching and building them
    python -m bench.load --tools floor latte --blocks 2 --seconds 6

One node (Tare's own locked Cassandra) has a CPU; clients run one by one on another CPU, in a new
random order per block. Needs 2 CPUs and 3 GB of memory. The other tools need cargo, go, mvn and a
JDK, which fetch them from their package registries. Writes FILE.json and FILE.md.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.command import machine, parser, say
from bench.load import instructions, server
from bench.load.clients import CLIENTS, ROW_BYTES, Client, Load, ready
from bench.load.compare import medians, ratios
from bench.load.measure import Cpus, Run, execute, measure
from bench.load.page import BASE, inserted, markdown
from bench.load.warm import flat, warm
from tare.databases.cassandra.configuration import NATIVE_PORT
from tare.databases.cassandra.session import Session, connect
from tare.errors import LoadError, TareError
from tare.machines.awake import awake

AGAIN = 2
"""times that a run is repeated in which the host left no second undisturbed"""


def main() -> int:
    """Exit status 0 done, 1 failed, 2 wrong usage."""
    arguments = _parser().parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="tare-bench-load-"))
    try:
        with awake() as why_not:
            if why_not:
                say(f"idle CPUs halt as usual: {why_not}")
            document = _compare(arguments, scratch)
    except TareError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    finally:
        if not arguments.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    text = markdown(document)
    arguments.out.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    arguments.out.with_suffix(".md").write_text(text, "utf-8")
    if arguments.into is not None:
        page = arguments.into.read_text("utf-8")
        arguments.into.write_text(inserted(page, text), "utf-8")
    print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser("bench.load", __doc__)
    add = made.add_argument
    add("--tools", nargs="+", choices=CLIENTS, default=list(CLIENTS), help="clients to measure")
    add("--blocks", type=int, default=10, help="number of runs of each client")
    add("--seconds", type=int, default=20, help="length of a run (at least 5)")
    add("--rows", type=int, default=100_000, help="rows in every table")
    add("--in-flight", type=int, default=64, help="operations in flight")
    add("--warm-up", type=int, default=20, help="most bursts of 15 s for warm-up")
    add("--address", default="127.0.8.1", help="loopback address of the node")
    add("--server-cpus", default="0", help="the node's CPUs, as for taskset")
    add("--client-cpus", default="1", help="the clients' CPUs, as for taskset")
    add("--seed", type=int, default=1, help="seed of the order in the blocks")
    add("--instructions", action="store_true", help="also count instructions, with valgrind")
    add("--out", type=Path, default=Path("bench-load"), help="output file, without suffix")
    add("--into", type=Path, help="page to insert the tables into, such as docs/performance.md")
    add("--keep", action="store_true", help="keep the scratch directory with all output")
    return made


def _compare(arguments: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    if arguments.seconds < 5 or arguments.blocks < 1:
        raise LoadError("runs are at least 5 s long, and there is at least one block")
    names = [name for name in CLIENTS if name in {*arguments.tools, "floor", BASE}]
    load = Load(arguments.address, arguments.rows, arguments.in_flight)
    began, host = datetime.now(UTC), machine()
    clients = {name: ready(name, load, scratch, say) for name in names}
    home, cpus = scratch / "node", arguments.server_cpus
    node = server.start(arguments.address, home, cpus)
    try:
        _fill(clients, arguments, scratch)
        # What was written is on disk after this, for every table alike.
        node.stop()
        node = server.start(arguments.address, home, cpus, again=True)
        with connect(arguments.address, NATIVE_PORT) as session:
            warmth, runs = _blocks(clients, arguments, node, session, scratch)
        counted = _instructions(clients, arguments, scratch) if arguments.instructions else {}
    finally:
        node.stop()
    compared = ratios(runs, BASE)
    return {
        "began": began.isoformat(timespec="seconds"),
        "machine": host,
        "cassandra": node.version,
        "cpus": {"server": cpus, "client": arguments.client_cpus},
        "load": {"rows": load.rows, "row_bytes": ROW_BYTES, "in_flight": load.in_flight},
        "blocks": arguments.blocks,
        "seconds": arguments.seconds,
        "seed": arguments.seed,
        "versions": {name: client.version for name, client in clients.items()},
        "warm_up_server_cpu_us": warmth,
        "flat": flat(warmth),
        "medians": medians(runs),
        "ratios": {
            name: {metric: None if one is None else asdict(one) for metric, one in own.items()}
            for name, own in compared.items()
        },
        "instructions": counted,
        "runs": {name: [run.document() for run in own] for name, own in runs.items()},
    }


def _fill(clients: dict[Any, Client], arguments: argparse.Namespace, scratch: Path) -> None:
    with connect(arguments.address, NATIVE_PORT) as session:
        # The others make their own, and go-ycsb its own table, too.
        for keyspace in ("bench_tare", "bench_ycsb", "bench_go_ycsb"):
            session.execute(
                f"CREATE KEYSPACE {keyspace} WITH replication ="
                " {'class': 'SimpleStrategy', 'replication_factor': 1}"
            )
        for keyspace in ("bench_tare", "bench_ycsb"):
            session.execute(
                f"CREATE TABLE {keyspace}.usertable (y_id varchar PRIMARY KEY, field0 varchar)"
            )
    for name, client in clients.items():
        say(f"filling the table of {name}")
        for number, command in enumerate(client.fill):
            log = scratch / f"fill-{name}-{number}.log"
            execute(command, arguments.client_cpus, log)


def _blocks(
    clients: dict[Any, Client],
    arguments: argparse.Namespace,
    node: server.Server,
    session: Session,
    scratch: Path,
) -> tuple[list[float], dict[str, list[Run]]]:
    """The warm-up, one block that is thrown away, and the measured blocks."""
    cpus = Cpus(arguments.server_cpus, arguments.client_cpus)
    burst = clients["floor"]
    warmth = warm(burst, arguments.warm_up, cpus, node, session, scratch, say)
    order = random.Random(arguments.seed)  # noqa: S311 - an order, not a secret
    runs: dict[str, list[Run]] = {name: [] for name in clients}
    for block in range(arguments.blocks + 1):
        for name in order.sample(sorted(clients), len(clients)):
            run = measure(clients[name], arguments.seconds, cpus, node, session, scratch)
            for _ in range(AGAIN if block > 0 else 0):
                if not run.disturbed:
                    break
                say(f"{name}: the host took CPU time all along; once more")
                run = measure(clients[name], arguments.seconds, cpus, node, session, scratch)
            what = "not counted" if block == 0 else f"of {arguments.blocks}"
            say(f"block {block} {what}: {name} {run.per_second:,.0f}/s, {run.cpu_us:.2f} us/op")
            if block > 0:
                runs[name].append(run)
    return warmth, runs


def _instructions(
    clients: dict[Any, Client], arguments: argparse.Namespace, scratch: Path
) -> dict[str, float]:
    if not instructions.available():
        say("no valgrind here: instructions are not counted")
        return {}
    counted = {}
    for name in instructions.NATIVE:
        if name in clients:
            say(f"counting the instructions of {name}")
            try:
                client = clients[name]
                counted[name] = instructions.per_operation(client, arguments.client_cpus, scratch)
            except LoadError as error:
                say(f"{name}: {error}")
    return counted


if __name__ == "__main__":
    sys.exit(main())
