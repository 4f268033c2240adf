"""Real trials on a real Docker Swarm: whichever TARE_SWARM names, else a rig for as long as these
tests take.

Skipped where none is named and we are not root, or there is no Docker engine to start.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.artifacts.binaries import find
from tare.artifacts.image import build_program_image
from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.facts import NO_IP_VS
from tare.runtimes.swarm.leftovers import leftovers
from tare.runtimes.swarm.named import ask_swarm
from tare.runtimes.swarm.runtime import SwarmRuntime
from tare.runtimes.swarm.settings import swarm_settings
from tare.study.platform import Platform

from . import ferretdb, replica_sets, rigs
from .conftest import Bench, let_run

pytestmark = pytest.mark.engine

TASKS = """{runtime: swarm, network: host-port, storage: volume, limits: {memory: 1GiB},
           placement: {node_selector: {node.role: worker}}}"""
INSIDE = "{runtime: swarm, network: bridge}"


@pytest.fixture(scope="module", autouse=True)
def swarm() -> Iterator[None]:
    with rigs.SWARM.at_hand("test_swarm.py"):
        yield


def write(
    bench: Bench, *endpoints: str, field: str = "network", client: str = INSIDE, **parts: Any
) -> Path:
    """A study of these endpoints, the first its baseline."""
    levels = [f"    {one}: {{platform.{field}: {one}}}" for one in endpoints]
    return bench.study(
        *levels, name="swarm", factor="endpoint", platform=TASKS, client=client, **parts
    )


def test_two_endpoints_are_proven_loaded_and_recorded_and_what_needs_ip_vs_is_said(
    bench: Bench,
) -> None:
    study = write(bench, "host-port", "container-dns", "service-ip")
    done = bench.measured("run", study, timeout=900)
    found = {one["condition"]: one for one in bench.manifests("swarm").values()}
    kernel = getattr(ask_swarm(), "ip_vs", None)
    assert set(found) >= {"host-port", "container-dns"}
    assert ("service-ip" in found) == bool(kernel)
    if not kernel:
        assert "service-ip" in done.stdout + done.stderr
        assert "lacks IP_VS" in done.stdout + done.stderr
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        assert manifest["path"]["network"]["encapsulation"] == "VXLAN"
        assert manifest["database"]["data"] == next(iter(found.values()))["database"]["data"]
        assert manifest["database"]["data"]["snapshot"]
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        assert unit["path"].startswith(unit["network"])
        assert manifest["server_cpu_s"] > 0
    assert leftovers().words() == {}


@pytest.mark.long  # of Cassandra; the set of stubs below has the same endpoints and slices
def test_two_endpoints_of_one_task_in_slices(bench: Bench) -> None:
    study = write(bench, "host-port", "container-dns", field="endpoint")
    network = ("--set", "platform.network=container-dns")
    turns = ("--set", "design.slice=100ms", "--set", "design.turn=pass")
    bench.measured("run", study, *turns, *network, timeout=900)
    found = bench.manifests("swarm")
    assert len(found) == 2
    assert len({one["deployment"] for one in found.values()}) == 1
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        assert manifest["slices"]["count"] == 10
        assert manifest["slices"]["frozen"]
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        assert unit["path"].startswith(manifest["levels"]["endpoint"])
    assert leftovers().words() == {}


def test_a_mongodb_server_of_the_user_s_runs_as_a_service_from_a_snapshot(bench: Bench) -> None:
    """FerretDB in its stead, by one endpoint; others are tried with Cassandra and with stubs."""
    levels = {"container-dns": "{platform.network: container-dns}"}
    found = ferretdb.started_from_one_snapshot(bench, levels, platform=TASKS, client=INSIDE)
    (manifest,) = found.values()
    (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
    assert unit["image"]
    assert unit["path"].startswith("container-dns")
    assert leftovers().words() == {}


def test_two_endpoints_of_one_set_of_stubs_in_slices(bench: Bench) -> None:
    tasks = "{runtime: swarm, network: container-dns, storage: volume}"
    endpoints = ("host-port", "container-dns")
    replica_sets.measured_in_slices(bench, endpoints, platform=tasks, client=INSIDE)
    assert leftovers().words() == {}


@pytest.mark.long
def test_members_of_a_set_know_each_other_by_the_endpoint_of_the_study(bench: Bench) -> None:
    levels = {name: f"{{platform.network: {name}}}" for name in ("host-port", "container-dns")}
    tasks = "{runtime: swarm, network: host-port, storage: layer}"
    study = replica_sets.write(bench, levels, platform=tasks, client=INSIDE)
    found = replica_sets.done(bench, bench.tare("run", study))
    assert set(found) == set(levels)
    for manifest in found.values():
        assert replica_sets.named(manifest) == replica_sets.reached(manifest)
    assert leftovers().words() == {}


@pytest.mark.parametrize("endpoint", ["service-ip", "node-port"])
def test_a_path_that_swallows_packets_is_refused_with_what_the_kernel_lacks(
    endpoint: str, tmp_path: Path
) -> None:
    settings = swarm_settings()
    runtime = SwarmRuntime("refused", tmp_path, settings)
    if runtime.swarm_facts().ip_vs is not False:
        pytest.skip(
            "the nodes' kernel has IP_VS, or is not known; on one without: "
            "pytest tests/integration/test_swarm.py"
        )
    helper = build_program_image(runtime.engine, "pod", find("tare-pod"), print)
    runtime.use_helper(runtime.provide(helper, print))
    platform = Platform(runtime="swarm", network=endpoint, storage="layer")  # type: ignore[arg-type]
    with pytest.raises(RuntimeUnavailableError, match="is not runnable here") as caught:
        runtime.prove(platform, 2, 9042, ["swarm"])
    for unit in ("path-1", "path-2"):
        assert f"({unit})" in caught.value.why, "each was asked, and for as long as it may take"
    assert NO_IP_VS in caught.value.why
    assert "IP_VS" in caught.value.remedy
    runtime.close()
    assert leftovers().words() == {}


@pytest.mark.long
def test_the_way_between_tasks_of_two_nodes_is_weighed_over_the_overlay(bench: Bench) -> None:
    words = ("weigh", "swarm", "--rounds", "3", "--seconds", "100", "--in-flight", "1")
    done = bench.measured(*words, "--json")
    found = {one["way"]: one for one in json.loads(done.stdout)["prices"]}
    assert {"native", "swarm.host-port", "swarm.between-nodes"} <= found.keys()
    between = found["swarm.between-nodes"]
    assert "overlay network, VXLAN" in between["path"]
    assert between["path"].endswith("from another node's task")
    assert between["counts"]["packets"]["value"] == pytest.approx(2.0, abs=0.4)
    assert between["added"]["value"] > 0
    assert leftovers().words() == {}


@pytest.mark.long
def test_each_storage_of_a_task_its_system_calls_and_its_start_are_weighed_beside_native(
    bench: Bench,
) -> None:
    words = ("weigh", "swarm", "--what", "system,storage,start", "--rounds", "3")
    done = bench.tare(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)

    def of(piece: str) -> set[str]:
        found = {one["platform"] for one in document["prices"] if one["piece"] == piece}
        return found - {"native", "native again"}

    assert of("append") == {"swarm.volume", "swarm.layer"}, document["left_out"]
    late = [why for name, why in document["left_out"].items() if name.startswith("futex wake, ")]
    assert of("futex_wake") == {"swarm"} or "late or too long" in late[0]  # a busy machine
    assert of("start") == {"swarm.host-port"}
    assert leftovers().words() == {}


def test_a_task_that_is_killed_fails_its_trial_and_what_a_killed_run_leaves_is_removed(
    bench: Bench,
) -> None:
    process = bench.start("run", write(bench, "host-port", client="{}", measure="60s", blocks=2))
    bench.await_event(process, "trial begun", run="swarm")
    engines = swarm_settings().engines
    for engine in engines.values():
        docker = ["docker", "-H", engine]
        wanted = [*docker, "ps", "-q", "--filter", "label=tare.unit"]
        ids = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout.split()
        for one in ids:
            subprocess.run([*docker, "kill", one], capture_output=True, check=True)
    bench.await_event(process, "trial failed", run="swarm")
    failed = next(one for one in bench.journal("swarm") if one["event"] == "trial failed")
    assert "non-zero exit (137)" in json.dumps(failed)
    while leftovers().words() == {}:  # the failed attempt's cluster is gone, the next one comes
        let_run(process)
    process.kill()
    process.wait()
    assert "tare-swarm" in bench.cleaned()
    assert leftovers().words() == {}
