"""Real trials on a real Kubernetes cluster: whichever TARE_KUBERNETES names, else a rig for as long
as these tests take.

Skipped where none is named and the rig's programs were never built: `rig/build.sh` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.runtimes.kubernetes.api import Api, ClientApi
from tare.runtimes.kubernetes.facts import read_facts
from tare.runtimes.kubernetes.names import RUN_LABEL
from tare.runtimes.kubernetes.settings import cluster_settings

from . import ferretdb, replica_sets, rigs
from .conftest import Bench, let_run

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with rigs.KUBERNETES.at_hand("test_kubernetes.py"):
        yield


@pytest.fixture
def api(cluster: None) -> Api:
    settings = cluster_settings()
    assert settings is not None
    return ClientApi(settings)


ENDPOINTS = ("host-port", "node-port", "service-ip", "container-dns")


def write(
    bench: Bench,
    *endpoints: str,
    field: str = "network",
    network: str = "host-port",
    storage: str = "emptydir",
    **parts: Any,
) -> Path:
    """A study of these endpoints, the first its baseline."""
    levels = [f"    {one}: {{platform.{field}: {one}}}" for one in endpoints]
    pods = f"runtime: kubernetes, network: {network}, storage: {storage}, limits: {{memory: 1GiB}}"
    return bench.study(*levels, name="cluster", factor="endpoint", platform=f"{{{pods}}}", **parts)


def namespaces(api: Api) -> list[str]:
    """Existing namespaces of runs, except those in deletion."""
    return [
        one["metadata"]["name"]
        for one in api.find("Namespace", labels=RUN_LABEL)
        if not one["metadata"].get("deletionTimestamp")
    ]


@pytest.mark.parametrize(
    ("client", "storage", "endpoints"),
    [
        pytest.param(
            "{}",
            "emptydir",
            ("host-port", "service-ip"),
            id="client outside",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "{runtime: kubernetes, network: bridge}",
            "layer",
            ("container-dns",),
            id="client inside",
        ),
    ],
)
def test_an_endpoint_is_proven_loaded_and_recorded(
    bench: Bench, api: Api, client: str, storage: str, endpoints: tuple[str, ...]
) -> None:
    study = write(bench, *endpoints, client=client, storage=storage)
    bench.measured("run", study, timeout=1500)
    found = bench.manifests("cluster")
    assert len(found) == len(endpoints)
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        assert manifest["path"]["cluster"]["network plugin"]
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        assert unit["path"].startswith(unit["network"])
        assert unit["parity"]["quality of service"] == "Burstable"
        assert manifest["database"]["data"] == next(iter(found.values()))["database"]["data"]
        assert manifest["database"]["data"]["snapshot"]
        assert manifest["server_cpu_s"] > 0
    assert namespaces(api) == []


@pytest.mark.long  # of Cassandra; the set of stubs below has the same endpoints and slices
def test_all_endpoints_of_one_set_of_pods_in_slices(bench: Bench, api: Api) -> None:
    study = write(bench, *ENDPOINTS, field="endpoint", network="container-dns")
    turns = ("--set", "design.slice=100ms", "--set", "design.turn=pass")
    bench.measured("run", study, *turns, timeout=1500)
    found = bench.manifests("cluster")
    assert len({one["deployment"] for one in found.values()}) == 1
    targets = set()
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        others = 3  # of the baseline's deployment: it has as many slices as they together
        share = others if manifest["levels"]["endpoint"] == "host-port" else 1
        assert manifest["slices"]["count"] == 10 * share
        assert manifest["slices"]["frozen"]
        assert manifest["clients"][0]["errors"] == 0
        assert manifest["path"]["endpoint"] == manifest["levels"]["endpoint"]
        units = [one for one in manifest["units"] if one["role"] == "database"]
        assert all(unit["path"].startswith(manifest["levels"]["endpoint"]) for unit in units)
        assert 0 < manifest["server_cpu_s"] < manifest["machine_cpu_s"]
        targets |= {unit["endpoint"] for unit in units}
    assert len(targets) == 4
    assert namespaces(api) == []


@pytest.mark.long
def test_a_mongodb_server_of_the_user_s_runs_in_a_pod(bench: Bench, api: Api) -> None:
    """FerretDB in place of MongoDB."""
    levels = {name: f"{{platform.network: {name}}}" for name in ENDPOINTS if name != "node-port"}
    pods = "{runtime: kubernetes, network: host-port, storage: host-path, limits: {memory: 1GiB}}"
    client = "{runtime: kubernetes, network: bridge}"
    ferretdb.measured(bench, levels, platform=pods, client=client)
    assert namespaces(api) == []


@pytest.mark.long
def test_a_mongodb_server_of_the_user_s_starts_from_one_snapshot_in_pods(
    bench: Bench, api: Api
) -> None:
    """FerretDB in place of MongoDB, natively too."""
    pod = "{{platform: {{runtime: kubernetes, network: host-port, storage: {0}}}}}"
    levels = {"native": "{}"} | {name: pod.format(name) for name in ("host-path", "emptydir")}
    ferretdb.started_from_one_snapshot(bench, levels)
    assert namespaces(api) == []


def test_all_endpoints_of_one_set_of_stubs_in_slices(bench: Bench, api: Api) -> None:
    pods = "{runtime: kubernetes, network: container-dns, storage: emptydir}"
    found = replica_sets.measured_in_slices(bench, ENDPOINTS, platform=pods)
    for name, manifest in found.items():
        assert manifest["path"]["cluster"]["network plugin"]
        assert manifest["path"]["endpoint"] == name
        assert 0 < manifest["server_cpu_s"] < manifest["machine_cpu_s"]
    assert len(set().union(*map(replica_sets.reached, found.values()))) == 3 * len(ENDPOINTS)
    assert namespaces(api) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("client", "storage"),
    [("{}", "host-path"), ("{runtime: kubernetes, network: bridge}", "layer")],
    ids=["client outside", "client in a pod"],
)
def test_members_of_a_set_know_each_other_by_the_endpoint_of_the_study(
    bench: Bench, api: Api, client: str, storage: str
) -> None:
    levels = {name: f"{{platform.network: {name}}}" for name in (*ENDPOINTS, "host")}
    pods = f"{{runtime: kubernetes, network: host-port, storage: {storage}}}"
    study = replica_sets.write(bench, levels, platform=pods, client=client)
    found = replica_sets.done(bench, bench.tare("run", study))
    assert set(found) == set(levels)
    assert len({one["deployment"] for one in found.values()}) == len(levels)
    for name, manifest in found.items():
        assert replica_sets.named(manifest) == replica_sets.reached(manifest)
        assert all(one["path"].startswith(name) for one in replica_sets.members(manifest))
    assert namespaces(api) == []


@pytest.mark.long
def test_three_nodes_spread_and_keep_their_data_on_their_machines(bench: Bench, api: Api) -> None:
    machines = len(read_facts(api).usable)
    study = write(bench, "host-port", nodes=3, storage="host-path")
    bench.measured("run", study, timeout=1500)
    (manifest,) = bench.manifests("cluster").values()
    endpoints = {one["endpoint"] for one in manifest["units"] if one["role"] == "database"}
    assert len({one.rpartition(":")[0] for one in endpoints}) == min(3, machines)
    assert manifest["database"]["data"]["snapshot"], "each pod was given its node's files"
    assert not list(Path("/var/lib/tare").glob("tare-cluster.*"))


@pytest.mark.long
def test_a_pod_that_is_deleted_fails_its_trial_and_nothing_else(bench: Bench, api: Api) -> None:
    study = write(bench, "host-port", blocks=2, measure="10s")
    process = bench.start("run", study)
    bench.await_event(process, "trial begun", run="cluster")
    (namespace,) = namespaces(api)
    (pod,) = api.find("Pod", namespace, labels="tare.group")
    api.delete("Pod", pod["metadata"]["name"], namespace, grace_s=0)
    output, _ = process.communicate(timeout=900)
    assert process.returncode in (0, 3), output
    found = bench.manifests("cluster")
    failed = [one for one in found.values() if one["status"] == "failed"]
    assert len(failed) == 1
    assert "pod" in failed[0]["reason"]
    assert len([one for one in found.values() if one["status"] == "done"]) == 2
    assert namespaces(api) == []


def test_what_a_killed_run_leaves_is_found_and_removed(bench: Bench, api: Api) -> None:
    process = bench.start("run", write(bench, "host-port", measure="30s"))
    while not namespaces(api):
        let_run(process)
    process.kill()
    process.wait()
    assert "tare-cluster" in bench.cleaned()
    assert namespaces(api) == []


@pytest.mark.long
def test_the_ways_to_a_pod_are_weighed_beside_native(bench: Bench, api: Api) -> None:
    words = ("weigh", "kubernetes", "--rounds", "3", "--seconds", "100", "--in-flight", "1")
    done = bench.measured(*words, "--json")
    document = json.loads(done.stdout)
    found = {one["way"]: one for one in document["prices"]}
    assert {"native", "kubernetes.host-port", "kubernetes.container-dns"} <= found.keys()
    assert found["kubernetes.container-dns"]["added"]["value"] > 0
    assert found["kubernetes.container-dns"]["counts"]["packets"]["value"] >= 1.5
    if len(api.find("Node")) == 1:
        assert "no second node" in document["left_out"]["kubernetes.between-nodes"]
    else:
        between = found["kubernetes.between-nodes"]
        assert between["path"].endswith("from another node's pod")
        assert between["counts"]["packets"]["value"] == pytest.approx(2.0, abs=0.4)
        assert between["added"]["value"] > found["kubernetes.container-dns"]["added"]["value"]
    assert namespaces(api) == []


@pytest.mark.long
def test_each_storage_of_a_pod_and_its_system_calls_are_weighed_beside_native(
    bench: Bench, api: Api
) -> None:
    done = bench.tare("weigh", "kubernetes", "--what", "system,storage", "--rounds", "3", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    pods = {f"kubernetes.{kind}" for kind in ("host-path", "pvc", "emptydir", "layer")}
    refused = pods & document["left_out"].keys()
    assert refused <= {"kubernetes.pvc"}, document["left_out"]  # a cluster without storage classes
    had = {"native", "native again", *(pods - refused)}
    assert document["file_systems"].keys() == had
    assert document["file_systems"]["kubernetes.layer"]["kind"] == "overlay"
    stored = [one for one in document["prices"] if one["what"] == "storage"]
    assert {one["platform"] for one in stored} == had
    assert all(one["wall"]["ns"]["value"] > 100 for one in stored)
    wake = {one["platform"]: one for one in document["prices"] if one["piece"] == "futex_wake"}
    late = [why for name, why in document["left_out"].items() if name.startswith("futex wake, ")]
    assert "kubernetes" in wake or "late or too long" in late[0]  # a busy machine
    assert namespaces(api) == []


@pytest.mark.long
def test_the_start_of_a_pod_is_timed_to_its_first_answer(bench: Bench, api: Api) -> None:
    done = bench.tare("weigh", "kubernetes", "--what", "start", "--rounds", "3", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    started = {one["platform"]: one["wall"]["ns"]["value"] for one in document["prices"]}
    assert started.keys() == {"native", "native again", "kubernetes.host-port"}
    assert started["kubernetes.host-port"] > 10 * started["native"]
    assert namespaces(api) == []
