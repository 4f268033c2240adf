"""`tare-load stress` beside cassandra-stress itself, on one real Cassandra: what one writes the
other reads. cassandra-stress 3.11.2 comes from Maven Central.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cassandra.cluster import Cluster
from cassandra.query import tuple_factory

from tare.artifacts.tools import fetch_tool
from tare.imports import cassandra_stress as importer

from .nodes import ADDRESS, GUARDED, PASSWORD, RING, USER, ring
from .stress_profiles import ROWS, TYPES, VISITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stress = Callable[..., str]

pytestmark = pytest.mark.engine

QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
BINARY = os.environ.get("TARE_TEST_LOAD", str(Path(sys.executable).with_name("tare-load")))


@pytest.fixture(scope="module")
def session(node: str) -> Iterator[Any]:
    with Cluster([node]) as cluster, cluster.connect() as session:
        session.row_factory = tuple_factory
        yield session


@pytest.fixture(scope="module")
def theirs(session: Any) -> Stress:
    """Run a command of cassandra-stress itself, in a JVM that starts sooner; returns its output."""
    java, *rest = fetch_tool("cassandra-stress").command
    command = [java, *QUICK, *rest]

    def run(*words: str) -> str:
        return finished([*command, *placed(words)])

    return run


def ours(*words: str, node: str = ADDRESS) -> str:
    return finished([BINARY, "stress", *placed(words, node)])


def placed(words: tuple[str, ...], node: str = ADDRESS) -> list[str]:
    return [*words, "-rate", "threads=4", "-node", node]


def finished(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def together(*runs: Callable[[], str]) -> list[str]:
    """Their outputs, side by side: the tool itself sleeps for seconds."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda run: run(), runs))


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
    # Both compare every cell that they read with what they would have written.
    _, output = together(
        partial(theirs, *written, "-schema", "keyspace=theirs"),
        partial(theirs, *read, "-schema", "keyspace=ours"),
    )
    for told in (output, ours(*read, "-schema", "keyspace=theirs")):
        assert counted(told, "Total partitions") == {"READ": 10_000}
        assert counted(told, "Total errors") == {"READ": 0}
    found = rows(session, "ours.standard1")
    assert len(found) == 10_000
    assert found == rows(session, "theirs.standard1")


SIZES: tuple[tuple[str, ...], ...] = (
    ("keysize=23", "-col", "n=FIXED(3)", "size=UNIFORM(1..100)"),
    ("keysize=10", "-col", "names=b,A,c1", "size=GAUSSIAN(5..50)"),
    ("keysize=4", "-pop", "seq=1001..1500", "-insert", "row-population-ratio=FIXED(1)/2"),
)


def test_other_sizes_columns_and_seeds_are_equal_too(session: Any, theirs: Stress) -> None:
    written = ("write", "n=500", "no-warmup", "cl=ONE")
    for stress, name in ((ours, "ours2"), (theirs, "theirs2")):
        together(
            *(
                partial(stress, *written, *size, "-schema", f"keyspace={name}v{number}")
                for number, size in enumerate(SIZES)
            )
        )
    for number, size in enumerate(SIZES):
        found = rows(session, f"ours2v{number}.standard1")
        assert len(found) == 500, size
        assert found == rows(session, f"theirs2v{number}.standard1"), size


def test_a_profile_makes_the_same_rows(session: Any, theirs: Stress, tmp_path: Path) -> None:
    profiles = {"types": TYPES, "many": ROWS}
    for stress, name in ((ours, "ours3"), (theirs, "theirs3")):
        runs = []
        for table, profile in profiles.items():
            path = tmp_path / f"{name}{table}.yaml"
            path.write_text(profile.format(keyspace=path.stem), encoding="utf-8")
            words = ("user", f"profile={path}", "ops(insert=1)", "n=200", "no-warmup", "cl=ONE")
            runs.append(partial(stress, *words))
        together(*runs)
    for table in profiles:
        found = rows(session, f"ours3{table}.{table}")
        assert len(found) >= 200, table
        assert found == rows(session, f"theirs3{table}.{table}"), table


