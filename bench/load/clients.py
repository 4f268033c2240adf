"""The compared load generators: how each fills its table, reads from it, and reports.

All do the same work: random reads of a row of 100 bytes at consistency ONE, in a closed loop with
the same number of operations in flight. Each fills a separate table, because they name their rows
differently.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from bench.load import go_ycsb
from tare.artifacts.binaries import find
from tare.artifacts.tools import VERSIONS, ToolName, fetch_tool
from tare.errors import ArtifactError
from tare.imports import cassandra_stress, latte, ycsb
from tare.imports import go_ycsb as go_ycsb_output
from tare.imports.file_content import FileReading
from tare.records.hlog import P99, read_hlog

ClientName = Literal["floor", "tare-load", "latte", "go-ycsb", "ycsb", "cassandra-stress"]
CLIENTS: tuple[ClientName, ...] = get_args(ClientName)
ROW_BYTES = 100
_CHECKOUT = Path(__file__).parents[2]
_WITHOUT_END = "1000000000"
_BINDING = "tare.ycsb.CassandraCQLClient"


@dataclass(frozen=True)
class Load:
    """What all of them do.

    Attributes:
        address: the node, without its port.
        rows: rows in the table.
        in_flight: operations in flight at any time.
    """

    address: str
    rows: int
    in_flight: int


@dataclass(frozen=True)
class Said:
    """What a client printed of its own measurement; times in microseconds, None: it has none."""

    operations: int
    errors: int
    p50_us: float | None
    p99_us: float | None


@dataclass(frozen=True)
class Client:
    """One load generator, ready to run.

    Attributes:
        name, version: which one.
        fill: commands that make and fill its table, one after the other.
        read: the command that reads for so many seconds and may write into a directory.
        said: what it printed, from its output and that directory.
        interrupted: whether it does not end by itself and is sent SIGINT when its time is over.
    """

    name: ClientName
    version: str
    fill: tuple[tuple[str, ...], ...]
    read: Callable[[int, Path], tuple[str, ...]]
    said: Callable[[str, Path], Said]
    interrupted: bool = False


def ready(name: ClientName, load: Load, scratch: Path, say: Callable[[str], None]) -> Client:
    """Fetch or build one and say how it is run.

    Raises:
        ArtifactError, RuntimeUnavailableError: it cannot be had; the error says what is missing.
    """
    if name == "floor":
        return _floor(load, say)
    if name == "tare-load":
        return _tare_load(load, scratch)
    if name == "go-ycsb":
        return _go_ycsb(load, go_ycsb.fetch(say).command)
    peers = {"latte": _latte, "ycsb": _ycsb, "cassandra-stress": _cassandra_stress}
    tool: ToolName = name
    return peers[name](load, fetch_tool(tool, say=say).command)


def _floor(load: Load, say: Callable[[str], None]) -> Client:
    say("building the floor with cargo")
    done = subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "tare-floor"],
        cwd=_CHECKOUT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise ArtifactError("cargo could not build the floor", why=done.stderr[-2000:])
    target = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"],
        cwd=_CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    program = Path(json.loads(target.stdout)["target_directory"]) / "release" / "tare-floor"
    base: tuple[str, ...] = (str(program), f"{load.address}:9042", "--rows", str(load.rows))
    base += ("--value-bytes", str(ROW_BYTES), "--in-flight", str(load.in_flight))

    def said(output: str, _: Path) -> Said:
        return Said(int(json.loads(output.splitlines()[-1])["operations"]), 0, None, None)

    return Client(
        "floor",
        "bench/floor",
        ((*base, "--fill", "--seconds", "1"),),
        lambda seconds, _: (*base, "--seconds", str(seconds)),
        said,
    )


def _tare_load(load: Load, scratch: Path) -> Client:
    program = str(find("tare-load"))

    def command(phase: str, seconds: int, directory: Path) -> tuple[str, ...]:
        file = directory / f"{phase}.json"
        file.write_text(json.dumps(_specification(load, phase, seconds, directory)), "utf-8")
        return (program, "run", "--spec", str(file))

    def said(output: str, directory: Path) -> Said:
        result = json.loads(output.splitlines()[-1])
        times = read_hlog(directory / "latency.hlog").totals
        (read,) = (histogram for tag, histogram in times.items() if tag.endswith("-rt"))
        p50, p99 = read.quantiles_us((50.0, P99))
        return Said(int(result["ok"]), int(result["errors"]), p50, p99)

    return Client(
        "tare-load",
        "this checkout",
        (command("populate", 0, scratch),),
        lambda seconds, directory: command("run", seconds, directory),
        said,
    )


def _specification(load: Load, phase: str, seconds: int, directory: Path) -> dict[str, object]:
    """As tare.load.specification makes it for a trial: YCSB's workload C, keys uniform."""
    return {
        "name": "bench",
        "client": "c1",
        "targets": [f"{load.address}:9042"],
        "keyspace": "bench_tare",
        "table": "usertable",
        "workload": {
            "kind": "ycsb",
            "read": 1.0,
            "update": 0.0,
            "distribution": "uniform",
            "fields": 1,
            "field_length": ROW_BYTES,
        },
        "phase": phase,
        "records": load.rows,
        "threads": load.in_flight,
        "rate": None,
        "arrivals": "fixed",
        "warmup_s": 0.0,
        "measure_s": float(max(seconds, 1)),
        "interval_s": 1.0,
        "start_at": None,
        "consistency": {"read": "ONE", "write": "ONE"},
        "timeout_s": 10.0,
        "seed": 1,
        "hlog": str(directory / "latency.hlog") if phase == "run" else None,
        "validate": False,
    }


