"""The server of MongoDB's retry cases, judged by drivers that are not ours: MongoDB's for Python
and Rust, and its Java driver under YCSB.

It is part of the runner of those cases (`make test-mongodb-specifications`), which serves it while
its own input is open.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bench.mongo_wire import clients
from pymongo import DeleteOne, InsertOne, MongoClient, UpdateOne
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.monitoring import CommandListener

from .mongo_clients import Heartbeats, java_ycsb, rust_driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pymongo.monitoring import CommandFailedEvent, CommandStartedEvent

pytestmark = [pytest.mark.engine, pytest.mark.filterwarnings("error")]

NATURES = ("single", "replicaset", "sharded")
CARGO = ("cargo", "test", "--no-run", "--profile", "checked", "--locked", "--message-format=json")
RUNNER = "specifications"
USER = "ann:pencil"
FIELDS = [f"field{number}" for number in range(10)]
RECORDS, OPERATIONS = 200, 400
_BUILD_S = 1800
_END_S = 10


@pytest.fixture(scope="module")
def program() -> str:
    """The runner of the cases."""
    if shutil.which("cargo") is None:
        pytest.skip(f"the server is built with cargo: install Rust; then: pytest {__file__}")
    words = (*CARGO, "-p", "tare-mongo", "--test", RUNNER)
    root = Path(__file__).parents[2]
    built = subprocess.run(
        words, cwd=root, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert built.returncode == 0, built.stderr
    made = [json.loads(line) for line in built.stdout.splitlines()]
    (found,) = [str(one["executable"]) for one in made if one.get("executable")]
    return found


@contextlib.contextmanager
def serving(program: str, nature: str) -> Iterator[str]:
    """The running server's HOST:PORT. The server must end silently when its input ends."""
    environment = os.environ | {"SCRIPTED_SERVER": nature}
    with subprocess.Popen(
        [program], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
            complaints = process.communicate(timeout=_END_S)
            assert (process.returncode, *complaints) == (0, "", "")
        finally:
            process.kill()


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nobody logs a warning."""
    yield
    said = caplog.get_records("call")
    assert [one for one in said if one.levelno >= logging.WARNING] == []


class Commands(CommandListener):
    """Commands that a driver sent, and those that failed."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.failed_ones: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.sent.append(event.command_name)

    def succeeded(self, event: object) -> None:
        pass

    def failed(self, event: CommandFailedEvent) -> None:
        self.failed_ones.append(event.command_name)


def every_kind_of_work(collection: Any) -> list[dict[str, Any]]:
    """Insert, change, delete and scan; returns the documents that must remain, in order."""
    assert collection.insert_one({"_id": "user0", "n": 0}).acknowledged
    rest = [{"_id": f"user{number}", "n": number} for number in range(1, 9)]
    assert len(collection.insert_many(rest).inserted_ids) == 8
    assert collection.update_one({"_id": "user3"}, {"$set": {"n": 30}}).modified_count == 1
    replaced = collection.replace_one({"_id": "user9"}, {"n": 9, "m": 1}, upsert=True)
    assert replaced.upserted_id == "user9"
    assert collection.delete_one({"_id": "user4"}).deleted_count == 1
    several = [InsertOne({"_id": "user4", "n": 40}), UpdateOne({"n": 5}, {"$inc": {"n": 45}}),
               DeleteOne({"_id": "user6"})]  # fmt: skip
    done = collection.bulk_write(several)
    assert (done.inserted_count, done.modified_count, done.deleted_count) == (1, 1, 1)
    before = collection.find_one_and_update({"_id": "user7"}, {"$set": {"n": 70}})
    assert before == {"_id": "user7", "n": 7}
    assert collection.find_one({"_id": "user5"}) == {"_id": "user5", "n": 50}
    scan = collection.find({"_id": {"$gte": "user4"}}, {"_id": 1}).sort("_id").skip(1).limit(3)
    assert [one["_id"] for one in scan] == ["user5", "user7", "user8"]
    backwards = collection.find({"n": {"$gt": 9}}, {"_id": 0}).sort("n", -1)
    assert [one["n"] for one in backwards] == [70, 50, 40, 30]
    assert (collection.count_documents({}), collection.estimated_document_count()) == (9, 9)
    numbers = {0: 0, 1: 1, 2: 2, 3: 30, 4: 40, 5: 50, 7: 70, 8: 8}
    kept = [{"_id": f"user{number}", "n": n} for number, n in numbers.items()]
    return [*kept, {"_id": "user9", "n": 9, "m": 1}]


def written(place: str) -> dict[str, dict[str, Any]]:
    """The documents of YCSB's collection by id, as a new client finds them."""
    with MongoClient[dict[str, Any]](f"mongodb://{place}/") as client:
        return {one.pop("_id"): one for one in client["ycsb"]["usertable"].find()}


@pytest.mark.parametrize("user", ["", f"{USER}@"])
@pytest.mark.parametrize("nature", NATURES)
def test_the_python_driver_uses_it_without_a_complaint(
    program: str, nature: str, user: str, quiet: None
) -> None:
    heartbeats, commands = Heartbeats(), Commands()
    with serving(program, nature) as place:
        url = f"mongodb://{user}{place}/"
        with MongoClient[Any](url, event_listeners=[heartbeats, commands]) as client:
            kept = every_kind_of_work(client["ycsb"]["usertable"])
            assert client["admin"].command("ping")["ok"] == 1
            assert client.server_info()["scripted"]
        found = written(place)
        assert [{"_id": key, **found[key]} for key in sorted(found)] == kept
        with MongoClient[Any](url) as client:
            client["ycsb"].drop_collection("usertable")
        assert written(place) == {}
    assert (heartbeats.failures, commands.failed_ones) == (0, [])


def test_whoever_does_not_know_the_password_is_not_let_in(program: str, quiet: None) -> None:
    with (
        serving(program, "single") as place,
        MongoClient[Any](f"mongodb://ann:other@{place}/") as client,
        pytest.raises(OperationFailure, match="Authentication failed"),
    ):
        client["d"]["c"].find_one({})


def fail(client: MongoClient[Any], point: str, times: int, **data: Any) -> None:
    client["admin"].command({"configureFailPoint": point, "mode": {"times": times}, "data": data})


FAILURES: Mapping[str, Mapping[str, Any]] = {
    "not-primary": {"errorCode": 10107},
    "host-unreachable": {"errorCode": 6},
    "connection-lost": {"closeConnection": True},
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_python_driver_sends_a_write_once_more_through_failcommand(
    program: str, name: str, quiet: None
) -> None:
    commands = Commands()
    with (
        serving(program, "replicaset") as place,
        MongoClient[Any](f"mongodb://{place}/", event_listeners=[commands]) as client,
    ):
        collection = client["d"]["c"]
        fail(client, "failCommand", 1, failCommands=["insert"], **FAILURES[name])
        assert collection.insert_one({"_id": 1}).acknowledged
        assert commands.sent.count("insert") == 2
        fail(client, "failCommand", 2, failCommands=["insert"], **FAILURES[name])
        with pytest.raises(PyMongoError):
            collection.insert_one({"_id": 2})
        assert commands.sent.count("insert") == 4
        assert list(collection.find()) == [{"_id": 1}]
        assert commands.failed_ones == ["insert"] * 3


def test_a_write_whose_answer_was_lost_is_not_done_twice(program: str, quiet: None) -> None:
    commands = Commands()
    with (
        serving(program, "replicaset") as place,
        MongoClient[Any](f"mongodb://{place}/", event_listeners=[commands]) as client,
    ):
        collection = client["d"]["c"]
        collection.insert_one({"_id": 1, "n": 0})
        fail(client, "onPrimaryTransactionalWrite", 1)
        assert collection.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1
        assert commands.sent.count("update") == 2
        assert collection.find_one() == {"_id": 1, "n": 1}


def rust(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("nature", NATURES)
def test_the_rust_driver_uses_it_without_a_complaint(program: str, nature: str) -> None:
    """The driver reads, updates, scans all and inserts many."""
    driver = rust_driver(__file__)
    with serving(program, nature) as place:
        url = f"mongodb://{place}/ycsb?w=1"
        with MongoClient[dict[str, Any]](url) as client:
            fields = dict.fromkeys(FIELDS, b"before")
            made = [{"_id": f"user{number}", **fields} for number in range(clients.RECORDS)]
            client["ycsb"]["usertable"].insert_many(made)
        for work in ("read", "update"):
            told = json.loads(rust(driver, url, work, "4", "1"))
            assert told["errors"] == 0
            assert told["operations"] > 0
        before = written(place)
        assert len(before) == clients.RECORDS
        values = [one for fields in before.values() for one in fields.values()]
        assert len(values) == clients.RECORDS * len(FIELDS)
        assert set(values) == {b"before", b"v" * 100}
        assert int(rust(driver, url, "copy")) == clients.RECORDS
        assert written(place) == before


YCSB_SAYS = ("Command line: ", "YCSB Client ", "Loading workload", " (might take a few minutes",
             "Starting test.", "DBWrapper: ")  # fmt: skip
"""The beginnings of YCSB's normal lines beside its results."""


def java(base: tuple[str, ...], place: str, phase: str, *pairs: str) -> dict[str, int]:
    """Run YCSB's core workload; returns OK operations by name, and all must be OK."""
    given = (f"mongodb.url=mongodb://{place}/ycsb?w=1", f"recordcount={RECORDS}", *pairs)
    words = [word for pair in given for word in ("-p", pair)]
    done = subprocess.run(
        [*base, phase, "-threads", "4", *words],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert [line for line in said if not line.startswith(YCSB_SAYS)] == []
    counts = re.findall(r"\[([A-Z-]+)\], Return=(\w+), (\d+)", done.stdout)
    assert {status for _, status, _ in counts} == {"OK"}, done.stdout
    return {operation: int(count) for operation, _, count in counts}


KNOWN = ("dataintegrity=true", "fieldlengthdistribution=constant")
"""Values follow from their keys, so that any reader can verify them."""
READ_ALL = (f"operationcount={RECORDS}", "requestdistribution=sequential", "readproportion=1",
            "updateproportion=0", *KNOWN)  # fmt: skip


@pytest.mark.parametrize("nature", NATURES)
def test_ycsbs_java_binding_uses_it_without_a_complaint(program: str, nature: str) -> None:
    base = java_ycsb(__file__)
    with serving(program, nature) as place:
        assert java(base, place, "-load", *KNOWN) == {"INSERT": RECORDS}
        before = written(place)
        assert len(before) == RECORDS
        for fields in before.values():
            assert sorted(fields) == FIELDS
            assert all(isinstance(one, bytes) and len(one) == 100 for one in fields.values())
        assert java(base, place, "-t", *READ_ALL) == {"READ": RECORDS, "VERIFY": RECORDS}
        each = [f"{one}proportion=0.25" for one in ("read", "update", "scan", "insert")]
        more = (f"operationcount={OPERATIONS}", "maxscanlength=20", *each)
        counts = java(base, place, "-t", *more)
        assert set(counts) == {"READ", "UPDATE", "SCAN", "INSERT"}
        assert sum(counts.values()) == OPERATIONS
        after = written(place)
        assert len(after) == RECORDS + counts["INSERT"]
        assert 0 < sum(after[key] != before[key] for key in before) <= counts["UPDATE"]


def test_each_reads_what_another_has_written(program: str) -> None:
    """The Rust driver parses YCSB's documents and writes them anew; YCSB verifies them."""
    base, driver = java_ycsb(__file__), rust_driver(__file__)
    with serving(program, "replicaset") as place:
        java(base, place, "-load", *KNOWN)
        before = written(place)
        assert int(rust(driver, f"mongodb://{place}/ycsb?w=1", "copy")) == RECORDS
        assert written(place) == before
        assert java(base, place, "-t", *READ_ALL) == {"READ": RECORDS, "VERIFY": RECORDS}
