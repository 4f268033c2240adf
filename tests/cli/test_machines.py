"""Hosts of an inventory on the command line: messages before any host is contacted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli import in_process
from tests.cli.in_process import Ended

INVENTORY = """\
[nodes]
db[1:2].example.com ansible_user=tare
[clients]
load1 ansible_host=192.0.2.9 ansible_port=2222 ansible_become=true
localhost ansible_connection=local
"""
STUDY = """\
study: hosts
database: {nodes: 2, replication_factor: 2, heap: 256MiB}
load: {records: 1000, warmup: 1s, measure: 1s}
platform: {machines: ssh}
factors:
  client:
    here: {}
    there: {client: {machines: ssh}}
baseline: {client: here}
"""


def tare(*words: str, cwd: Path, **environment: str) -> Ended:
    own = {name: value for name, value in os.environ.items() if name != "TARE_INVENTORY"}
    return in_process.tare(*words, cwd=cwd, environment=own | environment)


@pytest.fixture
def inventory(tmp_path: Path) -> str:
    (tmp_path / "hosts").write_text(INVENTORY, encoding="utf-8")
    return str(tmp_path / "hosts")


def test_hosts_are_listed_as_they_were_read(tmp_path: Path, inventory: str) -> None:
    done = tare("machines", "list", cwd=tmp_path, TARE_INVENTORY=inventory)
    assert done.returncode == 0, done.stderr
    assert "hosts:5: localhost is left out" in done.stdout
    assert "load1: 192.0.2.9 port 2222, sudo; takes load; /var/tmp/tare" in done.stdout
    told = tare("machines", "list", "--json", cwd=tmp_path, TARE_INVENTORY=inventory)
    assert [(one["name"], one["takes"]) for one in json.loads(told.stdout)["hosts"]] == [
        ("db1.example.com", "nodes"),
        ("db2.example.com", "nodes"),
        ("load1", "load"),
    ]


@pytest.mark.parametrize(
    "words", [("machines", "list"), ("machines", "prepare"), ("doctor", "--machines")]
)
def test_where_no_inventory_is_named_it_is_said_how_to_name_one(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = tare(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "no inventory of hosts is named here" in done.stderr
    assert "TARE_INVENTORY" in done.stderr


def test_an_inventory_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("db1\ndb2 ansible_user=-x\n", encoding="utf-8")
    done = tare("doctor", "--machines", cwd=tmp_path, TARE_INVENTORY="hosts")
    assert done.returncode == 2
    assert done.stderr.startswith("tare: hosts:2: user: '-x' is no user")


def test_the_doctor_of_this_machine_tells_of_the_inventory_and_asks_no_host(
    tmp_path: Path, inventory: str
) -> None:
    done = tare("doctor", "--json", cwd=tmp_path, TARE_INVENTORY=inventory)
    (found,) = [one for one in json.loads(done.stdout) if one["what"] == "machines over SSH"]
    assert found["ok"]
    assert "2 for nodes, 1 for load" in found["says"]


def test_a_step_that_there_is_not_is_refused(tmp_path: Path, inventory: str) -> None:
    done = tare("machines", "prepare", "--with", "kafka", cwd=tmp_path, TARE_INVENTORY=inventory)
    assert done.returncode == 2
    assert "one of directory, programs, clock, docker, java" in done.stderr


def test_a_plan_leaves_out_what_no_inventory_has_hosts_for(tmp_path: Path, inventory: str) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    whole = tare("plan", "study.yaml", cwd=tmp_path, TARE_INVENTORY=inventory)
    assert whole.returncode == 0, whole.stderr
    assert "left out" not in whole.stdout
    assert "a node of each cluster on db1.example.com, db2.example.com" in whole.stdout
    assert "load clients, which take turns, on load1 (192.0.2.9)" in whole.stdout
    none = tare("plan", "study.yaml", cwd=tmp_path)
    assert none.returncode == 2
    assert "no inventory of hosts is named here" in none.stderr
    (tmp_path / "few").write_text("[nodes]\ndb1\ndb2\n", encoding="utf-8")
    few = tare("plan", "study.yaml", cwd=tmp_path, TARE_INVENTORY="few")
    assert few.returncode == 0, few.stderr
    assert "the inventory has no host for load clients" in few.stdout


GROUPS = """\
[metal]
m1
m2
[vmware]
v1
[both]
m1
v1
[clients]
load1
"""
COMPARED = """\
study: hosts
database: {heap: 256MiB}
load: {records: 1000, warmup: 1s, measure: 1s}
platform: {machines: ssh}
client: {machines: ssh}
factors:
  hosts:
    metal: {platform.hosts: metal}
    other: {platform.hosts: OTHER}
baseline: {hosts: metal}
"""


def compared(tmp_path: Path, other: str, *words: str) -> Ended:
    """A plan that compares the group metal with another."""
    (tmp_path / "groups").write_text(GROUPS, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(COMPARED.replace("OTHER", other), encoding="utf-8")
    return tare("plan", "study.yaml", *words, cwd=tmp_path, TARE_INVENTORY="groups")


def test_a_plan_says_which_hosts_each_group_gives(tmp_path: Path) -> None:
    done = compared(tmp_path, "vmware")
    assert done.returncode == 0, done.stderr
    assert "native on metal" in done.stdout
    assert "metal: a node of each cluster on m1; where one is silent, on m2" in done.stdout
    assert "vmware: a node of each cluster on v1\n" in done.stdout


@pytest.mark.parametrize(
    ("other", "why", "remedy"),
    [
        ("vmwre", "no host of groups is in a group vmwre", "did you mean vmware?"),
        ("both", "m1 is in the groups metal and both", "out of one of the two groups"),
        ("clients", "load1 is for database nodes and for load clients", "client.machines to local"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused_before_any_host_is_asked(
    tmp_path: Path, other: str, why: str, remedy: str
) -> None:
    done = compared(tmp_path, other)
    assert done.returncode == 2
    place = "study.yaml:9" if other != "clients" else "study.yaml:5"
    assert place in done.stderr
    assert why in done.stderr
    assert remedy in done.stderr


def test_a_group_too_small_for_the_cluster_is_refused(tmp_path: Path) -> None:
    done = compared(tmp_path, "vmware", "--set", "database.nodes=2")
    assert done.returncode == 2
    assert "study.yaml:9" in done.stderr
    assert "the group vmware of groups has 1" in done.stderr
    assert "add hosts to the group vmware, or lower database.nodes" in done.stderr


def test_hosts_are_listed_with_the_groups_that_a_study_may_name(tmp_path: Path) -> None:
    (tmp_path / "groups").write_text("[nodes]\ndb1\n[vmware]\nv1\n[clients]\nload1\n")
    done = tare("machines", "list", cwd=tmp_path, TARE_INVENTORY="groups")
    assert "takes nodes where a study names vmware" in done.stdout
    assert "db1: db1 port 22; takes nodes;" in done.stdout
