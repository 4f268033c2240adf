"""The compared clients: ours, MongoDB's Rust driver, YCSB's Java binding, go-ycsb.

All do the same work on the same server: reads of a document with ten fields of 100 bytes, or
updates of one field, in a closed loop with a connection per operation in flight.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from bench.load import go_ycsb
from tare.artifacts.binaries import find
from tare.artifacts.digest import text_digest
from tare.artifacts.maven import copy_with_dependencies
from tare.artifacts.program import find_program, run_to_end
from tare.artifacts.tools import jdk
from tare.artifacts.tools.cache import kept
from tare.artifacts.tools.fetch import HDR_HISTOGRAM
from tare.errors import ArtifactError
from tare.imports import go_ycsb as go_ycsb_output
from tare.imports import ycsb
from tare.imports.file_content import FileReading
from tare.records.hlog import P99, read_hlog

ClientName = Literal["tare", "driver", "go-ycsb", "ycsb"]
CLIENTS: tuple[ClientName, ...] = get_args(ClientName)
TITLES = {
    "tare": "tare-load",
    "driver": "official Rust driver",
    "go-ycsb": "go-ycsb",
    "ycsb": "YCSB's Java binding",
}
OPERATIONS = ("read", "update")
RECORDS = 1000
_HERE = Path(__file__).parent
_WITHOUT_END = "1000000000"
_DRIVER_VERSION = "3.8.0"
"""mongodb.version of YCSB 0.17.0's pom."""
_JARS = (
    HDR_HISTOGRAM,
    "site.ycsb:core:0.17.0",
    f"org.mongodb:mongo-java-driver:{_DRIVER_VERSION}",
    "org.slf4j:slf4j-simple:1.7.25",
)
_DRIVER = "mongo-wire-driver"
_ANSWER_SECONDS, _BUILD_SECONDS = 60, 3600


@dataclass(frozen=True)
class Said:
    """What a client printed of its own measurement; times in microseconds."""

    errors: int
    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class Load:
    """What is asked of a client.

    Attributes:
        place: host:port of the server.
        operation: read or update.
        connections: as many as operations in flight.
        seconds: for how long.
    """

    place: str
    operation: str
    connections: int
    seconds: int

    @property
    def url(self) -> str:
        return f"mongodb://{self.place}/ycsb?w=1&maxPoolSize={self.connections}"


@dataclass(frozen=True)
class Client:
    """One client, ready to run.

    Attributes:
        name, version: which one.
        command: the command line for a load, which may write into a directory.
        said: what it printed, from its output, that directory and the load.
        fine: exit statuses of a run that is done.
        interrupted: whether it does not end by itself and is sent SIGINT when its time is over.
    """

    name: ClientName
    version: str
    command: Callable[[Load, Path], tuple[str, ...]]
    said: Callable[[str, Path, Load], Said]
    fine: tuple[int, ...] = (0,)
    interrupted: bool = False


def ready(name: ClientName, say: Callable[[str], None]) -> Client:
    """Fetch or build one and say how it is run.

    Raises:
        ArtifactError, RuntimeUnavailableError: it cannot be had; the error says what is missing.
    """
    made = {"tare": _tare, "driver": _driver, "go-ycsb": _go_ycsb, "ycsb": _ycsb}
    return made[name](say)


def _tare(_: Callable[[str], None]) -> Client:
    program = str(find("tare-load"))

    def command(load: Load, directory: Path) -> tuple[str, ...]:
        file = directory / "spec.json"
        file.write_text(json.dumps(_specification(load, directory)), "utf-8")
        return (program, "run", "--spec", str(file))

    def said(output: str, directory: Path, _: Load) -> Said:
        result = json.loads(output.splitlines()[-1])
        times = read_hlog(directory / "latency.hlog").totals
        (one,) = (histogram for tag, histogram in times.items() if tag.endswith("-rt"))
        p50, p99 = one.quantiles_us((50.0, P99))
        return Said(int(result["errors"]), p50, p99)

    return Client("tare", "this checkout", command, said)


def _specification(load: Load, directory: Path) -> dict[str, object]:
    """YCSB's core workload with one kind of operation, as tare.load.specification makes it."""
    reads = load.operation == "read"
    warmup_s = load.seconds / 4  # as the runner of the official driver
    return {
        "name": "bench",
        "client": "c1",
        "targets": [load.place],
        "mongodb": load.url,
        "stand_in": True,
        "keyspace": "ycsb",
        "table": "usertable",
        "workload": {
            "kind": "ycsb",
            "read": float(reads),
            "update": float(not reads),
            "distribution": "uniform",
        },
        "phase": "run",
        "records": RECORDS,
        "threads": load.connections,
        "warmup_s": warmup_s,
        "measure_s": load.seconds - warmup_s,
        "interval_s": 1.0,
        "timeout_s": 10.0,
        "seed": 1,
        "hlog": str(directory / "latency.hlog"),
    }


def driver_program(say: Callable[[str], None]) -> str:
    """The runner of the official Rust driver, which is built where Tare's cache has none of this
    source and this cargo.

    Raises:
        ArtifactError, RuntimeUnavailableError: cargo is missing, or could not build it.
    """
    source = _HERE / "driver"
    why, remedy = "the official driver's runner is built with cargo", "install Rust"
    cargo = find_program("cargo", why, remedy)
    release = run_to_end([cargo, "--version"], _ANSWER_SECONDS, cwd=source).first(1)
    files = (source / name for name in ("Cargo.toml", "Cargo.lock", "src/main.rs"))
    own = text_digest("\n".join([release, *(file.read_text("utf-8") for file in files)]))[:8]
    root, _ = kept(f"{_DRIVER}-{own}", None, partial(_build_driver, cargo, source, say))
    return str(root / _DRIVER)


