"""Real trials on a real Docker Swarm: whichever TARE_SWARM names, else a rig for as long as these
tests take.

Skipped where none is named and we are not root, or there is no Docker engine to start.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.artifacts.binaries import find
from tare.artifacts.image import build_program_image
from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.leftovers import leftovers
from tare.runtimes.swarm.named import ask_swarm
from tare.runtimes.swarm.runtime import SwarmRuntime
from tare.runtimes.swarm.settings import VARIABLE, swarm_settings
from tare.study.platform import Platform

from . import ferretdb, stub_sets
from .conftest import QUICK, Bench
from .rigs import SWARM_STATE, is_up, no_swarm, swarm_rig

pytestmark = pytest.mark.engine

STUDY = """\
study: swarm
question: Does a cluster of services work end to end?
database: {{heap: 256MiB, {quick}}}
platform: {{runtime: swarm, network: host-port, storage: volume, limits: {{memory: 1GiB}},
           placement: {{node_selector: {{node.role: worker}}}}}}
client: {client}
load: {{records: 2000, threads: 8, warmup: 500ms, measure: {measure}}}
factors:
  endpoint:
{levels}
baseline: {{endpoint: host-port}}
design: {{slice: off, deployments: 1, blocks: {blocks}, reset: keep, fresh: deployment,
         warm: {{at_least: 500ms, at_most: 1s, window: 250ms}}}}
"""
INSIDE = "{runtime: swarm, network: bridge}"


@pytest.fixture(scope="module", autouse=True)
def swarm() -> Iterator[None]:
    """A Swarm is named in the environment: the user's own, or a rig's."""
    if VARIABLE in os.environ:
        yield
        return
    if is_up(SWARM_STATE):  # a rig of the user's stays up
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv(VARIABLE, str(SWARM_STATE / "swarm.yaml"))
            yield
        return
    if why := no_swarm():
        pytest.skip(f"{why}, export what it says, then pytest tests/integration/test_swarm.py")
    with swarm_rig():
        yield


def write(bench: Bench, *endpoints: str, **parts: Any) -> Path:
    """A study of these endpoints."""
    fields = {
        "quick": QUICK,
        "client": INSIDE,
        "measure": "1500ms",
        "blocks": 1,
        "field": "network",
        **parts,
    }
    levels = "\n".join(f"    {one}: {{platform.{fields['field']}: {one}}}" for one in endpoints)
    path = bench.root / "swarm.yaml"
    path.write_text(STUDY.format(levels=levels, **fields), encoding="utf-8")
    return path


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
        assert manifest["slices"]["count"] == 15
        assert manifest["slices"]["frozen"]
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        assert unit["path"].startswith(manifest["levels"]["endpoint"])
    assert leftovers().words() == {}


STAND_IN = """\
study: swarm
question: Does MongoDB's stand-in run as a service?
database: {{kind: mongodb, version: "7.0", home: "{home}", stand_in: true}}
platform: {{runtime: swarm, network: host-port, storage: volume, limits: {{memory: 1GiB}},
           placement: {{node_selector: {{node.role: worker}}}}}}
client: {{runtime: swarm, network: bridge}}
load: {{workload: ycsb-a, records: 200, threads: 4, warmup: 500ms, measure: 1500ms}}
factors:
  endpoint: {{host-port: {{}}, container-dns: {{platform.network: container-dns}}}}
baseline: {{endpoint: host-port}}
design: {{slice: off, deployments: 1, blocks: 1, fresh: deployment, reset: truncate,
         warm: {{gentle: 0s, at_least: 500ms, at_most: 1s, window: 250ms}}}}
