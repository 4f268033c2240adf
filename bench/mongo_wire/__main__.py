"""Measures what Tare's own MongoDB protocol code saves over the official driver, on one stub.

    python -m bench.mongo_wire                           three rounds: half an hour, plus the time
                                                         to fetch and build the other clients
    python -m bench.mongo_wire --rounds 1 --out wire     one more round into wire.json

Clients run one by one, in a new random order per round. Each reads and updates with 1, 16 and 256
connections: against a stub that answers at once, for the CPU time per operation and the greatest
throughput, and against a stub with a known service time, for the error of its latencies. The stub
has CPU 0, the client CPU 1. Needs 2 CPUs and cargo. The other clients need go, mvn and a JDK, which
fetch them from their package registries. An existing FILE.json is continued; FILE.md has the table.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.command import machine, parser, say
from bench.mongo_wire.clients import CLIENTS, OPERATIONS, Client, ready
from bench.mongo_wire.measure import SERVICE_US, Run, measure
from bench.mongo_wire.page import markdown
from tare.errors import LoadError, TareError

KINDS = ("cost", "clock")
"""A stub that answers at once, and one that takes a known time."""


def main() -> int:
    """Exit status 0 done, 1 failed, 2 wrong usage."""
    arguments = _parser().parse_args()
    try:
        document = _document(arguments)
        clients = [ready(name, say) for name in arguments.clients]
        document["versions"] |= {client.name: client.version for client in clients}
        for _ in range(arguments.rounds):
            for kind in arguments.kinds:
                _round(clients, kind, arguments, document)
                arguments.out.with_suffix(".json").write_text(
                    json.dumps(document, indent=1), "utf-8"
                )
    except TareError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    text = markdown(document)
    arguments.out.with_suffix(".md").write_text(f"{text}\n", "utf-8")
    print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser("bench.mongo_wire", __doc__)
    add = made.add_argument
    add("--clients", nargs="+", choices=CLIENTS, default=list(CLIENTS), help="clients to measure")
    add("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of runs per round")
    add("--rounds", type=int, default=3, help="number of rounds")
    add("--seconds", type=int, default=8, help="length of a run (at least 4)")
    add("--again", type=int, default=2, help="repeats of a run disturbed throughout")
    add("--out", type=Path, default=Path("mongo-wire"), help="output file, without suffix")
    return made


def _document(arguments: argparse.Namespace) -> dict[str, Any]:
    """What is there already, or a new one."""
    if arguments.seconds < 4 or arguments.rounds < 0:
        raise LoadError("runs are at least 4 s long")
    file = arguments.out.with_suffix(".json")
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if found["seconds"] != arguments.seconds:
            raise LoadError(
                "rounds of two lengths are not comparable",
                where=str(file),
                remedy=f"--seconds {found['seconds']}, or another --out",
            )
        return found
    return {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "seconds": arguments.seconds,
        "versions": {},
        "runs": [],
    }


def _round(
    clients: Sequence[Client], kind: str, arguments: argparse.Namespace, document: dict[str, Any]
) -> None:
    runs, timed = document["runs"], kind == "clock"
    number = 1 + max((run["round"] for run in runs if run["timed"] == timed), default=0)
    cells = list(itertools.product(OPERATIONS, SERVICE_US))
    order = random.Random(f"{kind} {number}")  # noqa: S311 - an order, not a secret
    done = []
    for operation, connections in order.sample(cells, len(cells)):
        for client in order.sample(list(clients), len(clients)):
            run = _run(client, operation, connections, timed, arguments)
            say(
                f"round {number}: {client.name} {operation} {connections} ({kind}):"
                f" {run.per_second:,.0f}/s, {run.cpu_us:.1f} us/op,"
                f" off {run.p50_off_us:+.0f} {run.p99_off_us:+.0f} us"
            )
            named = {"client": client.name, "operation": operation, "connections": connections}
            done.append(named | {"round": number, "timed": timed} | asdict(run))
    runs += done


def _run(
    client: Client, operation: str, connections: int, timed: bool, arguments: argparse.Namespace
) -> Run:
    for left in reversed(range(1 + arguments.again)):
        with tempfile.TemporaryDirectory(prefix="tare-mongo-wire-") as scratch:
            run = measure(
                client, operation, connections,
                timed=timed, seconds=arguments.seconds, scratch=Path(scratch),
            )  # fmt: skip
        if not run.disturbed or not left:
            break
        say(f"{client.name}: others worked on its CPU all along; once more")
    return run


if __name__ == "__main__":
    sys.exit(main())
