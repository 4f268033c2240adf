"""Real studies on hosts over SSH: nodes and load clients on hosts of their own, and what becomes of
a run when a host vanishes or Tare itself is killed.

The hosts are network namespaces with an sshd each (`ssh_hosts`). Skipped where we are not root.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration import ssh_hosts

from .conftest import QUICK, Bench

pytestmark = pytest.mark.engine

STUDY = """\
study: hosts
question: Does a cluster on other hosts work end to end?
database: {{heap: 256MiB, {quick}}}
platform: {{machines: ssh, runtime: native}}
client: {{machines: ssh, runtime: native}}
load: {{records: 2000, threads: 8, warmup: 300ms, measure: {measure}}}
factors:
  memory:
    free: {{}}
    limited: {{platform.limits.memory: 1GiB}}
baseline: {{memory: free}}
design: {{slice: off, deployments: 1, blocks: {blocks}, reset: keep, fresh: {fresh},
         warm: {{at_least: 500ms, at_most: 500ms, window: 125ms}}}}
"""

needs_dockerd = pytest.mark.skipif(
    shutil.which("dockerd") is None,
    reason="no dockerd: make setup; then pytest tests/integration/test_studies_on_hosts.py",
)


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    with ssh_hosts.needed_by("test_studies_on_hosts.py", "db1", "db2", "load1", "load2") as made:
        yield made


@pytest.fixture
def named(hosts: ssh_hosts.SshHosts) -> Iterator[ssh_hosts.SshHosts]:
    with hosts.named(nodes=["db1", "db2"], clients=["load1", "load2"]):
        yield hosts


def write(bench: Bench, measure: str = "1s", blocks: int = 1, fresh: str = "deployment") -> Path:
    path = bench.root / "hosts.yaml"
    text = STUDY.format(quick=QUICK, measure=measure, blocks=blocks, fresh=fresh)
    path.write_text(text, encoding="utf-8")
    return path


def left(bench: Bench) -> list[str]:
    """Tare's leftovers on this machine and on the hosts, as `tare clean --dry-run` lists them."""
    done = bench.tare("clean", "--dry-run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return list(json.loads(done.stdout)["found"])


def start_from_one_snapshot(manifests: Iterable[dict[str, Any]]) -> None:
    """Every deployment started from the same snapshot, and so was not filled."""
    starts = [one["database"]["data"] for one in manifests]
    assert all(start == starts[0] for start in starts)
    assert starts[0]["snapshot"]


def processes(hosts: ssh_hosts.SshHosts, name: str) -> str:
    """Command lines of everything that runs on a host."""
    words = [*hosts.hosts[name].inside, "ps", "-eo", "args"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.long  # as test_host_groups.py does with hosts of two groups
def test_nodes_on_hosts_are_driven_in_slices(bench: Bench, named: ssh_hosts.SshHosts) -> None:
    study = write(bench)
    bench.measured("run", study, "--set", "design.slice=100ms", timeout=300)
    found = bench.manifests("hosts")
    assert len(found) == 2
    for name, manifest in found.items():
        assert manifest["status"] == "done", manifest["reason"]
        slices = manifest["slices"]
        assert (slices["count"], slices["frozen"]) == (10, True)
        assert all(one["errors"] == 0 for one in manifest["clients"])
        text = (bench.root / "runs/hosts/trials" / name / "slices.jsonl").read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        (node,) = [one["name"] for one in manifest["units"] if one["role"] == "database"]
        assert all(row["units_cpu_s"][node] > 0 for row in rows)
        assert sum(row["ops"] for row in rows) == sum(one["ok"] for one in manifest["clients"])
        assert 0 < manifest["server_cpu_s"] < manifest["machine_cpu_s"]
    assert left(bench) == []


@needs_dockerd
def test_processes_and_containers_on_hosts_of_their_own_give_a_report(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    named.hosts["db1"].start_engine()
    named.inventory(nodes=["db1"], clients=["load1", "load2"])
    study = write(bench)
    text = study.read_text(encoding="utf-8")
    old, new = "  memory:\n    free: {}", "  runtime:\n    native: {}"
    assert old in text
    text = text.replace(old, new).replace("{memory: free}", "{runtime: native}")
    old = "limited: {platform.limits.memory: 1GiB}"
    new = "docker: {platform: {runtime: docker, storage: volume, limits: {memory: 1GiB}}}"
    assert old in text
    study.write_text(text.replace(old, new), encoding="utf-8")
    bench.measured("run", study, timeout=300)
    found = {one["condition"]: one for one in bench.manifests("hosts").values()}
    assert set(found) == {"native", "docker"}
    for name, manifest in found.items():
        assert manifest["status"] == "done", manifest["reason"]
        units = {one["name"]: one for one in manifest["units"]}
        assert [units[client]["machine"] for client in ("c1", "c2")] == ["load1", "load2"]
        (node,) = [one for one in units.values() if one["role"] == "database"]
        assert node["machine"] == "db1"
        assert node["parity"]["own control group"] == "yes"
        limit = {"native": "none", "docker": "1024 MiB"}[name]
        assert node["parity"]["memory limit"] == limit
        assert all(one["clock"]["uncertain_s"] < 0.01 for one in units.values())
        starts = [one["start_unix"] for one in manifest["clients"]]
        assert max(starts) - min(starts) < 0.1
        assert manifest["server_cpu_s"] > 0
        assert manifest["jit_cpu_s"] is not None
        told = {one["from"] for one in manifest["path"]["asked"]}
        assert told == {"load1", "load2"}
    nodes = [u for one in found.values() for u in one["units"] if u["role"] == "database"]
    assert len({node["bits"] for node in nodes}) == 1
    start_from_one_snapshot(found.values())
    assert (bench.root / "runs" / "hosts" / "report.html").is_file()
    assert left(bench) == []
    for name in named.hosts:
        assert "java" not in processes(named, name)


@needs_dockerd
def test_containers_on_hosts_are_reached_by_published_ports(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    for host in ("db1", "db2"):  # anew: an earlier engine of theirs makes no rules
        named.hosts[host].kill()
        named.boot(host)
        named.hosts[host].start_engine(publishes=True)
    study = write(bench)
    text = study.read_text(encoding="utf-8")
    for old, new in (
        ("{heap: 256MiB,", "{nodes: 2, replication_factor: 2, heap: 256MiB,"),
        ("  memory:\n    free: {}", "  runtime:\n    native: {}"),
        (
            "limited: {platform.limits.memory: 1GiB}",
            "published: {platform: {runtime: docker, network: published, storage: volume}}",
        ),
        ("{memory: free}", "{runtime: native}"),
    ):
        assert old in text
        text = text.replace(old, new)
    study.write_text(text, encoding="utf-8")
    bench.measured("run", study, "--set", "design.slice=100ms", timeout=900)
    found = {one["condition"]: one for one in bench.manifests("hosts").values()}
    assert set(found) == {"native", "published"}
    addresses = [named.hosts[name].address for name in ("db1", "db2")]
    for name, manifest in found.items():
        assert manifest["status"] == "done", manifest["reason"]
        assert sum(one["errors"] for one in manifest["clients"]) == 0
        nodes = [one for one in manifest["units"] if one["role"] == "database"]
        assert [one["machine"] for one in nodes] == ["db1", "db2"]
        way = "network between hosts"
        if name == "published":
            way += ", then published port: DNAT, bridge and veth pair"
        assert {one["path"] for one in nodes} == {way}
        assert [one["endpoint"].rpartition(":")[0] for one in nodes] == addresses
    asked = found["published"]["path"]["asked"]
    assert {("load1", "db1"), ("load2", "db2"), ("db1", "db2")} <= {
        (one["from"], one["name"]) for one in asked
    }
    assert left(bench) == []
    for name in ("db1", "db2"):
        words = [*named.hosts[name].inside, "docker", "network", "ls", "--format", "{{.Name}}"]
        there = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        assert not [one for one in there if one.startswith("tare-")]


@pytest.mark.long
def test_a_cluster_of_two_nodes_has_each_on_a_host_of_its_own(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    study = write(bench)
    text = study.read_text(encoding="utf-8")
    for old, new in (
        ("{heap: 256MiB,", "{nodes: 2, replication_factor: 2, heap: 256MiB,"),
        ("  memory:", "  threads:"),
        ("limited: {platform.limits.memory: 1GiB}", "fewer: {load.threads: 4}"),
        ("{memory: free}", "{threads: free}"),
    ):
        assert old in text
        text = text.replace(old, new)
    study.write_text(text, encoding="utf-8")
    bench.measured("run", study, timeout=300)
    for manifest in bench.manifests("hosts").values():
        assert manifest["status"] == "done", manifest["reason"]
        nodes = [one for one in manifest["units"] if one["role"] == "database"]
        assert [one["machine"] for one in nodes] == ["db1", "db2"]
        assert sum(one["errors"] for one in manifest["clients"]) == 0
        ways = {(one["from"], one["name"]) for one in manifest["path"]["asked"]}
        assert {("db1", "db2"), ("db2", "db1")} <= ways, "nodes' ways to each other are proven too"
    start_from_one_snapshot(bench.manifests("hosts").values())
    assert left(bench) == []


@pytest.fixture
def with_one_client(hosts: ssh_hosts.SshHosts) -> Iterator[ssh_hosts.SshHosts]:
    """Its trials begin at once: several clients wait for each other, for seconds."""
    with hosts.named(nodes=["db1", "db2"], clients=["load1"]):
        yield hosts


def test_a_host_that_vanishes_during_a_trial_loses_that_trial_only(
    bench: Bench, with_one_client: ssh_hosts.SshHosts
) -> None:
    named = with_one_client
    study = write(bench, measure="2s", fresh="trial")
    process = bench.start("run", study)
    bench.await_event(process, "trial done", run="hosts")
    ready = sum(one["event"] == "deployment ready" for one in bench.journal("hosts"))
    bench.await_event(process, "deployment ready", ready + 1, run="hosts")
    named.hosts["db1"].vanish()
    bench.await_event(process, "trial failed", run="hosts")
    failed = next(one for one in bench.journal("hosts") if one["event"] == "trial failed")
    assert "db1" in failed["why"]
    assert "not reached over SSH" in failed["why"]
    said = process.communicate(timeout=300)[0]
    assert process.returncode in (0, 3), said
    found = bench.manifests("hosts")
    done = [one for one in found.values() if one["status"] == "done"]
    assert len(done) == 2, said  # the spare host took the failed one's second attempt
    nodes = [u["machine"] for one in done for u in one["units"] if u["role"] == "database"]
    assert sorted(nodes) == ["db1", "db2"]
    assert "something was left" in said
    named.boot("db1")
    bench.cleaned()
    assert left(bench) == []


def test_what_a_killed_run_leaves_on_hosts_is_found_and_removed_and_nothing_else(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    other = subprocess.Popen([*named.hosts["db1"].inside, "sleep", "600"])
    try:
        process = bench.start("run", write(bench, measure="60s", fresh="trial"))
        bench.await_event(process, "deployment ready", run="hosts")
        process.kill()
        process.wait()
        assert "java" in processes(named, "db1")
        words = left(bench)
        assert any("units of hosts" in one for one in words)
        bench.cleaned()
        assert left(bench) == []
        assert "java" not in processes(named, "db1")
        assert not list((named.hosts["db1"].files / "tare" / "runs").iterdir())
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
