"""The stub that speaks MongoDB's protocol, driven by MongoDB's own Python driver and by ours.

No engine is needed: servers are processes of this machine.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from pymongo import DeleteOne, InsertOne, MongoClient, ReadPreference, ReplaceOne, UpdateOne
from pymongo.errors import OperationFailure
from pymongo.write_concern import WriteConcern

from tare.artifacts.binaries import find

from .mongo_clients import Heartbeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOT_VALID = 3
MEMBERS = 3


class Server:
    """A stub as a process."""

    def __init__(self, *words: str) -> None:
        command = [str(find("tare-stub")), "--protocol", "mongodb", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.place = self.process.stdout.readline().split()[-1]

    def report(self) -> dict[str, Any]:
        """The stub's report, once it has ended."""
        self.process.terminate()
        told, _ = self.process.communicate(timeout=10)
        found: dict[str, Any] = json.loads(told)
        return found

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextlib.contextmanager
def serving(*words: str) -> Iterator[Server]:
    server = Server("--listen", "127.0.0.1:0", *words)
    try:
        yield server
    finally:
        server.kill()


FOUND_WITHIN_S = 10.0


def ports(count: int) -> list[str]:
    """This many unused ports of 127.0.0.1."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


@pytest.fixture
def members() -> Iterator[list[Server]]:
    """A set of three."""
    places = ports(MEMBERS)
    servers = [Server("--listen", one, "--set", f"rs0={','.join(places)}") for one in places]
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()


def every_command(collection: Any) -> int:
    """Use all that the stub supports; returns the number of load requests."""
    assert collection.find_one({"_id": "user1"})["_id"] == "user1"
    assert len(collection.find_one({"_id": 7}, {"field0": 1})) == 2
    assert len(list(collection.find({"_id": {"$gte": "user5"}}, limit=230, batch_size=100))) == 230
    assert collection.insert_one({"_id": 1}).acknowledged
    assert len(collection.insert_many([{"a": one} for one in range(50)]).inserted_ids) == 50
    assert collection.update_one({"_id": 1}, {"$set": {"a": 2}}).matched_count == 1
    assert collection.replace_one({"_id": 1}, {"a": 2}, upsert=True).modified_count == 1
    assert collection.delete_one({"_id": 1}).deleted_count == 1
    both = [InsertOne({}), UpdateOne({"_id": 1}, {"$set": {"a": 1}}), ReplaceOne({}, {}),
            DeleteOne({})]  # fmt: skip
    assert collection.bulk_write(both, ordered=True).inserted_count == 1
    with pytest.raises(OperationFailure, match="knows no such command"):
        collection.count_documents({})
    with collection.find({}, batch_size=10) as cursor:
        next(cursor)  # its end kills it
    collection.drop()
    # Finds and getMores of 100, 100 and 30; what is written; a bulk of three commands; one find.
    return 2 + 3 + 5 + 3 + 1


def test_the_official_driver_uses_it_alone_without_a_complaint() -> None:
    heartbeats = Heartbeats()
    with serving("--rows", "250") as server:
        url = f"mongodb://{server.place}/"
        with MongoClient[dict[str, Any]](url, event_listeners=[heartbeats]) as client:
            load = every_command(client["ycsb"]["usertable"])
            assert client.server_info()["tareStub"]
            counted = client["admin"].command("serverStatus")["opcounters"]
            assert counted["query"] + counted["getmore"] == 2 + 3 + 1
            assert (counted["insert"], counted["delete"]) == (1 + 50 + 1, 2)
            assert client.list_database_names() == []
            assert client.topology_description.topology_type_name == "Single"
            assert heartbeats.failures == 0
        report = server.report()
    assert (report["requests"], report["answers"]) == (load, load)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-1", ""])
def test_it_lets_the_official_driver_in_who_knows_the_password(mechanism: str) -> None:
    option = f"?authMechanism={mechanism}" if mechanism else ""
    with serving("--user", "ann:s3cret") as server:
        with MongoClient[Any](f"mongodb://ann:s3cret@{server.place}/{option}") as client:
            assert client["d"]["c"].find_one({"_id": 1}) is not None
        for wrong in ("ann:other@", "bob:s3cret@", ""):
            with (
                MongoClient[Any](
                    f"mongodb://{wrong}{server.place}/{option if wrong else ''}"
                ) as one,
                pytest.raises(OperationFailure),
            ):
                one["d"]["c"].find_one({"_id": 1})


def test_a_write_that_nobody_acknowledges_hangs_nobody() -> None:
    with serving() as server, MongoClient[Any](f"mongodb://{server.place}/") as client:
        forgetful = client["d"].get_collection("c", write_concern=WriteConcern(w=0))
        assert not forgetful.insert_one({}).acknowledged
        assert client["d"]["c"].find_one({"_id": 1}) is not None


def test_the_official_driver_follows_the_primary_of_a_set(members: list[Server]) -> None:
    heartbeats = Heartbeats()
    url = f"mongodb://{members[0].place},{members[2].place}/?replicaSet=rs0"
    with MongoClient[dict[str, Any]](url, event_listeners=[heartbeats]) as client:
        collection = client["d"]["c"]
        with client.start_session() as session:
            collection.insert_one({"_id": 1}, session=session)
        assert client.primary == _pair(members[0])
        end = time.monotonic() + FOUND_WITHIN_S
        while len(client.secondaries) < MEMBERS - 1 and time.monotonic() < end:
            time.sleep(0.01)  # the one that the URL does not name is found last
        assert client.secondaries == {_pair(one) for one in members[1:]}
        near = collection.with_options(read_preference=ReadPreference.SECONDARY)
        assert near.find_one({"_id": 1}) is not None
        for place in range(MEMBERS - 1):
            members[place].kill()
            # sent again by the driver itself, to the one that it is told of
            assert collection.insert_one({"_id": place}).acknowledged
            assert client.primary == _pair(members[place + 1])
    assert members[2].report()["requests"] >= 1


def _pair(server: Server) -> tuple[str, int]:
    host, _, port = server.place.partition(":")
    return host, int(port)


def ycsb(words: Sequence[str], url: str, *pairs: str) -> str:
    given = [f"mongodb.url={url}", "tare.stand_in=true", "threadcount=4", *pairs]
    done = subprocess.run(
        [str(find("tare-load")), "ycsb", *words, *(w for pair in given for w in ("-p", pair))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == NOT_VALID, done.stderr[-2000:]
    assert re.findall("not valid: (.*)", done.stderr) == [
        "tare-stub 0.1.0 (a functional stand-in and not MongoDB) was measured"
    ]
    return done.stdout


def operations(output: str) -> dict[str, int]:
    found = re.findall(r"\[([A-Z]+)\], Return=OK, (\d+)", output)
    return {operation: int(count) for operation, count in found}


@pytest.mark.parametrize(("letter", "counted"), [("a", {"READ", "UPDATE"}), ("c", {"READ"})])
def test_our_load_reaches_it_to_the_last_operation(letter: str, counted: set[str]) -> None:
    with serving() as server:
        url = f"mongodb://{server.place}/ycsb?w=1"
        words = ["mongodb", "-P", f"workloads/workload{letter}"]
        size = ("recordcount=1000", "operationcount=20000")
        loaded = operations(ycsb(["load", *words], url, *size))
        ran = operations(ycsb(["run", *words], url, *size))
        report = server.report()
    assert loaded == {"INSERT": 1000}
    assert (set(ran), sum(ran.values())) == (counted, 20_000)
    assert (report["requests"], report["answers"]) == (21_000, 21_000)


def test_our_load_reaches_the_primary_of_a_set(members: list[Server]) -> None:
    url = f"mongodb://{','.join(one.place for one in members)}/ycsb?replicaSet=rs0"
    words = ["run", "mongodb", "-P", "workloads/workloada"]
    ran = operations(ycsb(words, url, "recordcount=1000", "operationcount=5000"))
    assert sum(ran.values()) == 5000
    assert [one.report()["requests"] for one in members] == [5000, 0, 0]