def _latte(load: Load, program: tuple[str, ...]) -> Client:
    workload = str(Path(__file__).parent / "reads.rn")
    parameters = ("-P", f"rows={load.rows}", "-P", f"bytes={ROW_BYTES}")

    def read(seconds: int, directory: Path) -> tuple[str, ...]:
        return (
            *program, "run", "-q", workload, *parameters, "-f", "read", "-d", f"{seconds}s",
            "-w", "0s", "-t", "1", "-p", str(load.in_flight), "--consistency", "ONE",
            "-o", str(directory / "latte.json"), load.address,
        )  # fmt: skip

    def said(_: str, directory: Path) -> Said:
        (reading,) = latte.read((directory / "latte.json").read_bytes())
        return _reads(reading)

    fill = (
        (*program, "schema", workload, *parameters, load.address),
        (*program, "load", "-q", workload, *parameters, load.address),
    )
    return Client("latte", VERSIONS["latte"], fill, read, said)


def _reads(reading: FileReading) -> Said:
    values = reading.values
    errors = int(values.get("errors", 0.0))
    return Said(reading.operations or 0, errors, values.get("read.p50"), values.get("read.p99"))


def _core_workload(load: Load) -> tuple[str, ...]:
    """YCSB's workload C with one field of 100 bytes, for both of its implementations."""
    properties = {
        "recordcount": load.rows,
        "operationcount": _WITHOUT_END,
        "threadcount": load.in_flight,
        "fieldcount": 1,
        "fieldlength": ROW_BYTES,
        "readproportion": 1,
        "updateproportion": 0,
        "requestdistribution": "uniform",
    }
    return tuple(word for name, value in properties.items() for word in ("-p", f"{name}={value}"))


def _go_ycsb(load: Load, program: tuple[str, ...]) -> Client:
    properties = (
        *_core_workload(load),
        "-p", f"cassandra.cluster={load.address}", "-p", "cassandra.keyspace=bench_go_ycsb",
    )  # fmt: skip

    def said(output: str, _: Path) -> Said:
        found = _reads(go_ycsb_output.read(output.splitlines()))
        # Those in flight when it is interrupted are its last failures.
        return replace(found, errors=max(0, found.errors - load.in_flight))

    return Client(
        "go-ycsb",
        go_ycsb.VERSION,
        ((*program, "load", "cassandra", *properties),),
        lambda _, __: (*program, "run", "cassandra", *properties),
        said,
        interrupted=True,
    )


def _ycsb(load: Load, program: tuple[str, ...]) -> Client:
    base = (
        *program, "-db", _BINDING, "-threads", str(load.in_flight),
        "-p", "workload=site.ycsb.workloads.CoreWorkload", *_core_workload(load),
        "-p", f"hosts={load.address}", "-p", "cassandra.keyspace=bench_ycsb",
        "-p", "cassandra.readconsistencylevel=ONE", "-p", "cassandra.writeconsistencylevel=ONE",
        "-p", "measurementtype=hdrhistogram", "-p", "hdrhistogram.percentiles=50,99",
    )  # fmt: skip

    def said(output: str, _: Path) -> Said:
        (reading,) = ycsb.read(output.encode())
        return _reads(reading)

    return Client(
        "ycsb",
        VERSIONS["ycsb"],
        ((*base, "-load"),),
        lambda seconds, _: (*base, "-t", "-p", f"maxexecutiontime={seconds}"),
        said,
    )


def _cassandra_stress(load: Load, program: tuple[str, ...]) -> Client:
    common = (
        "cl=ONE", "-col", "n=FIXED(1)", f"size=FIXED({ROW_BYTES})",
        "-schema", "keyspace=bench_stress", "replication(factor=1)",
        "-rate", f"threads={load.in_flight}", "-node", load.address,
    )  # fmt: skip

    def read(seconds: int, _: Path) -> tuple[str, ...]:
        # Its default order of reads is a gaussian over the rows.
        pop = ("-pop", f"dist=UNIFORM(1..{load.rows})")
        return (*program, "read", f"duration={seconds}s", "no-warmup", *common, *pop)

    def said(output: str, _: Path) -> Said:
        (reading,) = cassandra_stress.read(output.encode())
        return _reads(reading)

    write = (*program, "write", f"n={load.rows}", "no-warmup", *common)
    fill = ((*write, "-pop", f"seq=1..{load.rows}"),)
    return Client("cassandra-stress", VERSIONS["cassandra-stress"], fill, read, said)