def test_a_partition_that_is_visited_several_times_has_the_same_rows(
    session: Any, theirs: Stress, tmp_path: Path
) -> None:
    found: dict[str, set[str]] = {}
    for stress, name in ((ours, "ours5"), (theirs, "theirs5")):
        runs = {}
        for visits, count in ((1, 100), (3, 250)):
            path = tmp_path / f"{name}v{visits}.yaml"
            path.write_text(VISITED.format(keyspace=path.stem), encoding="utf-8")
            words = ("user", f"profile={path}", "ops(insert=1)", f"n={count}", "no-warmup",
                     "cl=ONE", "-insert", f"visits=fixed({visits})",
                     "-pop", "seq=1..100")  # fmt: skip
            runs[path.stem] = partial(stress, *words)
        together(*runs.values())
        found |= {keyspace: set(rows(session, f"{keyspace}.visited")) for keyspace in runs}
    whole = found["ours5v1"]
    assert len(whole) == 100 * 4 * 3
    assert whole == found["theirs5v1"]
    # Which rows a visit writes is drawn; what they are is not.
    for parts in (found["ours5v3"], found["theirs5v3"]):
        assert len(parts) > 400
        assert parts <= whole


def test_reads_follow_the_writes_of_a_sequence(session: Any) -> None:
    schema = ("no-warmup", "cl=ONE", "-schema", "keyspace=ours6")
    ours("write", "n=1", *schema)  # mixed makes no tables
    output = ours("mixed", "ratio(write=1,read=1)", "n=6000", *schema,
                  "-pop", "seq=1..3000", "read-lookback=uniform(1..200)")  # fmt: skip
    # The tool itself lets reads overtake their writes, and such a run of it fails.
    assert sum(counted(output, "Total partitions").values()) == 6000
    assert set(counted(output, "Total errors").values()) == {0}


def test_queries_of_a_profile_find_the_same(theirs: Stress, tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(ROWS.format(keyspace="ours4"), encoding="utf-8")
    user = ("user", f"profile={path}", "no-warmup", "cl=ONE")
    theirs(*user, "ops(insert=1)", "n=200")
    asked = (
        ("ops(one=1)", "n=200", "-pop", "seq=1..200"),
        ("ops(sweep=1)", "n=1000"),
        ("ops(one=1,all=3)", "n=400", "-pop", "seq=1..200"),
    )
    for stress in (ours, theirs):
        one, whole, mixed = together(*(partial(stress, *user, *words) for words in asked))
        assert counted(one, "Total partitions") == {"one": 200}
        assert counted(whole, "Total partitions") == {"sweep": 200}
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


@pytest.mark.long
def test_each_node_of_a_ring_gets_the_rows_that_it_has(tmp_path: Path) -> None:
    with ring(RING, tmp_path) as nodes:
        ours("write", "n=1", "no-warmup", "cl=ONE", node=nodes.first)  # makes the schema
        for words in (("write",), ("read", "-pop", "seq=1..3000")):
            before = nodes.share()
            command, *rest = words
            ours(command, "n=3000", "no-warmup", "cl=ONE", *rest, node=nodes.first)
            done = nodes.share().since(before)
            assert sum(done.executed.values()) >= 3000
            assert all(850 <= count <= 1150 for count in done.executed.values()), done
            # A coordinator that has the row asks nobody; what is left is gossip.
            assert done.between < 1500, done


@pytest.mark.parametrize("compression", ["none", "lz4"])
@pytest.mark.parametrize("version", ["4", "5"])
def test_tls_and_a_password_with_every_protocol(
    behind_tls: tuple[Any, Path], version: str, compression: str
) -> None:
    _, trust = behind_tls
    mode = ("-mode", "native", "cql3", f"user={USER}", f"password={PASSWORD}",
            f"protocolVersion={version}", f"compression={compression}",
            "-transport", f"truststore={trust}", "-col", "size=FIXED(200)",
            "-schema", f"keyspace=v{version}{compression}")  # fmt: skip
    count = ("n=2000", "no-warmup", "cl=ONE")
    ours("write", *count, *mode, node=GUARDED)
    read = ours("read", *count, "-pop", "seq=1..2000", *mode, node=GUARDED)
    assert counted(read, "Total partitions") == {"READ": 2000}
    assert counted(read, "Total errors") == {"READ": 0}
