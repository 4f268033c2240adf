"""Cassandra in containers of this machine's LXC, beside native and Docker: paths, rights, prices,
and what a killed run leaves.

Skipped where LXC cannot be used; the reason has the command that mends it.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tare.runtimes.lxc import program
from tare.runtimes.registry import declared
from tare.starter import mark

from .conftest import NATIVE, Bench, leftovers, weighed
from .from_snapshots import process_of, rights, setup, side_by_side, snapshot_cache, the_only_one
from .test_bad_things import good_after_harm, killed_and_run_again

__all__ = ["snapshot_cache"]

FAULT = declared("lxc").fault()
AGAIN = f"{FAULT}; then, as root: .venv/bin/pytest -m engine tests/integration -k lxc"
pytestmark = [pytest.mark.engine, pytest.mark.skipif(FAULT is not None, reason=AGAIN)]

HOST = "    host: {platform: {runtime: lxc, network: host}}"
BRIDGE = "    bridge: {platform: {runtime: lxc, network: bridge}}"
LIMITED = (
    "    limited: {platform: {runtime: lxc, network: bridge, "
    "limits: {cpus: 1.5, cpuset: '0-1', memory: 1GiB}}, client: {runtime: lxc, network: bridge}}"
)
SLICES = ("--set", "design.slice=100ms")
ENDPOINT = "    {0}-{1}: {{platform: {{runtime: {0}, network: bridge, endpoint: {1}}}}}"
BY_ENDPOINT = {
    "lxc-loopback": "loopback of the container",
    "lxc-bridge": "bridge and veth pair",
    "docker-bridge": "bridge and veth pair",
}
"""Condition to the path of its packets."""
WAYS = ["native", "native again", "lxc.host", "lxc.loopback", "lxc.bridge", "lxc.between-nodes"]
COMMON = {"mac_admin": 33, "mac_override": 32, "sys_time": 25, "sys_module": 16, "sys_rawio": 17}
"""capabilities that LXC's common configuration takes away, by their numbers in the kernel"""
NAMESPACES = ("net", "pid", "ipc", "uts", "mnt", "cgroup")
OTHERS = "tare-r1-others"
"""a container of the user's own, and its bridge, with names like Tare's"""
OTHER_BRIDGE = "tare-br199"


