"""The JSON specification that tare-load reads, made from one condition's setup."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Literal

from tare.load.workloads import mixes, schedule, workload
from tare.study.schema import Setup

POPULATE_THREADS = 64
"""operations in flight while the table is filled, or if the study's number is not yet known"""
INTERVAL_S = 1.0

Phase = Literal["populate", "warm", "measure"]


def specification(
    setup: Setup,
    *,
    name: str,
    client: str,
    targets: list[str],
    mongodb: str | None = None,
    reached: Mapping[str, str] = MappingProxyType({}),
    phase: Phase,
    seed: int,
    hlog: PurePath | None = None,
    start_at: float | None = None,
    longest_s: float = 0.0,
    inserted_before: int = 0,
) -> dict[str, Any]:
    """The specification of one client's run.

    Args:
        setup: the condition's resolved document; for trials with numbers for threads and rate.
        name: the name of the run in tare-load's output.
        client: unit name of the client, c1, c2, ...
        targets: host:port of the cluster's nodes, as the client reaches them.
        mongodb: connection string of a MongoDB deployment; None: it is a CQL cluster.
        reached: MongoDB member to host:port where this client reaches it, if not by its name.
        phase: populate fills the table; warm runs the load until it is stopped; measure is a
            trial.
        seed: seed of keys, operations and values.
        hlog: where the client writes its histograms, as the client sees it.
        start_at: Unix time at which several clients begin together.
        longest_s: bound of the warm phase, seconds.
        inserted_before: row numbers after the records that earlier loads of the table may use, so
            that YCSB inserts only rows that do not exist yet.
    """
    load = setup.load
    keyspace, _, table = load.table.partition(".")
    populate, measured = phase == "populate", phase == "measure"
    unsettled = load.sought is not None  # this is a warm-up or the search for its maximum
    made: dict[str, Any] = {
        "name": name,
        "client": client,
        "targets": targets,
        "keyspace": keyspace,
        "table": table or None,
        "workload": workload(setup),
        "phase": "populate" if populate else "run",
        "records": load.records,
        "threads": POPULATE_THREADS if populate or unsettled else load.threads,
        # the closed loop warms a server fastest, whatever loop the trials use
        "rate": _rate(setup) if measured and not unsettled else None,
        "arrivals": load.arrivals,
        "warmup_s": load.warmup if measured else 0.0,
        # populating ends with its last row; the field needs some time all the same
        "measure_s": longest_s if phase == "warm" else load.measured_s,
        "interval_s": INTERVAL_S,
        "start_at": start_at,
        "consistency": {
            "read": setup.database.consistency.read,
            "write": setup.database.consistency.write,
        },
        "timeout_s": load.timeout,
        "seed": seed,
        "hlog": str(hlog) if hlog else None,
        "validate": False,
    }
    if inserted_before and not populate and made["workload"]["kind"] == "ycsb":
        made["workload"]["inserted_before"] = inserted_before
    if mongodb is not None:
        made |= {"mongodb": mongodb, "stand_in": setup.database.stand_in}
        made |= {"reached": dict(reached)} if reached else {}
    return made | _over_time(setup) if measured and load.phases else made


def _rate(setup: Setup) -> float | None:
    """One client's rate, operations/s; None in a closed loop, and where phases give the rate."""
    load = setup.load
    if load.rate is None or load.phases:
        return None
    return load.each(load.rate, setup.clusters)


def _over_time(setup: Setup) -> dict[str, Any]:
    """Fields that only a load with phases has."""
    changing = mixes(setup.load)
    corners = schedule(setup.load, setup.clusters)
    return {"schedule": corners} | ({} if changing is None else {"mixes": changing})
