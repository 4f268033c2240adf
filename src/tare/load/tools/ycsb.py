"""YCSB as the load client: CoreWorkload's properties, and its histogram files."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from tare.imports import histograms, ycsb
from tare.load.tools.call import Call, Lines, ToolOutcome, hosts, read_text, share, whole_seconds
from tare.load.tools.nanoseconds import in_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BEGINS = re.compile(r"^DBWrapper: ")
"""What each thread prints when it is connected."""
RATE = re.compile(r"\d operations; ([\d.]+) current ops/sec;")
ENDS = re.compile(r"^Stop requested for workload")
"""YCSB waits for operations in flight, and then prints its results."""
BINDING = "tare.ycsb.CassandraCQLClient"
MOST_OPERATIONS = 2**31 - 1
"""YCSB counts in 32 bits; with 0, no limit, its client starts no thread (0.17)."""
LIKELY_OPERATIONS_PER_S = 50_000
_INTENDED = "Intended-"
_LEFT_OUT = ("CLEANUP", "-FAILED")


def call(specification: dict[str, Any], program: Sequence[str], where: Path) -> Call:
    """YCSB has no warm-up of its own: it runs once before, and these results are discarded."""
    warmup = specification["warmup_s"]
    measured = _command(specification, program, specification["measure_s"])
    measured += _properties(
        {
            "measurementtype": "hdrhistogram",
            "hdrhistogram.percentiles": "50,95,99,99.9",
            "hdrhistogram.fileoutput": "true",
            "hdrhistogram.output.path": f"{where}/",
            "measurement.interval": "both" if specification["rate"] else "op",
        }
    )
    return Call(
        command=measured,
        begins=BEGINS,
        rate=RATE,
        ends=ENDS,
        own_time=False,  # YCSB's run time begins before its threads are ready
        outcome=partial(outcome, where=where),
        warm=_command(specification, program, warmup) if warmup > 0 else None,
    )


def _command(specification: dict[str, Any], program: Sequence[str], seconds: float) -> list[str]:
    workload, levels = specification["workload"], specification["consistency"]
    addresses, port = hosts(specification["targets"])
    names = ("read", "update", "insert", "scan", "readmodifywrite")
    weights = dict(zip(names, share(workload, *names), strict=True))
    command = [*program, "-t", "-db", BINDING, "-s", "-threads", str(specification["threads"])]
    if specification["rate"]:
        command += ["-target", f"{specification['rate']:.0f}"]
    return command + _properties(
        {
            "workload": "site.ycsb.workloads.CoreWorkload",
            "hosts": ",".join(addresses),
            "port": port,
            "cassandra.keyspace": specification["keyspace"],
            "cassandra.readconsistencylevel": levels["read"],
            "cassandra.writeconsistencylevel": levels["write"],
            "cassandra.readtimeoutmillis": round(specification["timeout_s"] * 1000),
            "recordcount": specification["records"],
            "operationcount": _most_operations(weights["insert"], specification, seconds),
            "maxexecutiontime": whole_seconds(seconds),
            "status.interval": 1,
            "requestdistribution": workload["distribution"],
            "fieldcount": workload["fields"],
            "fieldlength": workload["field_length"],
            **{f"{name}proportion": weight for name, weight in weights.items()},
            "maxscanlength": 100,
        }
    )


def _most_operations(inserts: float, specification: dict[str, Any], seconds: float) -> int:
    """More operations than can be done in the time, so that the time ends the run.

    If there are inserts, YCSB's zipfian generator spreads over twice as many new keys as this
    number promises, and discards draws of keys that do not exist: then the number is kept low.
    """
    if not inserts:
        return MOST_OPERATIONS
    return max(int(specification["records"]), whole_seconds(seconds) * LIKELY_OPERATIONS_PER_S)


def _properties(properties: dict[str, Any]) -> list[str]:
    return [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]


def outcome(text: str, where: Path) -> ToolOutcome:
    """The summary on standard output, and the histograms beside it, which count microseconds."""
    (reading,) = ycsb.read(text.encode())
    found: list[Lines] = []
    for file in sorted(where.glob("*.hdr")):
        name = file.stem.removeprefix(_INTENDED)
        if name.endswith(_LEFT_OUT) or not _holds_any(file):
            continue
        kind = "rt" if file.stem.startswith(_INTENDED) else "st"
        (log,) = histograms.read(read_text(file), 1000, name)
        scaled = [line for one in log.histograms if (line := in_nanoseconds(one)) is not None]
        found.append(Lines(name, kind, scaled))
    return ToolOutcome(reading, found)


def _holds_any(file: Path) -> bool:
    """Whether a file holds operations: YCSB also leaves files of operations that it never did."""
    return b",HIST" in read_text(file)
