"""Studies of a replica set of a real mongod, of stubs, and of FerretDB in place of MongoDB.

One member and three, natively and in containers, half a minute each, and one whose primary is
killed. FerretDB is built with Go.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tare.artifacts.binaries import find
from tare.databases.mongodb.counters import COUNTERS

from . import ferretdb, mongod, replica_sets
from .conftest import Bench, leftovers
from .test_frozen import struck

pytestmark = pytest.mark.engine

STAND_IN = "FerretDB v1.24.0 (a functional stand-in and not MongoDB)"
SELDOM = {"page_faults", "connections.made"}
"""Counters that not every build of mongod has."""
STUDY = """\
study: set
question: Does a replica set work end to end?
database: {{kind: mongodb, version: "{version}", home: "{home}", nodes: {nodes},
           replication_factor: {nodes}{more}}}
load: {{workload: ycsb-{letter}, records: 500, threads: 8, warmup: 300ms, measure: {measure}}}
factors:
  client: {{one: {{}}, other: {other}}}
baseline: {{client: one}}
design: {{slice: off, deployments: 1, blocks: 1, fresh: deployment, reset: truncate,
         warm: {{gentle: 0s, at_least: 500ms, at_most: 500ms, window: 125ms}}}}
"""


USUAL = {
    "nodes": 1,
    "more": "",
    "letter": "a",
    "version": "7.0",
    "measure": "1s",
    "other": "{load: {threads: 4}}",
}


def write(bench: Bench, **parts: Any) -> Path:
    study = bench.root / "set.yaml"
    study.write_text(STUDY.format(**(USUAL | parts)), encoding="utf-8")
    return study


def run(bench: Bench, **parts: Any) -> subprocess.CompletedProcess[str]:
    return bench.tare("run", write(bench, **parts), "--json")


def of(server: str, nodes: int = 3) -> dict[str, object]:
    """Parts of a study with this many members, of a mongod or of stubs."""
    if server == "stubs":
        return {"nodes": nodes, "home": find("tare-stub"), "more": ", stand_in: true"}
    acknowledged = ", write_concern: majority"
    parts = {"home": mongod.program(), "version": mongod.version(), "more": acknowledged}
    return {"nodes": nodes} | parts


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_study_on_a_replica_set_ends_in_records(bench: Bench, nodes: int) -> None:
    done = run(bench, **of("mongod", nodes))
    assert done.returncode in (0, 3), done.stdout + done.stderr
    manifests = bench.manifests("set")
    assert len(manifests) == 2
    for manifest in manifests.values():
        states = sorted(member["state"] for member in manifest["database"]["set"])
        assert states == ["PRIMARY"] + ["SECONDARY"] * (nodes - 1)
        assert "stand_in" not in manifest["database"]
        assert manifest["clients"][0]["errors"] == 0
        assert manifest["database"]["version"] == mongod.version()
        assert set(COUNTERS) - SELDOM <= set(manifest["server"]), "serverStatus has other names"
        assert manifest["server"]["requests.update"] > 0
    assert leftovers() == []


def test_a_misspelt_setting_is_refused_by_the_plan_in_mongod_s_own_words(bench: Bench) -> None:
    parts = of("mongod", 1)
    misspelt = f"{parts['more']}, settings: {{storage: {{directoryPerDatabase: true}}}}"
    told = bench.tare("plan", write(bench, **(parts | {"more": misspelt})))
    assert told.returncode == 2, told.stdout
    assert "Unrecognized option: storage.directoryPerDatabase" in told.stdout + told.stderr


def test_doctor_finds_nothing_wrong_with_it(bench: Bench) -> None:
    told = bench.tare("doctor", "--database", "mongodb", "--home", mongod.program(), timeout=60)
    assert told.returncode == 0, told.stdout


@pytest.mark.parametrize("server", ["mongod", "stubs"])
def test_a_set_runs_natively_and_in_containers(bench: Bench, server: str) -> None:
    docker = "{platform: {runtime: docker, network: bridge, storage: volume}}"
    done = run(bench, **of(server), other=docker)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    manifests = bench.manifests("set")
    assert len(manifests) == 2
    for manifest in manifests.values():
        assert manifest["status"] == "done", manifest["reason"]
        states = sorted(member["state"] for member in manifest["database"]["set"])
        assert states == ["PRIMARY", "SECONDARY", "SECONDARY"]
        assert manifest["clients"][0]["errors"] == 0
    kinds = {name: bool(replica_sets.members(one)[0]["image"]) for name, one in manifests.items()}
    assert kinds == {"D1-B01-one": False, "D1-B01-other": True}
    assert leftovers() == []


def kill_the_primary() -> None:
    """kill -9 of the member that says that it is primary."""
    for process in psutil.process_iter(["name"]):
        if process.info["name"] not in ("mongod", "tare-stub"):
            continue
        for one in process.net_connections("tcp"):
            if one.status != psutil.CONN_LISTEN:
                continue
            with (
                suppress(PyMongoError),
                MongoClient[dict[str, object]](
                    one.laddr.ip,
                    one.laddr.port,
                    directConnection=True,
                    serverSelectionTimeoutMS=2000,
                ) as client,
            ):
                if client.admin.command("isMaster").get("ismaster"):  # of every release
                    process.kill()
                    return
    raise AssertionError("no member says that it is primary")


@pytest.mark.parametrize("server", ["mongod", "stubs"])
def test_a_primary_that_is_killed_costs_its_trial_and_no_more(bench: Bench, server: str) -> None:
    process = bench.start("run", write(bench, **of(server), measure="3s"))
    struck(process, {"b01-one": kill_the_primary})
    manifests = bench.manifests("set")
    assert manifests["D1-B01-one.failed-1"]["status"] != "done"
    assert manifests["D1-B01-one.failed-1"]["reason"]
    for name in ("D1-B01-one", "D1-B01-other"):
        assert manifests[name]["status"] == "done"
        assert manifests[name]["clients"][0]["errors"] == 0
    assert leftovers() == []


@pytest.mark.parametrize("letter", ["a", "e"])
def test_a_study_on_a_stand_in_ends_in_records_that_say_so(bench: Bench, letter: str) -> None:
    done = run(bench, home=ferretdb.program(), more=", stand_in: true", letter=letter)
    assert done.returncode == 3, done.stdout + done.stderr
    manifests = bench.manifests("set")
    assert len(manifests) == 2
    for manifest in manifests.values():
        assert manifest["status"] == "done"
        assert manifest["database"]["stand_in"] == STAND_IN
        assert manifest["clients"][0]["errors"] == 0
        assert manifest["clients"][0]["ok"] > 0
    assert f"{STAND_IN} was measured" in done.stdout
    page = (bench.root / "runs/set/report.html").read_text(encoding="utf-8")
    assert STAND_IN in page
    assert leftovers() == []


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_study_on_a_set_of_stubs_ends_in_records_that_say_so(bench: Bench, nodes: int) -> None:
    done = run(bench, home=find("tare-stub"), nodes=nodes, more=", stand_in: true")
    assert done.returncode == 3, done.stdout + done.stderr
    manifests = bench.manifests("set")
    assert len(manifests) == 2
    for manifest in manifests.values():
        states = sorted(member["state"] for member in manifest["database"]["set"])
        assert states == ["PRIMARY"] + ["SECONDARY"] * (nodes - 1)
        assert manifest["database"]["stand_in"].startswith("tare-stub ")
        assert manifest["clients"][0]["errors"] == 0
    assert leftovers() == []


def test_a_stand_in_that_was_not_asked_for_is_refused(bench: Bench) -> None:
    done = run(bench, home=ferretdb.program())
    assert done.returncode == 2, done.stdout + done.stderr
    assert "cannot be the target of a benchmark" in done.stdout + done.stderr
    assert bench.manifests("set") == {}
    assert leftovers() == []
