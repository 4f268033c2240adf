"""Servers without a database on a host over SSH, weighed from this machine.

The host is a network namespace with an sshd and a Docker engine of its own (`ssh_hosts`), and so
has this machine's kernel. Skipped where we are not root.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tare.records.prices import Weighing

from . import ssh_hosts
from .conftest import TARE, leftovers, weighed_json

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    with ssh_hosts.needed_by("test_weigh_on_hosts.py", "db1", "db2") as made:
        yield made


@pytest.fixture
def inventory(hosts: ssh_hosts.SshHosts) -> Path:
    for host in hosts.hosts.values():
        if host.process.poll() is not None:
            hosts.boot(host.name)
    return hosts.inventory(nodes=["db2"], metal=["db1"])


def left_on_hosts(inventory: Path, cache: Path) -> str:
    words = ["env", f"TARE_INVENTORY={inventory}", TARE, "clean", "--dry-run"]
    done = subprocess.run(words, cwd=cache, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def await_clients(weighing: subprocess.Popen[str]) -> None:
    """Wait until its clients run: servers run, and slices are about to begin."""
    while True:
        children = psutil.Process(weighing.pid).children(recursive=True)
        if sum(one.name() == "tare-load" for one in children) >= 2:
            return
        assert weighing.poll() is None, weighing.communicate()[1]
        with contextlib.suppress(subprocess.TimeoutExpired):
            weighing.wait(0.2)


def test_a_container_on_a_host_has_a_price_over_the_native_process_there(
    hosts: ssh_hosts.SshHosts, inventory: Path, tmp_path: Path
) -> None:
    engine = shutil.which("dockerd") is not None
    if engine:
        hosts.hosts["db1"].start_engine(publishes=True)
    words = ("--hosts", str(inventory), "--group", "metal", "--seconds", "60")
    found = Weighing.model_validate_json(weighed_json(words, {"TARE_CACHE": str(tmp_path)}))
    ways = [(one.way, one.in_flight) for one in found.prices]
    natives = [("native", 1), ("native again", 1), ("native", 32)]
    assert set(natives) <= set(ways)
    if engine:
        into = {(f"docker.{way}", number) for way in ("host", "published") for number in (1, 32)}
        assert into <= set(ways)
        assert found.left_out == {}
        published = next(one for one in found.prices if one.endpoint == "published")
        assert published.path.startswith("network between hosts, then ")
        assert "DNAT" in published.path
    else:
        assert "no Docker engine answers there" in found.left_out["docker"]
    for one in found.prices:
        assert one.path.startswith("network between hosts")
        if one.in_flight == 1:
            assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4), one.way
        assert one.round_trip.value > 5
        if one.added is None:
            assert one.demand.value > (5 if one.in_flight == 1 else 0.3)
    assert found.on_host is not None
    assert (found.on_host.name, found.on_host.group) == ("db1", "metal")
    assert found.machine.hostname == "db1"
    assert found.on_host.clients.hostname != "db1"
    assert found.on_host.one_kernel, "the host is a namespace of this machine"
    assert "servers run on other hosts" in found.why_no_calls
    assert left_on_hosts(inventory, tmp_path).startswith("nothing")
    assert leftovers() == []


def test_a_host_that_vanishes_ends_the_weighing_and_clean_finds_what_is_left(
    hosts: ssh_hosts.SshHosts, inventory: Path, tmp_path: Path
) -> None:
    words = ["weigh", "native", "--hosts", str(inventory), "--rounds", "3", "--seconds", "60"]
    running = subprocess.Popen(
        [TARE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        await_clients(running)
        hosts.hosts["db2"].vanish()
        said = running.communicate(timeout=180)[1]
    finally:
        running.kill()
    assert running.returncode == 1, said
    assert "db2" in said
    assert f"TARE_INVENTORY={inventory} tare clean" in said
    assert leftovers() == []
    hosts.boot("db2")
    subprocess.run(
        ["env", f"TARE_INVENTORY={inventory}", TARE, "clean"],
        cwd=tmp_path, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    assert left_on_hosts(inventory, tmp_path).startswith("nothing")


def test_a_host_that_cannot_be_reached_is_refused_before_anything_starts(
    hosts: ssh_hosts.SshHosts, tmp_path: Path
) -> None:
    closed = tmp_path / "hosts.yaml"
    closed.write_text("hosts:\n  db9: {address: 10.221.0.99}\n", encoding="utf-8")
    done = subprocess.run(
        [TARE, "weigh", "native", "--hosts", str(closed)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the host is not reached over SSH" in done.stderr
    assert "round 1" not in done.stdout
