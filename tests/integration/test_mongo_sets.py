"""Replica sets from plan to report where no orchestrator runs them: in containers by each endpoint,
with data in their layer, with the client in a container, on hosts over SSH, in groups of hosts.

The sets are three stubs, or of the mongod that MONGOD names. FerretDB, which knows no sets, keeps
documents as one node.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import psutil
import pytest

from tests.integration import ferretdb, replica_sets, ssh_hosts

from .conftest import Bench, leftovers
from .test_endpoints import HOSTS, PATHS
from .test_frozen import struck

pytestmark = pytest.mark.engine

BRIDGED = "{{platform: {{runtime: docker, network: bridge, endpoint: {0}}}}}"
SLICES = ("--set", "design.slice=100ms", "--set", "design.turn=pass")
ENDPOINTS = [name for name in HOSTS if name != "loopback"]  # each member has one of its own


def test_three_endpoints_lead_to_one_set_whose_members_know_each_other_by_one(
    bench: Bench,
) -> None:
    study = replica_sets.write(bench, {name: BRIDGED.format(name) for name in ENDPOINTS})
    found = replica_sets.done(bench, bench.tare("run", study, *SLICES))
    assert set(found) == set(ENDPOINTS)
    assert len({one["deployment"] for one in found.values()}) == 1
    (names,) = {frozenset(replica_sets.named(one)) for one in found.values()}
    for name, manifest in found.items():
        reached = replica_sets.reached(manifest)
        assert len(reached) == 3
        assert all(one.startswith(HOSTS[name]) for one in reached)
        assert (reached == names) == (name == "bridge")
        assert {one["path"] for one in replica_sets.members(manifest)} == {PATHS[name]}
    relayed = {
        name: one["engine_cpu_s"] / sum(client["ok"] for client in one["clients"])
        for name, one in found.items()
    }
    others = max(relayed["bridge"], relayed["published"])
    assert relayed["proxy"] > 4 * others, "the client stays at the endpoint of every member"
    assert leftovers() == []


def test_a_member_that_stands_still_fails_its_trial_primary_or_not(bench: Bench) -> None:
    study = replica_sets.write(bench, {"native": "{}", "again": "{}"}, measure="2500ms")
    process = bench.start("run", study)
    struck(
        process, {"b01-native": lambda: stop(first=True), "b01-again": lambda: stop(first=False)}
    )
    manifests = bench.manifests("set")
    for name in ("native", "again"):
        failed, done = manifests[f"D1-B01-{name}.failed-1"], manifests[f"D1-B01-{name}"]
        assert "a unit stood still while it was measured" in failed["reason"]
        assert "is stopped by a signal" in failed["reason"]
        assert (done["status"], done["attempt"]) == ("done", 2)
        assert done["clients"][0]["errors"] == 0
    assert leftovers() == []


def stop(*, first: bool) -> None:
    """kill -STOP of the member started first, which is primary, or of the last one."""
    found = [
        one for one in psutil.process_iter(["name"]) if one.info["name"] == replica_sets.PROGRAM
    ]
    members = sorted(found, key=psutil.Process.create_time)
    members[0 if first else -1].send_signal(signal.SIGSTOP)


@pytest.mark.long
def test_every_network_and_storage_of_docker_with_the_client_in_a_container(bench: Bench) -> None:
    docker = "{{platform: {{runtime: docker, network: {0}, storage: {1}}}}}"
    levels = {
        "native": "{}",
        "host": docker.format("host", "volume"),
        "bridge": docker.format("bridge", "directory"),
        "published": docker.format("published", "layer"),
    }
    study = replica_sets.write(bench, levels, client="{runtime: docker}")
    found = replica_sets.done(bench, bench.tare("run", study))
    assert set(found) == set(levels)
    for manifest in found.values():
        (client,) = [one for one in manifest["units"] if one["role"] == "client"]
        assert client["image"]
    assert leftovers() == []


@pytest.mark.long
def test_ferretdb_keeps_its_documents_in_a_container_s_layer(bench: Bench) -> None:
    layer = "{{platform: {{runtime: docker, network: bridge, storage: layer, endpoint: {0}}}}}"
    ferretdb.measured(bench, {name: layer.format(name) for name in ("bridge", "loopback")})
    assert leftovers() == []


@pytest.mark.long
def test_ferretdb_starts_from_one_snapshot_wherever_it_runs(bench: Bench) -> None:
    levels = {
        "native": "{}",
        "volume": "{platform: {runtime: docker, network: host, storage: volume}}",
        "layer": "{platform: {runtime: docker, network: bridge, storage: layer}}",
    }
    ferretdb.started_from_one_snapshot(bench, levels)
    assert leftovers() == []


NODES = ["db1", "db2", "db3"]


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    """Three hosts for each of two groups, and one for the client."""
    with ssh_hosts.needed_by("test_mongo_sets.py", *NODES, "g1", "g2", "g3", "load1") as made:
        yield made


@pytest.fixture
def named(hosts: ssh_hosts.SshHosts) -> Iterator[None]:
    with hosts.named(nodes=NODES, guests=["g1", "g2", "g3"], clients=["load1"]):
        yield


ON_HOSTS = {"platform": "{machines: ssh}", "client": "{machines: ssh}"}


def test_a_set_has_a_host_for_each_member_and_its_client_one_of_its_own(
    bench: Bench, named: None
) -> None:
    levels = {"few": "{}", "many": "{load.threads: 16}"}
    found = replica_sets.done(
        bench, bench.tare("run", replica_sets.write(bench, levels, **ON_HOSTS))
    )
    for manifest in found.values():
        assert [one["machine"] for one in replica_sets.members(manifest)] == NODES
        assert replica_sets.named(manifest) == replica_sets.reached(manifest)
        (client,) = [one for one in manifest["units"] if one["role"] == "client"]
        assert client["machine"] == "load1"
        ways = {(one["from"], one["name"]) for one in manifest["path"]["asked"]}
        assert {("load1", "db1"), ("db1", "db2"), ("db2", "db3")} <= ways
    assert leftovers() == []


@pytest.mark.long
def test_two_groups_of_hosts_have_a_set_each_and_are_driven_in_slices(
    bench: Bench, named: None
) -> None:
    levels = {"nodes": "{platform.hosts: nodes}", "guests": "{platform.hosts: guests}"}
    study = replica_sets.write(bench, levels, **ON_HOSTS)
    found = replica_sets.done(bench, bench.tare("run", study, "--set", "design.slice=100ms"))
    assert set(found) == set(levels)
    for name, manifest in found.items():
        assert {one["hosts"] for one in replica_sets.members(manifest)} == {name}
        assert len({one["machine"] for one in replica_sets.members(manifest)}) == 3
        assert manifest["slices"]["frozen"]
    assert leftovers() == []


@pytest.mark.long
def test_containers_on_hosts_have_the_native_members_program(
    bench: Bench, hosts: ssh_hosts.SshHosts, named: None
) -> None:
    for name in NODES:
        hosts.hosts[name].start_engine()
    docker = "{platform: {runtime: docker, storage: layer}}"
    study = replica_sets.write(bench, {"native": "{}", "docker": docker}, **ON_HOSTS)
    found = replica_sets.done(bench, bench.tare("run", study))
    assert set(found) == {"native", "docker"}
    assert len({one["bits"] for each in found.values() for one in replica_sets.members(each)}) == 1
    assert leftovers() == []