def in_lxc() -> list[str]:
    """The names of all containers that run."""
    done = subprocess.run(["lxc-ls", "--active"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def groups_and_bridges() -> list[str]:
    """The control groups and bridges of this process's commands, whose labels end as its own."""
    boot = mark().split("-", 2)[2]
    found = [str(one) for one in Path("/sys/fs/cgroup").glob(f"**/tare/*@*{boot}")]
    links = subprocess.run(
        ["ip", "-o", "link", "show", "type", "bridge", "group", "7742"],
        capture_output=True,
        text=True,
        check=True,
    )
    return found + links.stdout.splitlines()


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    assert leftovers() == []
    assert groups_and_bridges() == []
    assert [one for one in in_lxc() if one != OTHERS] == []


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Callable[[], dict[str, object]]]:
    """What others have in this LXC, as it is whenever it is asked: a container and a bridge."""
    subprocess.run(["ip", "link", "add", OTHER_BRIDGE, "type", "bridge"], check=True)
    own = tmp_path / "own.conf"
    lines = ("lxc.net.0.type = empty", "lxc.rootfs.path = dir:/", "lxc.rootfs.options = ro")
    own.write_text("\n".join(lines), encoding="ascii")
    command = ["lxc-execute", "-n", OTHERS, "-f", str(own), "--", "sleep", "600"]
    container = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while OTHERS not in in_lxc():
        assert container.poll() is None
        time.sleep(0.1)

    def seen() -> dict[str, object]:
        return {
            "container": container.poll(),
            "runs": OTHERS in in_lxc(),
            "bridge": Path(f"/sys/class/net/{OTHER_BRIDGE}/ifindex").read_text(encoding="ascii"),
        }

    yield seen
    subprocess.run(["lxc-stop", "--kill", "-n", OTHERS], check=True)
    container.wait(30)
    subprocess.run(["ip", "link", "delete", OTHER_BRIDGE], check=True)


def test_networks_and_limits(bench: Bench) -> None:
    study = bench.study(NATIVE, HOST, BRIDGE, LIMITED)
    manifests = bench.done(bench.tare("run", study))
    assert {name: one["units"][0]["path"] for name, one in manifests.items()} == {
        "native": "loopback of the host",
        "host": "loopback of the host",
        "bridge": "bridge and veth pair",
        "limited": "bridge and veth pair",
    }
    parity = manifests["limited"]["units"][0]["parity"]
    limits = {key: parity[key] for key in ("cpu quota", "memory limit")}
    assert limits == {"cpu quota": "1.5 CPUs", "memory limit": "1024 MiB"}
    client = manifests["limited"]["units"][-1]
    assert client["runtime"] == "lxc", "its client is in a container, too"
    bits = {unit["bits"] for one in manifests.values() for unit in one["units"][:1]}
    assert len(bits) == 1, "every platform runs the same bits"
    files = {one["units"][0]["parity"]["open files"] for one in manifests.values()}
    assert len(files) == 1


def test_native_against_docker_against_lxc_in_slices_by_each_endpoint(bench: Bench) -> None:
    levels = [ENDPOINT.format(*name.split("-")) for name in BY_ENDPOINT]
    manifests = bench.done(bench.tare("run", bench.study(NATIVE, *levels), *SLICES))
    nodes = {name: one["units"][0] for name, one in manifests.items()}
    for name, path in BY_ENDPOINT.items():
        assert nodes[name]["endpoint"].startswith("198.19.")
        assert nodes[name]["path"] == path
        assert nodes[name]["runtime"] == name.split("-")[0]
    made = {name: one["deployment"] for name, one in manifests.items()}
    assert made["lxc-loopback"] == made["lxc-bridge"], "one container"
    assert len(set(made.values())) == 3, "one server of each platform"
    assert all(one["slices"]["frozen"] for one in manifests.values())
    own = {name: one["engine_cpu_s"] / one["clients"][0]["ok"] for name, one in manifests.items()}
    assert own["lxc-bridge"] < 1e-6, "LXC's own process relays nothing"


def test_its_containers_start_from_native_s_snapshot_with_lxc_s_own_namespaces_and_rights(
    snapshot_cache: Path, tmp_path: Path
) -> None:
    platforms = [{}, {"runtime": "lxc", "network": "bridge"}, {"runtime": "lxc"}]
    with side_by_side([setup(one) for one in platforms], tmp_path / "work") as started:
        told = [data for _, data in started]
        native, bridged, on_host = (process_of(cluster) for cluster, _ in started)
        allowed = [rights(cluster) for cluster, _ in started]
        apart = {
            one.name: {kind for kind in NAMESPACES if read(one, kind) != read(native, kind)}
            for one in (bridged, on_host)
        }
        mounted = (bridged / "mountinfo").read_text(encoding="utf-8").splitlines()
    assert all(data == told[0] for data in told)
    assert told[0]["key"] == the_only_one(snapshot_cache)
    assert apart[bridged.name] == set(NAMESPACES)
    assert apart[on_host.name] == set(NAMESPACES) - {"net"}
    whole = int(allowed[0]["CapBnd"], 16)
    without = whole & ~sum(1 << number for number in COMMON.values())
    assert [int(one["CapEff"], 16) for one in allowed[1:]] == [without, without]
    assert {one["Seccomp"] for one in allowed[1:]} == {"2"}, "a filter"
    (root,) = (line.split() for line in mounted if line.split()[4] == "/")
    assert root[5].split(",")[0] == "ro"
    assert any(" - cgroup" in line for line in mounted), "by which a JVM sees its limits"


def read(process: Path, kind: str) -> str:
    return str((process / "ns" / kind).readlink())


def test_each_way_to_it_is_weighed(tmp_path: Path) -> None:
    found = weighed("lxc", "--seconds", "27", "--in-flight", "1", TARE_CACHE=str(tmp_path))
    assert [one.way for one in found.prices] == WAYS
    assert found.left_out == {}
    for one in found.prices:
        assert one.demand.value > 1
        assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4), one.way
        engine = one.parts["engine"].value if "engine" in one.parts else 0.0  # native has none
        assert engine < 1, "nothing is relayed by a process of LXC's"


@pytest.mark.long
def test_kill_9_amid_slices_keeps_finished_blocks_and_the_next_run_removes_the_frozen(
    bench: Bench, others: Callable[[], dict[str, object]]
) -> None:
    before = others()
    with killed_and_run_again(bench, bench.study(NATIVE, BRIDGE, blocks=2), *SLICES):
        found = " ".join(leftovers())
        assert "LXC bridges" in found
        assert "processes" in found
    assert others() == before


def test_kill_9_leaves_what_clean_finds_and_removes_and_nothing_of_others(
    bench: Bench, others: Callable[[], dict[str, object]]
) -> None:
    before = others()
    process = bench.start("run", bench.study(NATIVE, BRIDGE, HOST))
    bench.await_event(process, "deployment begun", 2)
    time.sleep(2.0)  # while servers start
    process.kill()
    process.wait()
    assert leftovers() != []
    bench.cleaned()
    assert leftovers() == []
    assert others() == before


def kill_lxc(run: int) -> None:
    """Kill the process that started the server's container."""
    (own,) = (one for one in psutil.Process(run).children() if serves(one))
    own.send_signal(signal.SIGKILL)


def kill_first(run: int) -> None:
    """Kill the container's first process, as the kernel does if the memory is used up."""
    (own,) = (one for one in psutil.Process(run).children() if serves(one))
    own.children()[0].send_signal(signal.SIGKILL)


def serves(process: psutil.Process) -> bool:
    return process.name() == program.COMMAND and any("-n1" in one for one in process.cmdline())


@pytest.mark.parametrize("harm", [kill_lxc, pytest.param(kill_first, marks=pytest.mark.long)])
def test_what_is_taken_from_a_run_costs_a_trial_at_most(
    bench: Bench, harm: Callable[[int], None]
) -> None:
    study = bench.study(NATIVE, BRIDGE, blocks=2)
    good = good_after_harm(bench, study, harm, "3500ms", after_s=1.5)
    assert {one["clients"][0]["errors"] for one in good} == {0}
