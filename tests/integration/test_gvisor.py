"""Cassandra in containers that gVisor's runsc starts for this machine's Docker engine.

Every platform with an entry in the engine is tried; a skip's reason says which entry to write.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tare.records.manifest import HIDDEN
from tare.runtimes.docker_engine import BY_DNAT, BY_PROXY, connect, labelled
from tare.runtimes.gvisor.declaration import DECLARED, NO_LOOPBACK
from tare.runtimes.gvisor.runtime import SANDBOX

from .conftest import NATIVE, Bench, leftovers, weighed
from .test_bad_things import good_after_harm, killed_and_run_again

FAULTS = {one.name: one.fault() for one in DECLARED}
AGAIN = "; then, as root: .venv/bin/pytest -m engine tests/integration -k gvisor"
ANY = next((name for name, fault in FAULTS.items() if fault is None), "gvisor")
"""the first platform that runs here"""
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(FAULTS[ANY] is not None, reason=f"{FAULTS[ANY]}{AGAIN}"),
]
EACH = [
    pytest.param(name, marks=pytest.mark.skipif(fault is not None, reason=f"{fault}{AGAIN}"))
    for name, fault in FAULTS.items()
]
SLICES = ("--set", "design.slice=100ms")
DOCKER = "    docker: {platform: {runtime: docker, network: bridge, storage: volume}}"
BRIDGE = f"    bridge: {{platform: {{runtime: {ANY}, network: bridge, storage: directory}}}}"
PUBLISHED = f"    published: {{platform: {{runtime: {ANY}, network: published, storage: layer}}}}"
LIMITED = (
    f"    limited: {{platform: {{runtime: {ANY}, network: bridge, storage: volume, "
    "limits: {cpus: 1.5, cpuset: '0-1', memory: 2GiB}}}"
)
CLIENT = (
    f"    client: {{platform: {{runtime: {ANY}, network: bridge, storage: volume}}, "
    f"client: {{runtime: {ANY}, network: bridge}}}}"
)
ENDPOINT = "    {0}-{1}: {{platform: {{runtime: {0}, network: bridge, endpoint: {1}}}}}"


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    assert leftovers() == []
    assert sandboxes() == []


def sandboxes() -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if SANDBOX in " ".join((process.info["cmdline"] or [])[:1]):
            found.append(process)
    return found


@pytest.mark.parametrize("runtime", EACH)
def test_native_against_docker_against_gvisor_in_slices_by_each_endpoint(
    bench: Bench, runtime: str
) -> None:
    ways = {
        "bridge": ("198.19.", "bridge and veth pair"),
        "published": ("198.18.", BY_DNAT),
        "proxy": ("127.190.", BY_PROXY),
    }
    levels = [ENDPOINT.format(runtime, one) for one in ways]
    study = bench.study(NATIVE, DOCKER, *levels)
    manifests = bench.done(bench.tare("run", study, *SLICES, "--set", "load.measure=2s"))
    for name, (begins, path) in ways.items():
        node = manifests[f"{runtime}-{name}"]["units"][0]
        assert node["runtime"] == runtime
        assert node["endpoint"].startswith(begins)
        assert node["path"] == path
        assert node["parity"]["sandbox"].startswith("gVisor")
        assert node["parity"]["class archive"] == HIDDEN
    made = {name: one["deployment"] for name, one in manifests.items()}
    assert len(set(made.values())) == 3, "one server of each platform, whatever the endpoint"
    assert all(one["slices"]["frozen"] for one in manifests.values())
    bits = {unit["bits"] for one in manifests.values() for unit in one["units"][:1]}
    assert len(bits) == 1, "every platform runs the same bits"


def test_networks_storages_and_limits(bench: Bench) -> None:
    study = bench.study(NATIVE, BRIDGE, PUBLISHED, LIMITED, CLIENT, fresh="block")
    manifests = bench.done(bench.tare("run", study))
    units = {name: one["units"] for name, one in manifests.items()}
    assert units["published"][0]["path"] == BY_DNAT
    parity = units["limited"][0]["parity"]
    assert parity["cpu quota"] == "1.5 CPUs"
    assert parity["memory limit"] == "2048 MiB"
    assert units["client"][-1]["runtime"] == ANY
    alike = {name: one[0]["parity"]["open files"] for name, one in units.items()}
    assert len(set(alike.values())) == 1, alike


@pytest.mark.parametrize("runtime", EACH)
def test_each_way_to_it_is_weighed(tmp_path: Path, runtime: str) -> None:
    short = ("--seconds", "27", "--in-flight", "1")
    found = weighed(runtime, *short, TARE_CACHE=str(tmp_path))
    ways = [
        "native",
        "native again",
        *(f"{runtime}.{one}" for one in ("bridge", "published", "proxy")),
    ]
    assert [one.way for one in found.prices] == ways
    none = ("loopback", "between-nodes", "between-published")
    assert found.left_out.keys() == {f"{runtime}.{one}" for one in none}
    assert found.left_out[f"{runtime}.loopback"] == NO_LOOPBACK
    demand = {one.way: one.demand.value for one in found.prices}
    assert demand[f"{runtime}.bridge"] > 1.5 * demand["native"], "system calls pass a second kernel"


def test_kill_9_amid_slices_keeps_finished_blocks_and_the_next_run_removes_the_frozen(
    bench: Bench,
) -> None:
    with killed_and_run_again(bench, bench.study(NATIVE, BRIDGE, blocks=2), *SLICES):
        assert len(sandboxes()) == 1
        assert "containers" in " ".join(leftovers())


def test_clean_removes_what_kill_9_leaves_and_nothing_of_others(bench: Bench) -> None:
    client = connect()
    entry = next(one.entry for one in DECLARED if one.name == ANY)
    process = bench.start("run", bench.study(NATIVE, BRIDGE))
    bench.await_event(process, "deployment begun", 2)
    time.sleep(4.0)  # while servers start
    process.kill()
    process.wait()
    (own,) = labelled(client, "tare.run")["containers"]
    image = own.attrs["Image"]
    program = own.attrs["Config"]["Entrypoint"]
    other = client.containers.create(image, ["-version"], entrypoint=program, runtime=entry)
    try:
        bench.cleaned()
        assert leftovers() == []
        assert client.containers.get(other.id).status == "created"
    finally:
        other.remove(force=True)


def kill_sandbox(run: int) -> None:
    (one,) = sandboxes()
    one.kill()


def test_a_sandbox_that_is_killed_costs_a_trial_at_most(bench: Bench) -> None:
    good_after_harm(bench, bench.study(NATIVE, BRIDGE, blocks=2), kill_sandbox, "8s")