"""


def test_a_mongodb_server_of_the_user_s_runs_as_a_service(bench: Bench) -> None:
    """FerretDB in its stead: one node, which knows no sets."""
    study = bench.root / "swarm.yaml"
    study.write_text(STAND_IN.format(home=ferretdb.program()), encoding="utf-8")
    done = bench.tare("run", study, timeout=900)
    assert done.returncode == 3, done.stdout + done.stderr
    found = bench.manifests("swarm").values()
    assert {one["condition"] for one in found} == {"host-port", "container-dns"}
    for manifest in found:
        assert manifest["status"] == "done", manifest["reason"]
        assert manifest["clients"][0]["ok"] > 0
        assert manifest["clients"][0]["errors"] == 0
        assert "FerretDB" in manifest["database"]["stand_in"]
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        assert unit["image"]
        assert unit["path"].startswith(unit["network"])
    assert leftovers().words() == {}


def test_two_endpoints_of_one_set_of_stubs_in_slices(bench: Bench) -> None:
    levels = {name: f"{{platform.endpoint: {name}}}" for name in ("host-port", "container-dns")}
    tasks = "{runtime: swarm, network: container-dns, storage: volume}"
    turns = ("--set", "design.slice=100ms", "--set", "design.turn=pass")
    study = stub_sets.write(bench, levels, platform=tasks, client=INSIDE)
    found = stub_sets.done(bench, bench.tare("run", study, *turns))
    assert set(found) == set(levels)
    assert len({one["deployment"] for one in found.values()}) == 1
    (names,) = {frozenset(stub_sets.named(one)) for one in found.values()}
    for name, manifest in found.items():
        assert (stub_sets.reached(manifest) == names) == (name == "container-dns")
        assert all(one["path"].startswith(name) for one in stub_sets.members(manifest))
    assert leftovers().words() == {}


@pytest.mark.long
def test_members_of_a_set_know_each_other_by_the_endpoint_of_the_study(bench: Bench) -> None:
    levels = {name: f"{{platform.network: {name}}}" for name in ("host-port", "container-dns")}
    tasks = "{runtime: swarm, network: host-port, storage: layer}"
    study = stub_sets.write(bench, levels, platform=tasks, client=INSIDE)
    found = stub_sets.done(bench, bench.tare("run", study))
    assert set(found) == set(levels)
    for manifest in found.values():
        assert stub_sets.named(manifest) == stub_sets.reached(manifest)
    assert leftovers().words() == {}


@pytest.mark.parametrize("endpoint", ["service-ip", "node-port"])
def test_a_path_that_swallows_packets_is_refused_within_seconds(
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
    begun = time.monotonic()
    platform = Platform(runtime="swarm", network=endpoint, storage="layer")  # type: ignore[arg-type]
    with pytest.raises(RuntimeUnavailableError, match="is not runnable here") as caught:
        runtime.prove(platform, 2, 9042, ["swarm"])
    assert time.monotonic() - begun < 60
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
    journal = bench.root / "runs" / "swarm" / "journal.jsonl"
    await_in(journal, '"trial begun"', process)
    engines = swarm_settings().engines
    for engine in engines.values():
        docker = ["docker", "-H", engine]
        wanted = [*docker, "ps", "-q", "--filter", "label=tare.unit"]
        ids = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout.split()
        for one in ids:
            subprocess.run([*docker, "kill", one], capture_output=True, check=True)
    await_in(journal, '"trial failed"', process)
    failed = next(one for one in bench.journal("swarm") if one["event"] == "trial failed")
    assert "non-zero exit (137)" in json.dumps(failed)
    while leftovers().words() == {}:  # the failed attempt's cluster is gone, the next one comes
        run_on(process)
    process.kill()
    process.wait()
    said = bench.tare("clean")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "tare-swarm" in said.stdout
    assert leftovers().words() == {}


def await_in(journal: Path, text: str, process: subprocess.Popen[str]) -> None:
    """Let the run go on until its journal says something; it is real work, not a clock."""
    while not (journal.exists() and text in journal.read_text(encoding="utf-8")):
        run_on(process)


def run_on(process: subprocess.Popen[str]) -> None:
    """Let the run go on for a moment; it must not end."""
    assert process.poll() is None, process.communicate()[0]
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.2)
