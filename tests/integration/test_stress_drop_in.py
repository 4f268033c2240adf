"""`tare-load stress` beside cassandra-stress itself, on one real Cassandra: what one writes the
other reads. cassandra-stress 3.11.2 comes from Maven Central.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bench.load.server import start
from cassandra.cluster import Cluster
from cassandra.query import tuple_factory

from tare.artifacts.tools import fetch_tool
from tare.imports import cassandra_stress as importer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stress = Callable[..., str]

pytestmark = pytest.mark.engine

ADDRESS = "127.0.11.1"
BINARY = os.environ.get("TARE_TEST_LOAD", str(Path(sys.executable).with_name("tare-load")))
OPENED = " ".join(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.io", "java.lang", "java.nio", "sun.nio.ch")
)
"""Packages that the tool opens by force where it makes time UUIDs; Java 17 keeps them shut."""

TYPES = """\
keyspace: {keyspace}
keyspace_definition: |
  CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
table: types
table_definition: |
  CREATE TABLE IF NOT EXISTS types (
    name text, choice boolean, at timestamp, address inet, dbl double, lval bigint, ival int,
    uid timeuuid, value blob, t_ascii ascii, t_float float, t_decimal decimal, t_varint varint,
    t_date date, t_time time, t_uuid uuid, t_tiny tinyint, t_small smallint, t_set set<int>,
    t_list list<text>,
    PRIMARY KEY ((name, choice), at, address, dbl, lval, ival, uid))
columnspec:
  - {{name: name, size: uniform(1..10), population: uniform(1..1B)}}
  - {{name: at, cluster: fixed(2)}}
  - {{name: lval, population: gaussian(1..1000), cluster: uniform(1..4)}}
  - {{name: t_set, size: fixed(3)}}
  - {{name: t_list, size: fixed(2)}}
insert: {{partitions: fixed(2), batchtype: UNLOGGED}}
queries: {{}}
"""

ROWS = """\
keyspace: {keyspace}
keyspace_definition: |
  CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
table: many
table_definition: |
  CREATE TABLE IF NOT EXISTS many (
    id uuid, c1 int, c2 text, v blob, w text static, x double, PRIMARY KEY (id, c1, c2))
columnspec:
  - {{name: c1, population: uniform(1..1M), cluster: uniform(1..5)}}
  - {{name: c2, cluster: fixed(3)}}
insert: {{batchtype: UNLOGGED}}
queries:
  one: {{cql: 'select * from many where id = ? and c1 = ? and c2 = ?', fields: samerow}}
  all: {{cql: 'select * from many where id = ?', fields: multirow}}
