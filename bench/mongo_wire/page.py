"""The comparison as Markdown tables, with the criteria of the issue and of decision 0015."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.load.compare import ratio
from bench.load.page import interval
from bench.mongo_wire.clients import CLIENTS, OPERATIONS, TITLES
from bench.mongo_wire.measure import LEAST_S, SERVICE_US

BASE, OTHER = "tare", "driver"
MOST = 2.0
"""How often our CPU time per operation the official driver's may be, to take our code's place."""
FULL = 0.95
"""Share of its CPU from which on a program is held up by nothing else."""
_STAYS = "So our protocol code stays."

Runs = Sequence[Mapping[str, Any]]


def of(
    runs: Runs, client: str, operation: str, connections: int, *, timed: bool
) -> list[Mapping[str, Any]]:
    """One client's runs of one kind, by round."""
    wanted = (client, operation, connections, timed)
    names = ("client", "operation", "connections", "timed")
    found = [run for run in runs if tuple(run[name] for name in names) == wanted]
    return sorted(found, key=lambda run: int(run["round"]))


def median(runs: Runs, metric: str) -> float:
    """Of one metric over the rounds."""
    return statistics.median(float(run[metric]) for run in runs)


def paired(runs: Runs, client: str, operation: str, connections: int) -> dict[str, float | None]:
    """CPU time per operation over ours in the same round, where the stub answers at once."""
    mine, own = (of(runs, name, operation, connections, timed=False) for name in (BASE, client))
    found = ratio([one["cpu_us"] for one in own], [one["cpu_us"] for one in mine])
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def is_limit(own: Runs) -> bool:
    """The client's CPU is full, and the server's is not."""
    return median(own, "client_busy") >= FULL > median(own, "server_busy")


def markdown(document: Mapping[str, Any]) -> str:
    """All of it."""
    return "\n".join([*_facts(document), "", *_table(document["runs"]), "", *decided(document)])


def _facts(document: Mapping[str, Any]) -> Iterator[str]:
    machine, runs = document["machine"], document["runs"]
    versions = ", ".join(f"{TITLES[name]} {one}" for name, one in document["versions"].items())
    rounds = len({run["round"] for run in runs})
    yield (
        f"{document['began'][:10]}; {machine['processor']}, {machine['cpus']} CPUs, Linux"
        f" {machine['kernel']}; stub on CPU 0, client on CPU 1; documents of ten fields of 100"
        f" bytes, updates of one; medians of {rounds} interleaved rounds of {document['seconds']} s"
        f" a run, of which the second half counts. {versions}."
    )
    disturbed = sum(run["undisturbed_s"] < LEAST_S for run in runs)
    if disturbed:
        yield f"In {disturbed} of {len(runs)} runs others worked on the client's CPU all along."


def _table(runs: Runs) -> Iterator[str]:
    yield (
        "| operation | connections | client | operations/s | client CPU us/operation |"
        " of ours | CPU of client, stub | latency off by, us: p50, p99 |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for operation in OPERATIONS:
        for connections in SERVICE_US:
            for client in CLIENTS:
                own = of(runs, client, operation, connections, timed=False)
                if own:
                    clocked = of(runs, client, operation, connections, timed=True)
                    yield _row(runs, own, clocked)


def _row(runs: Runs, own: Runs, clocked: Runs) -> str:
    client, operation = str(own[0]["client"]), str(own[0]["operation"])
    connections = int(own[0]["connections"])
    busy = ", ".join(f"{median(own, f'{one}_busy'):.0%}" for one in ("client", "server"))
    quantiles = ("p50", "p99") if clocked else ()
    off = ", ".join(f"{median(clocked, f'{one}_off_us'):+,.0f}" for one in quantiles)
    cells = [
        operation,
        str(connections),
        TITLES[client],
        f"{median(own, 'per_second'):,.0f}",
        f"{median(own, 'cpu_us'):.1f}",
        "1" if client == BASE else interval(paired(runs, client, operation, connections)),
        busy + (" (limit)" if is_limit(own) else ""),
        off,
    ]
    failed = sum(int(run["errors"]) for run in [*own, *clocked])
    cells[2] += f" (**{failed} errors**)" if failed else ""
    return f"| {' | '.join(cells)} |"


def decided(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether the official driver takes our code's place, by the two conditions."""
    runs: Runs = document["runs"]
    cells = [(operation, connections) for operation in OPERATIONS for connections in SERVICE_US]
    measured = [cell for cell in cells if of(runs, OTHER, *cell, timed=False)]
    if not measured:
        return
    costs = [paired(runs, OTHER, *cell)["estimate"] or 0.0 for cell in measured]
    cases = [of(runs, OTHER, *cell, timed=False) for cell in measured]
    cheap = max(costs) <= MOST
    yield (
        f"The official driver costs {min(costs):.1f} to {max(costs):.1f} times our CPU time; at"
        f" most {MOST:g}: {'yes' if cheap else 'no'}."
    )
    if any(run["undisturbed_s"] < LEAST_S for own in cases for run in own):
        yield "Whether it is ever the limit is not known: others worked on its CPU all along."
        yield "So nothing is decided." if cheap else _STAYS
        return
    limits = sum(map(is_limit, cases))
    yield (
        f"It is the limit before the stub's one CPU is in {limits} of {len(cases)} cases;"
        f" never: {'no' if limits else 'yes'}."
    )
    yield "So it goes in." if cheap and not limits else _STAYS
