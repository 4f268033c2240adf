"""Cassandra in containers of this machine's Podman, beside Docker's and native: paths and prices.

Skipped where Podman cannot be used; the reason has the command that mends it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tare.runtimes.confinement import OWN_USER
from tare.runtimes.docker_engine import BY_DNAT, labelled, nat_rules
from tare.runtimes.podman.declaration import DECLARED
from tare.runtimes.podman.engine import serving
from tare.runtimes.registry import declared
from tests.machines.neighbour import NEIGHBOUR, a_neighbour

from .conftest import NATIVE, Bench, leftovers, weighed
from .from_snapshots import (
    assert_only_our_rule_keeps_out,
    process_of,
    rights,
    setup,
    side_by_side,
    snapshot_cache,
    the_only_one,
)

__all__ = ["snapshot_cache"]

FAULT = declared("podman").fault()
AGAIN = f"{FAULT}; then, as root: .venv/bin/pytest -m engine tests/integration -k podman"
pytestmark = [pytest.mark.engine, pytest.mark.skipif(FAULT is not None, reason=AGAIN)]

HOST = "    host: {platform: {runtime: podman, network: host, storage: volume}}"
BRIDGE = "    bridge: {platform: {runtime: podman, network: bridge, storage: directory}}"
PUBLISHED = "    published: {platform: {runtime: podman, network: published, storage: layer}}"
LIMITED = (
    "    limited: {platform: {runtime: podman, network: bridge, storage: volume, "
    "limits: {cpus: 1.5, cpuset: '0-1', memory: 1GiB}}, "
    "client: {runtime: podman, network: bridge}}"
)
SLICES = ("--set", "design.slice=100ms")
ENDPOINT = "    {0}-{1}: {{platform: {{runtime: {0}, network: bridge, endpoint: {1}}}}}"
BY_ENDPOINT = {
    "podman-loopback": ("127.0.0.1:", "loopback of the container"),
    "podman-bridge": ("198.19.", "bridge and veth pair"),
    "podman-published": ("198.18.", BY_DNAT),
    "docker-bridge": ("198.19.", "bridge and veth pair"),
    "docker-published": ("198.18.", BY_DNAT),
}
"""Condition to the start of its endpoint, and the path of its packets."""
WAYS = ["native", "native again", "podman.host", "podman.loopback", "podman.bridge",
        "podman.published", "podman.between-nodes", "podman.between-published"]  # fmt: skip

STUBS = """\
study: set
database: {kind: mongodb, version: "7.0", nodes: 3, replication_factor: 3, stand_in: true}
load: {workload: ycsb-a, records: 500, threads: 8, warmup: 300ms, measure: 1s}
factors:
  platform:
"""
SHORT = """\
baseline: {platform: docker}
design: {slice: off, deployments: 1, blocks: 1, fresh: deployment, reset: truncate,
         warm: {gentle: 0s, at_least: 500ms, at_most: 500ms, window: 125ms}}
"""

neighbour = pytest.fixture(a_neighbour)


def in_podman() -> dict[str, list[str]]:
    """Names of everything with a label of Tare's there."""
    with serving() as client:
        found = labelled(client, "tare.run")
    return {kind: [str(one.name) for one in items] for kind, items in found.items() if items}


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    assert leftovers() == []
    assert in_podman() == {}


def test_networks_storages_and_limits(bench: Bench) -> None:
    study = bench.study(NATIVE, HOST, BRIDGE, PUBLISHED, LIMITED)
    manifests = bench.done(bench.tare("run", study))
    assert {name: one["units"][0]["path"] for name, one in manifests.items()} == {
        "native": "loopback of the host",
        "host": "loopback of the host",
        "bridge": "bridge and veth pair",
        "limited": "bridge and veth pair",
        "published": BY_DNAT,
    }
    limits = {
        k: manifests["limited"]["units"][0]["parity"][k] for k in ("cpu quota", "memory limit")
    }
    assert limits == {"cpu quota": "1.5 CPUs", "memory limit": "1024 MiB"}
    assert manifests["limited"]["units"][-1]["runtime"] == "podman", (
        "its client is a container, too"
    )
    bits = {unit["bits"] for one in manifests.values() for unit in one["units"][:1]}
    assert len(bits) == 1, "every platform runs the same bits"


def test_native_against_docker_against_podman_in_slices_by_each_endpoint(bench: Bench) -> None:
    levels = [ENDPOINT.format(*name.split("-")) for name in BY_ENDPOINT]
    running = bench.start("run", bench.study(NATIVE, *levels), *SLICES)
    led, states = 0, set[str]()
    while running.poll() is None:
        led = max(led, packets_led_by_dnat())
        states |= connections_of("conmon")
        try:
            running.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    output, _ = running.communicate()
    manifests = bench.done(subprocess.CompletedProcess([], running.returncode, output, ""))
    assert led > 0, "connections to the published port passed netavark's rule"
    assert states <= {"LISTEN"}, "conmon holds the port, and relays nothing"
    nodes = {name: one["units"][0] for name, one in manifests.items()}
    for name, (begins, path) in BY_ENDPOINT.items():
        assert nodes[name]["endpoint"].startswith(begins)
        assert nodes[name]["path"] == path
        assert nodes[name]["runtime"] == name.split("-")[0]
    made = {name: one["deployment"] for name, one in manifests.items()}
    for engine in ("podman", "docker"):
        assert len({made[name] for name in made if name.startswith(engine)}) == 1, "one container"
    assert len(set(made.values())) == 3, "one server of each platform"
    assert all(one["slices"]["frozen"] for one in manifests.values())
    own = {name: one["engine_cpu_s"] / one["clients"][0]["ok"] for name, one in manifests.items()}
    others = max(own["podman-bridge"], own["docker-published"], 1e-6)
    assert own["podman-published"] < 4 * others, "no process of the engine relays its packets"