token_range_queries:
  sweep: {{columns: '*', page_size: 50}}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session on a node of its own."""
    server = start(ADDRESS, tmp_path_factory.mktemp("node"), "0-1")
    try:
        with Cluster([ADDRESS]) as cluster, cluster.connect() as session:
            session.row_factory = tuple_factory
            yield session
    finally:
        server.stop()


@pytest.fixture(scope="module")
def theirs(session: Any) -> Stress:
    """Runs a command of cassandra-stress itself; its output."""
    command = fetch_tool("cassandra-stress").command

    def run(*words: str) -> str:
        environment = {**os.environ, "JAVA_TOOL_OPTIONS": OPENED}
        return finished([*command, *placed(words)], environment)

    return run


def ours(*words: str) -> str:
    return finished([BINARY, "stress", *placed(words)], dict(os.environ))


def placed(words: tuple[str, ...]) -> list[str]:
    return [*words, "-rate", "threads=4", "-node", ADDRESS]


def finished(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def rows(session: Any, table: str) -> list[str]:
    """All rows of a table, columns by name: values as the driver shows them."""
    found = session.execute(f"SELECT * FROM {table}")
    names = found.column_names
    order = sorted(range(len(names)), key=lambda place: names[place])
    return sorted(repr([(names[place], row[place]) for place in order]) for row in found)


def counted(output: str, what: str) -> dict[str, int]:
    """A line of the results by operation, such as `Total partitions : 8 [READ: 5, WRITE: 3]`."""
    found = re.search(rf"^{what} +: +[\d,]+ \[(.*)\]$", output, re.MULTILINE)
    assert found is not None, output[-3000:]
    pairs = re.findall(r"(\w+): ([\d,]+?)(?:, |$)", found[1])
    return {name: int(count.replace(",", "")) for name, count in pairs}


def labels(output: str) -> list[str]:
    """The lines of the results and all column heads, without values and how they are aligned."""
    block = output[output.index("Results:") :].splitlines()
    heads = [line for line in output.splitlines() if line.startswith("type ")]
    return heads + [re.sub(r" *([\d,.:]*\d[\d,.:]*|NaN)", " #", line) for line in block]


def test_rows_are_byte_equal_both_ways(session: Any, theirs: Stress) -> None:
    written = ("write", "n=10000", "no-warmup", "cl=ONE")
    read = ("read", "n=10000", "no-warmup", "cl=ONE", "-pop", "seq=1..10000")
    ours(*written, "-schema", "keyspace=ours")
    theirs(*written, "-schema", "keyspace=theirs")
    assert len(rows(session, "ours.standard1")) == 10_000
    assert rows(session, "ours.standard1") == rows(session, "theirs.standard1")
    # Both compare every cell that they read with what they would have written.
    for stress, other in ((ours, "theirs"), (theirs, "ours")):
        output = stress(*read, "-schema", f"keyspace={other}")
        assert counted(output, "Total partitions") == {"READ": 10_000}
        assert counted(output, "Total errors") == {"READ": 0}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("keysize=23", ("-col", "n=FIXED(3)", "size=UNIFORM(1..100)")),
        ("keysize=10", ("-col", "names=b,A,c1", "size=GAUSSIAN(5..50)")),
        ("keysize=4", ("-pop", "seq=1001..1500", "-insert", "row-population-ratio=FIXED(1)/2")),
    ],
)
def test_other_sizes_columns_and_seeds_are_equal_too(
    session: Any, theirs: Stress, command: str, options: tuple[str, ...]
) -> None:
    for stress, keyspace in ((ours, "ours2"), (theirs, "theirs2")):
        session.execute(f"DROP KEYSPACE IF EXISTS {keyspace}")
        words = ("write", "n=500", "no-warmup", "cl=ONE", command, *options)
        stress(*words, "-schema", f"keyspace={keyspace}")
    assert len(rows(session, "ours2.standard1")) == 500
    assert rows(session, "ours2.standard1") == rows(session, "theirs2.standard1")


@pytest.mark.parametrize(("profile", "table"), [(TYPES, "types"), (ROWS, "many")])
def test_a_profile_makes_the_same_rows(
    session: Any, theirs: Stress, tmp_path: Path, profile: str, table: str
) -> None:
    for stress, keyspace in ((ours, "ours3"), (theirs, "theirs3")):
        path = tmp_path / f"{keyspace}.yaml"
        path.write_text(profile.format(keyspace=keyspace), encoding="utf-8")
        stress("user", f"profile={path}", "ops(insert=1)", "n=200", "no-warmup", "cl=ONE")
    assert len(rows(session, f"ours3.{table}")) >= 200
    assert rows(session, f"ours3.{table}") == rows(session, f"theirs3.{table}")


def test_queries_of_a_profile_find_the_same(theirs: Stress, tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(ROWS.format(keyspace="ours4"), encoding="utf-8")
    user = ("user", f"profile={path}", "no-warmup", "cl=ONE")
    theirs(*user, "ops(insert=1)", "n=200")
    for stress in (ours, theirs):
        one = stress(*user, "ops(one=1)", "n=200", "-pop", "seq=1..200")
        assert counted(one, "Total partitions") == {"one": 200}
        whole = stress(*user, "ops(sweep=1)", "n=1000")
        assert counted(whole, "Total partitions") == {"sweep": 200}
        mixed = stress(*user, "ops(one=1,all=3)", "n=400", "-pop", "seq=1..200")
        assert sum(counted(mixed, "Total partitions").values()) == 400


def test_counters_are_read_by_both(theirs: Stress) -> None:
    ours("counter_write", "n=500", "no-warmup", "cl=ONE", "add=fixed(3)")
    for stress in (ours, theirs):
        read = stress("counter_read", "n=500", "no-warmup", "cl=ONE", "-pop", "seq=1..500")
        assert counted(read, "Total errors") == {"COUNTER_READ": 0}


def test_the_output_has_the_shape_of_the_tools(theirs: Stress, tmp_path: Path) -> None:
    ours("write", "n=1000", "no-warmup", "cl=ONE")
    seen = []
    for stress, name in ((ours, "ours"), (theirs, "theirs")):
        log = tmp_path / f"{name}.hdr"
        output = stress("mixed", "ratio(read=3,write=1)", "n=1000", "no-warmup", "cl=ONE",
                        "-pop", "seq=1..1000", "-log", f"hdrfile={log}")  # fmt: skip
        (reading,) = importer.read(output.encode())
        assert reading.operations == 1000
        assert set(reading.counts) == {"read", "write"}
        tags = set(re.findall(r"^Tag=([^,]+),", log.read_text("ascii"), re.MULTILINE))
        seen.append((labels(output), tags))
    assert seen[0] == seen[1]


def test_a_wrong_row_ends_the_run(session: Any) -> None:
    ours("write", "n=100", "no-warmup", "cl=ONE", "-schema", "keyspace=wrong")
    key = session.execute("SELECT key FROM wrong.standard1 LIMIT 1").one()[0]
    session.execute('UPDATE wrong.standard1 SET "C3" = 0x00 WHERE key = %s', [key])
    words = ("read", "n=100", "no-warmup", "cl=ONE", "-pop", "seq=1..100",
             "-schema", "keyspace=wrong")  # fmt: skip
    done = subprocess.run(
        [BINARY, "stress", *placed(words)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "FAILURE" in done.stdout
    assert f"on key(s) [{key.hex()}]: Data returned was not validated" in done.stdout
    assert counted(ours(*words, "-errors", "ignore"), "Total errors") == {"READ": 1}
