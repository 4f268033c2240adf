"""`tare-load ycsb` beside YCSB itself, on one real Cassandra: what one writes the other reads.

YCSB's core comes from Maven Central; its Cassandra binding, which is on no registry, is the one
that Tare compiles for studies with `client: {tool: ycsb}`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cassandra.cluster import Cluster
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tare.artifacts.tools import fetch_tool
from tare.artifacts.tools.fetch import BINDING
from tare.imports import ycsb as importer

from .nodes import ADDRESS, GUARDED, PASSWORD, RING, USER, ring

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

BINARY = os.environ.get("TARE_TEST_LOAD", str(Path(sys.executable).with_name("tare-load")))
RECORDS = 2000
FIELDS = ", ".join(f"field{i} varchar" for i in range(10))
PERCENTILES = "hdrhistogram.percentiles=50,95,99,99.9"
CORE = "workload=site.ycsb.workloads.CoreWorkload\n"
WORKLOADS = {
    "a": "readproportion=0.5\nupdateproportion=0.5\n",
    "c": "readproportion=1\nupdateproportion=0\n",
    "d": "readproportion=0.95\nupdateproportion=0\ninsertproportion=0.05\n",
    "e": "readproportion=0\nupdateproportion=0\nscanproportion=0.9\ninsertproportion=0.1\n"
    "maxscanlength=100\n",
    "f": "readproportion=0.5\nupdateproportion=0\nreadmodifywriteproportion=0.5\n",
}


@pytest.fixture(scope="module")
def session(node: str) -> Iterator[Any]:
    """A session with a keyspace for YCSB."""
    with Cluster([node]) as cluster, cluster.connect() as session:
        keyspace(session)
        yield session


@pytest.fixture(scope="module")
def real() -> tuple[str, ...]:
    """The words that begin a command of YCSB itself."""
    return (*fetch_tool("ycsb").command, "-db", BINDING)


def keyspace(session: Any) -> None:
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    session.execute(f"CREATE KEYSPACE IF NOT EXISTS ycsb WITH replication = {replication}")
    session.set_keyspace("ycsb")


def table(session: Any, name: str) -> str:
    session.execute(f"CREATE TABLE IF NOT EXISTS {name} (y_id varchar PRIMARY KEY, {FIELDS})")
    session.execute(f"TRUNCATE {name}")
    return name


def rows(session: Any, name: str) -> dict[str, tuple[str, ...]]:
    return {row[0]: tuple(row[1:]) for row in session.execute(f"SELECT * FROM {name}")}


def properties(path: Path, text: str) -> Path:
    path.write_text(CORE + text, encoding="utf-8")
    return path


def finished(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def options(file: Path, *pairs: str, node: str = ADDRESS) -> list[str]:
    given = [f"hosts={node}", f"recordcount={RECORDS}", PERCENTILES, *pairs]
    return ["-P", str(file), "-threads", "4", *(word for pair in given for word in ("-p", pair))]


def ours(phase: str, file: Path, *pairs: str, node: str = ADDRESS) -> str:
    return finished([BINARY, "ycsb", phase, "cassandra-cql", *options(file, *pairs, node=node)])


def theirs(real: tuple[str, ...], phase: str, file: Path, *pairs: str) -> str:
    flag = {"load": "-load", "run": "-t"}[phase]
    return finished([*real, flag, *options(file, *pairs)])


def verified(output: str) -> dict[str, int]:
    found = re.findall(r"\[VERIFY\], Return=(\w+), (\d+)", output)
    return {status: int(count) for status, count in found}


def lines(output: str) -> list[str]:
    """The subjects of a summary's lines, without values and without garbage collection."""
    summary = [line for line in output.splitlines() if line.startswith("[")]
    return [line.rpartition(", ")[0] for line in summary if "_GC" not in line]


def test_what_ycsb_loads_verifies_with_ours_and_the_reverse(
    session: Any, real: tuple[str, ...], tmp_path: Path
) -> None:
    file = properties(tmp_path / "c", WORKLOADS["c"] + "dataintegrity=true\n")
    read = ("operationcount=4000", "requestdistribution=sequential")
    theirs(real, "load", file, f"table={table(session, 'theirs')}")
    ours("load", file, f"table={table(session, 'ours')}")
    written = rows(session, "theirs")
    assert len(written) == RECORDS
    assert rows(session, "ours") == written
    assert verified(ours("run", file, "table=theirs", *read)) == {"OK": 4000}
    assert verified(theirs(real, "run", file, "table=ours", *read)) == {"OK": 4000}