def packets_led_by_dnat() -> int:
    """Connections that netavark's rules have led to Tare's published ports."""
    rules = [rule.split() for rule in nat_rules("-v").splitlines() if "NETAVARK-DN" in rule]
    led = [
        one for one in rules if "DNAT" in one and any(each.startswith("198.18.") for each in one)
    ]
    return sum(int(one[one.index("-c") + 1]) for one in led)


def connections_of(name: str) -> set[str]:
    """The states of the TCP connections of all processes of this name."""
    found: set[str] = set()
    for process in psutil.process_iter(["name"]):
        if process.info["name"] == name:
            try:
                found |= {one.status for one in process.net_connections("tcp")}
            except psutil.Error:  # gone meanwhile
                continue
    return found


def test_its_containers_start_from_native_s_snapshot_and_have_docker_s_rights(
    snapshot_cache: Path, tmp_path: Path
) -> None:
    platforms: list[dict[str, str]] = [
        {},
        {"runtime": "podman", "network": "host", "storage": "volume"},
        {"runtime": "podman", "network": "bridge", "storage": "layer"},
        {"runtime": "podman", "network": "bridge", "storage": "directory"},
        {"runtime": "docker", "network": "bridge", "storage": "volume"},
    ]
    setups, allowed = [setup(platform) for platform in platforms], []
    with side_by_side(setups, tmp_path / "work") as started:
        for one, (cluster, _) in zip(setups, started, strict=True):
            if one.platform.runtime != "native":
                mounts = (process_of(cluster) / "mountinfo").read_text(encoding="utf-8")
                (whole,) = (own for line in mounts.splitlines() if (own := line.split())[4] == "/")
                read_only = whole[5].split(",")[0] == "ro"
                assert read_only is (one.platform.storage != "layer")
                allowed.append(rights(cluster))
        told = [data for _, data in started]
    assert all(data == told[0] for data in told)
    assert told[0]["key"] == the_only_one(snapshot_cache)
    assert all(one == allowed[-1] for one in allowed)
    assert allowed[0]["Uid"] == str(OWN_USER)
    assert allowed[0]["CapEff"] == allowed[0]["CapBnd"] == 16 * "0"
    assert allowed[0]["NoNewPrivs"] == "1"


def test_a_set_of_stubs_as_mongodb_by_each_program_that_makes_containers(bench: Bench) -> None:
    able = [one.name for one in DECLARED if one.fault() is None]
    level = "    {0}: {{platform: {{runtime: {0}, network: bridge, storage: volume}}}}"
    levels = "\n".join(level.format(name) for name in ("docker", *able))
    study = bench.root / "set.yaml"
    study.write_text(f"{STUBS}{levels}\n{SHORT}", encoding="utf-8")
    run = bench.tare("run", study)
    assert run.returncode == 3, run.stdout + run.stderr  # 3: it is not MongoDB
    manifests = {one["condition"]: one for one in bench.manifests("set").values()}
    assert manifests.keys() == {"docker", *able}
    for manifest in manifests.values():
        states = sorted(member["state"] for member in manifest["database"]["set"])
        assert states == ["PRIMARY", "SECONDARY", "SECONDARY"]
        assert manifest["clients"][0]["errors"] == 0
        assert manifest["clients"][0]["ok"] > 100
    told = json.loads((bench.root / "runs/set/environment.json").read_text("utf-8"))
    for one in DECLARED:
        if one.oci and one.name in able:
            assert told[one.name]["OCI runtime"] == one.oci


def test_a_published_port_is_out_of_a_neighbour_s_reach(
    snapshot_cache: Path, tmp_path: Path, neighbour: str
) -> None:
    published = {"runtime": "podman", "network": "published", "storage": "directory"}
    assert_only_our_rule_keeps_out(neighbour, published, tmp_path / "work", forwarded())


@contextmanager
def forwarded() -> Iterator[None]:
    """This machine forwards what the neighbour sends, as one without a Docker engine does, which
    has its kernel drop what it does not know."""
    rule = ["FORWARD", "-s", NEIGHBOUR, "-j", "ACCEPT"]
    subprocess.run(["iptables", "-w", "-I", *rule], check=True)
    try:
        yield
    finally:
        subprocess.run(["iptables", "-w", "-D", *rule], check=True)


def test_each_way_to_it_is_weighed(tmp_path: Path) -> None:
    short = ("--seconds", "27", "--in-flight", "1")
    found = weighed("podman", *short, TARE_CACHE=str(tmp_path))
    assert [one.way for one in found.prices] == WAYS
    assert found.left_out == {}
    by_way = {one.way: one for one in found.prices}
    assert by_way["podman.published"].path == BY_DNAT
    for one in found.prices:
        assert one.demand.value > 1
        assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4), one.way
        engine = one.parts["engine"].value if "engine" in one.parts else 0.0  # native has none
        assert engine < 1, "nothing is relayed by a process of Podman's"