def _build_driver(cargo: str, source: Path, say: Callable[[str], None], root: Path) -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", source.parents[2] / "target")) / "mongo-wire"
    say("building the runner of the official driver with cargo: some minutes, the first time")
    words = [cargo, "build", "--release", "--locked", "--target-dir", str(target)]
    ended = run_to_end(words, _BUILD_SECONDS, cwd=source)
    if not ended.ok:
        raise ArtifactError("cargo could not build the runner", why=ended.last(6))
    shutil.copy2(target / "release" / _DRIVER, root)


def _driver(say: Callable[[str], None]) -> Client:
    program = driver_program(say)
    lock = (_HERE / "driver" / "Cargo.lock").read_text("utf-8")
    version = lock.split('name = "mongodb"\nversion = "')[1].split('"')[0]

    def command(load: Load, _: Path) -> tuple[str, ...]:
        return (program, load.url, load.operation, str(load.connections), str(load.seconds))

    def said(output: str, _: Path, __: Load) -> Said:
        told = json.loads(output.splitlines()[-1])
        return Said(int(told["errors"]), float(told["p50_us"]), float(told["p99_us"]))

    return Client("driver", version, command, said)


def _core_workload(load: Load) -> tuple[str, ...]:
    """YCSB's core workload with one kind of operation, for both of its implementations."""
    properties = {
        "recordcount": RECORDS,
        "operationcount": _WITHOUT_END,
        "threadcount": load.connections,
        "readproportion": int(load.operation == "read"),
        "updateproportion": int(load.operation == "update"),
        "requestdistribution": "uniform",
        "mongodb.url": load.url,
    }
    return tuple(word for name, value in properties.items() for word in ("-p", f"{name}={value}"))


def ycsb_command(say: Callable[[str], None]) -> tuple[str, ...]:
    """The words that start YCSB's core workload on MongoDB's Java driver: through the binding here,
    or through YCSB's own where YCSB_MONGODB_BINDING names its sources, mongodb/src/main/java of a
    checkout of 0.17.0.

    Raises:
        ArtifactError, RuntimeUnavailableError: it cannot be had.
    """
    sources = Path(os.environ.get("YCSB_MONGODB_BINDING", _HERE))
    theirs = sources != _HERE
    binding = (
        sources / "site/ycsb/db/MongoDbClient.java" if theirs else _HERE / "MongoDbClient.java"
    )
    texts = [file.read_text("utf-8") for file in sorted(binding.parent.glob("*.java"))]
    own = text_digest("\n".join([*_JARS, *texts]))[:8]
    fill = partial(_fill_ycsb, binding, sources, say)
    root, _ = kept(f"ycsb-mongodb-{own}", None, fill)
    jars = ":".join(map(str, sorted((root / "lib").glob("*.jar"))))
    quiet = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",)
    base: tuple[str, ...] = (str(jdk.program("java")), *quiet, "-cp", f"{root / 'classes'}:{jars}")
    package = "site.ycsb.db" if theirs else "tare.ycsb"
    base += ("site.ycsb.Client", "-db", f"{package}.MongoDbClient")
    return (*base, "-p", "workload=site.ycsb.workloads.CoreWorkload")


def _ycsb(say: Callable[[str], None]) -> Client:
    base = (*ycsb_command(say), "-t")
    base += ("-p", "measurementtype=hdrhistogram", "-p", "hdrhistogram.percentiles=50,99")

    def command(load: Load, _: Path) -> tuple[str, ...]:
        length = ("-p", f"maxexecutiontime={load.seconds}", "-threads", str(load.connections))
        return (*base, *length, *_core_workload(load))

    def said(output: str, _: Path, load: Load) -> Said:
        (reading,) = ycsb.read(output.encode())
        return _said(reading, load)

    return Client("ycsb", f"0.17.0, driver {_DRIVER_VERSION}", command, said)


def _fill_ycsb(binding: Path, sources: Path, say: Callable[[str], None], root: Path) -> None:
    jdk.program("javac")  # before a long fetch
    say("fetching YCSB 0.17.0 and MongoDB's Java driver with Maven")
    copy_with_dependencies(_JARS, root / "lib")
    (root / "classes").mkdir()
    # javac compiles what the binding names of its own package, too.
    jdk.compile_java(binding, [*sorted((root / "lib").glob("*.jar")), sources], root / "classes")


def _go_ycsb(say: Callable[[str], None]) -> Client:
    program = go_ycsb.fetch(say).command

    def command(load: Load, _: Path) -> tuple[str, ...]:
        return (*program, "run", "mongodb", *_core_workload(load))

    def said(output: str, _: Path, load: Load) -> Said:
        return _said(go_ycsb_output.read(output.splitlines()), load)

    return Client("go-ycsb", go_ycsb.VERSION, command, said, interrupted=True)


def _said(reading: FileReading, load: Load) -> Said:
    values = reading.values
    errors = int(values.get("errors", 0.0))
    if reading.told.get("tool") == "go-ycsb":
        # Those in flight when it is interrupted are its last failures.
        errors = max(0, errors - load.connections)
    return Said(errors, values[f"{load.operation}.p50"], values[f"{load.operation}.p99"])
