"""What tare-load is told: a JSON specification made from one condition's setup."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Literal

from tare.errors import StudyError
from tare.study.schema import Setup

WORKLOADS: dict[str, dict[str, Any]] = {
    # YCSB core workloads A, B, C: ten fields of 100 bytes, (scrambled) zipfian
    "ycsb-a": {"kind": "ycsb", "read": 0.5, "update": 0.5},
    "ycsb-b": {"kind": "ycsb", "read": 0.95, "update": 0.05},
    "ycsb-c": {"kind": "ycsb", "read": 1.0, "update": 0.0},
    # cassandra-stress mixed, read and write on standard1: five columns of 34 bytes, gaussian
    "stress-mixed": {"kind": "stress", "read": 1.0, "write": 1.0},
    "stress-read": {"kind": "stress", "read": 1.0, "write": 0.0},
    "stress-write": {"kind": "stress", "read": 0.0, "write": 1.0},
}
_SHAPES: dict[str, dict[str, Any]] = {
    "ycsb": {"distribution": "zipfian", "fields": 10, "field_length": 100},
    "stress": {"distribution": "gaussian", "columns": 5, "column_size": 34},
}
POPULATE_THREADS = 64
"""operations in flight while the table is filled; not measured"""
INTERVAL_S = 1.0

Phase = Literal["populate", "warm", "measure"]


def specification(
    setup: Setup,
    *,
    name: str,
    client: str,
    targets: list[str],
    phase: Phase,
    seed: int,
    hlog: PurePath | None = None,
    start_at: float | None = None,
    longest_s: float = 0.0,
) -> dict[str, Any]:
    """The specification of one client's run.

    Args:
        setup: the condition's resolved document.
        name: what the run is called in tare-load's output.
        client: unit name of the client, c1, c2, ...
        targets: host:port of the cluster's nodes, as the client reaches them.
        phase: populate fills the table; warm runs the load until it is stopped; measure is a
            trial.
        seed: seed of keys, operations and values.
        hlog: where the client writes its histograms, as the client sees it.
        start_at: Unix time at which several clients begin together.
        longest_s: bound of the warm phase, seconds.
    """
    load = setup.load
    if load.workload not in WORKLOADS:
        raise StudyError(f"no workload {load.workload}", where="load.workload")
    workload = dict(WORKLOADS[load.workload])
    workload |= _SHAPES[workload["kind"]]
    keyspace, _, table = load.table.partition(".")
    populate = phase == "populate"
    return {
        "name": name,
        "client": client,
        "targets": targets,
        "keyspace": keyspace,
        "table": table,
        "workload": workload,
        "phase": "populate" if populate else "run",
        "records": load.records,
        "threads": POPULATE_THREADS if populate else load.threads,
        # the closed loop warms a server fastest, whatever loop the trials use
        "rate": load.rate if phase == "measure" else None,
        "arrivals": load.arrivals,
        "warmup_s": load.warmup if phase == "measure" else 0.0,
        # populating ends with its last row; the field must hold some time all the same
        "measure_s": longest_s if phase == "warm" else load.measure,
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