def test_a_wrong_row_is_seen(session: Any, tmp_path: Path) -> None:
    file = properties(tmp_path / "c", WORKLOADS["c"] + "dataintegrity=true\n")
    ours("load", file, f"table={table(session, 'wrong')}")
    key = next(iter(rows(session, "wrong")))
    session.execute("UPDATE wrong SET field3 = 'x' WHERE y_id = %s", [key])
    words = options(file, "table=wrong", f"operationcount={RECORDS}",
                    "requestdistribution=sequential")  # fmt: skip
    done = subprocess.run(
        [BINARY, "ycsb", "run", "cassandra-cql", *words], capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert verified(done.stdout) == {"OK": RECORDS - 1, "UNEXPECTED_STATE": 1}
    assert done.returncode == 1
    assert key in done.stderr


@pytest.mark.parametrize(
    "pairs",
    [
        ("insertorder=ordered", "zeropadding=12"),
        ("insertstart=500", "insertcount=700"),
        ("fieldlength=7", "fieldcount=3"),
    ],
)
def test_both_make_the_same_keys_and_lengths(
    session: Any, real: tuple[str, ...], tmp_path: Path, pairs: tuple[str, ...]
) -> None:
    file = properties(tmp_path / "c", WORKLOADS["c"])
    theirs(real, "load", file, f"table={table(session, 'theirs')}", *pairs)
    ours("load", file, f"table={table(session, 'ours')}", *pairs)

    def shape(name: str) -> dict[str, list[int]]:
        return {key: [len(v or "") for v in row] for key, row in rows(session, name).items()}

    assert shape("ours") == shape("theirs")


def test_interval_logs_open_in_the_public_reader(session: Any, tmp_path: Path) -> None:
    file = properties(tmp_path / "a", WORKLOADS["a"])
    ours("load", file, f"table={table(session, 'usertable')}")
    logs = (f"hdrhistogram.output.path={tmp_path}/", "hdrhistogram.fileoutput=true")
    output = ours("run", file, "operationcount=1000", *logs)
    for operation in ("READ", "UPDATE"):
        reader = HistogramLogReader(str(tmp_path / f"{operation}.hdr"), HdrHistogram(1, 10**10, 3))
        total = HdrHistogram(1, 10**10, 3)
        while (interval := reader.get_next_interval_histogram()) is not None:
            total.add(interval)
        assert f"[{operation}], Operations, {total.total_count}\n" in output
        assert f"[{operation}], MaxLatency(us), {total.get_max_value()}\n" in output


@pytest.mark.parametrize("letter", sorted(WORKLOADS))
def test_the_output_has_the_lines_of_ycsbs(
    session: Any, real: tuple[str, ...], tmp_path: Path, letter: str
) -> None:
    file = properties(tmp_path / letter, WORKLOADS[letter] + "requestdistribution=zipfian\n")
    ours("load", file, f"table={table(session, 'usertable')}")
    mine = ours("run", file, "operationcount=1000", "measurement.interval=both", "target=2000")
    other = theirs(
        real, "run", file, "operationcount=1000", "measurement.interval=both", "target=2000"
    )
    assert lines(mine) == lines(other)
    (reading,) = importer.read(mine.encode())
    assert reading.values["errors"] == 0
    assert reading.operations == 1000


@pytest.mark.long
def test_each_node_of_a_ring_gets_the_records_that_it_has(tmp_path: Path) -> None:
    file = properties(tmp_path / "c", WORKLOADS["c"])
    levels = ("cassandra.readconsistencylevel=ONE", "cassandra.writeconsistencylevel=ONE")
    with ring(RING, tmp_path / "nodes") as nodes:
        session = nodes.sessions[nodes.first]
        keyspace(session)
        session.execute(f"CREATE TABLE usertable (y_id varchar PRIMARY KEY, {FIELDS})")
        for phase in ("load", "run"):
            before = nodes.share()
            ours(phase, file, "recordcount=3000", "operationcount=3000",
                 "requestdistribution=uniform", *levels, node=nodes.first)  # fmt: skip
            done = nodes.share().since(before)
            assert sum(done.executed.values()) >= 3000
            assert all(850 <= count <= 1150 for count in done.executed.values()), done
            # A coordinator that has the record asks nobody; what is left is gossip.
            assert done.between < 1500, done


def test_tls_a_password_and_protocol_v5(behind_tls: tuple[Any, Path], tmp_path: Path) -> None:
    file = properties(tmp_path / "c", WORKLOADS["c"] + "dataintegrity=true\n")
    session, trust = behind_tls
    keyspace(session)
    table(session, "usertable")
    said = (f"cassandra.username={USER}", f"cassandra.password={PASSWORD}",
            "cassandra.useSSL=true", f"tare.tls.authorities={trust}", "tare.protocol=v5",
            "tare.compression=lz4", "operationcount=2000")  # fmt: skip
    ours("load", file, *said, node=GUARDED)
    assert verified(ours("run", file, *said, node=GUARDED)) == {"OK": 2000}
