"""`tare-load ycsb` with the binding `mongodb`, on a mongod and on servers that are not MongoDB:
FerretDB on SQLite and on PostgreSQL, and mongo-java-server.

What is written is read with another client, the official driver.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pymongo import MongoClient

from tare.imports import ycsb as importer

from .mongo_servers import KINDS, Server, running

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

ADDRESS = "127.0.11.1"
BINARY = os.environ.get("TARE_TEST_LOAD", str(Path(sys.executable).with_name("tare-load")))
RECORDS = 300
MEASURED = {
    "a": {"READ", "UPDATE"},
    "b": {"READ", "UPDATE"},
    "c": {"READ"},
    "d": {"READ", "INSERT"},
    "e": {"SCAN", "INSERT"},
    "f": {"READ", "UPDATE", "READ-MODIFY-WRITE"},
}
STAND_INS = tuple(kind for kind in KINDS if kind != "mongod")


@pytest.fixture(scope="module", params=KINDS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with running(request.param, ADDRESS, tmp_path_factory.mktemp(request.param)) as one:
        yield one


@pytest.fixture
def documents(server: Server) -> Iterator[Any]:
    """An empty collection, looked at with the official driver."""
    with MongoClient[dict[str, Any]](f"mongodb://{server.place}/") as client:
        client["ycsb"].drop_collection("usertable")
        yield client["ycsb"]["usertable"]


def ycsb(
    server: Server, phase: str, letter: str, *pairs: str, forced: bool = True
) -> subprocess.CompletedProcess[str]:
    given = [f"mongodb.url=mongodb://{server.place}/ycsb?w=1", f"recordcount={RECORDS}", *pairs]
    given += ["tare.stand_in=true"] if forced else []
    given += ["threadcount=4"]
    words = [word for pair in given for word in ("-p", pair)]
    return subprocess.run(
        [BINARY, "ycsb", phase, "mongodb", "-P", f"workloads/workload{letter}", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def done(server: Server, phase: str, letter: str, *pairs: str) -> str:
    """The output of a finished run; it is not valid if the server is not MongoDB."""
    ended = ycsb(server, phase, letter, *pairs)
    assert ended.returncode == server.status, ended.stderr[-3000:]
    expected = [f"{server.name} was measured"] if server.name else []
    assert re.findall("not valid: (.*)", ended.stderr) == expected
    return ended.stdout


def returned(output: str, operation: str) -> dict[str, int]:
    found = re.findall(rf"\[{operation}\], Return=(\w+), (\d+)", output)
    return {status: int(count) for status, count in found}


@pytest.mark.parametrize("server", STAND_INS, indirect=True)
def test_a_stand_in_is_refused_before_anything_is_sent(server: Server, documents: Any) -> None:
    refused = ycsb(server, "load", "a", forced=False)
    assert refused.returncode == 2
    assert (
        f"a stand-in is no target of a benchmark: {server.place}: {server.name}" in refused.stderr
    )
    assert "-p tare.stand_in=true" in refused.stderr
    assert refused.stdout == ""
    assert documents.estimated_document_count() == 0


@pytest.mark.parametrize("server", STAND_INS, indirect=True)
def test_where_a_stand_in_is_forced_every_output_says_so(
    server: Server, documents: Any, tmp_path: Path
) -> None:
    ended = ycsb(server, "load", "a", "recordcount=10")
    assert f"[WARN] {server.name} answers" in ended.stderr
    assert ended.stdout.startswith(f"[STAND-IN], {server.name}, 1\n[OVERALL], RunTime(ms), ")
    kept = tmp_path / "summary.json"
    exporter = "site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter"
    done(server, "run", "c", "recordcount=10", f"exportfile={kept}", f"exporter={exporter}")
    assert server.name in kept.read_text(encoding="utf-8")


def test_a_load_writes_the_documents_of_ycsbs_binding(server: Server, documents: Any) -> None:
    output = done(server, "load", "a")
    assert returned(output, "INSERT") == {"OK": RECORDS}
    found = {document.pop("_id"): document for document in documents.find()}
    assert len(found) == RECORDS
    assert "user6284781860667377211" in found
    for fields in found.values():
        assert sorted(fields) == [f"field{number}" for number in range(10)]
        assert all(isinstance(v, bytes) and len(v) == 100 for v in fields.values())


@pytest.mark.parametrize("letter", sorted(MEASURED))
def test_every_workload_runs_to_its_last_operation(
    server: Server, documents: Any, letter: str
) -> None:
    done(server, "load", letter, "batchsize=100")
    output = done(server, "run", letter, "operationcount=300")
    measured = set(re.findall(r"\[([A-Z-]+)\], Operations", output)) - {"CLEANUP"}
    assert measured == MEASURED[letter]
    # A read-modify-write has no status of its own, but those of its parts.
    for operation in measured - {"READ-MODIFY-WRITE"}:
        assert set(returned(output, operation)) == {"OK"}
    (reading,) = importer.read(output.encode())
    assert (reading.operations, reading.values["errors"]) == (300, 0)


def test_a_scan_longer_than_a_batch_is_fetched_to_its_end(server: Server, documents: Any) -> None:
    done(server, "load", "e", "batchsize=100")
    # Of 250 documents a server gives 101 at once, or a hundred: the rest is asked for with getMore.
    only = ("operationcount=20", "scanproportion=1", "insertproportion=0", "minscanlength=250",
            "maxscanlength=250")  # fmt: skip
    before = asked_for_more(documents)
    assert returned(done(server, "run", "e", *only), "SCAN") == {"OK": 20}
    after = asked_for_more(documents)
    assert after is None or before is None or after > before


def asked_for_more(documents: Any) -> int | None:
    """How often its server was, if it counts that."""
    metrics = documents.database.client["admin"].command("serverStatus").get("metrics", {})
    counted = metrics.get("commands", {}).get("getMore")
    return None if counted is None else int(counted["total"])


def test_a_read_modify_write_and_an_update_change_one_field(server: Server, documents: Any) -> None:
    done(server, "load", "f")
    before = {document["_id"]: document for document in documents.find()}
    only = ("operationcount=200", "requestdistribution=sequential", "readproportion=0",
            "readmodifywriteproportion=0", "updateproportion=1")  # fmt: skip
    done(server, "run", "f", *only)
    after = {document["_id"]: document for document in documents.find()}
    changed = [
        sum(before[key][field] != after[key][field] for field in before[key]) for key in before
    ]
    assert sorted(changed) == [0] * (RECORDS - 200) + [1] * 200


def test_values_verify_and_a_wrong_one_is_seen(server: Server, documents: Any) -> None:
    read = (f"operationcount={RECORDS}", "requestdistribution=sequential", "dataintegrity=true")
    done(server, "load", "c", "dataintegrity=true")
    assert returned(done(server, "run", "c", *read), "VERIFY") == {"OK": RECORDS}
    key = documents.find_one()["_id"]
    documents.update_one({"_id": key}, {"$set": {"field3": b"x"}})
    ended = ycsb(server, "run", "c", *read)
    assert ended.returncode == 1
    assert returned(ended.stdout, "VERIFY") == {"OK": RECORDS - 1, "UNEXPECTED_STATE": 1}


def test_what_is_not_there_is_an_error_to_read_and_not_found_to_update(
    server: Server, documents: Any
) -> None:
    done(server, "load", "a", "recordcount=10")
    documents.delete_many({})
    ended = ycsb(server, "run", "a", "operationcount=200")
    assert ended.returncode == 1
    assert set(returned(ended.stdout, "READ-FAILED")) == set()
    assert set(returned(ended.stdout, "READ")) == {"ERROR"}
    assert set(returned(ended.stdout, "UPDATE")) == {"NOT_FOUND"}


def test_a_second_load_fails_unless_it_may_replace(server: Server, documents: Any) -> None:
    done(server, "load", "a")
    again = ycsb(server, "load", "a")
    assert again.returncode == 1
    assert "ERROR" in returned(again.stdout, "INSERT")
    done(server, "load", "a", "mongodb.upsert=true")
    assert documents.estimated_document_count() == RECORDS
