"""Containers of this machine's Podman, and what a killed run leaves of them.

Skipped where Podman cannot be used.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare.runtimes.docker_engine import labelled
from tare.runtimes.podman.engine import serving
from tare.runtimes.podman.leftovers import services
from tare.runtimes.registry import declared

from .conftest import NATIVE, Bench, leftovers
from .test_bad_things import nth, wait_for

_FAULT = declared("podman").fault()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(_FAULT is not None, reason=f"{_FAULT}")]

HOST = "    host: {platform: {runtime: podman, network: host, storage: volume}}"
BRIDGE = "    bridge: {platform: {runtime: podman, network: bridge, storage: directory}}"
PUBLISHED = "    published: {platform: {runtime: podman, network: published, storage: layer}}"
LIMITED = (
    "    limited: {platform: {runtime: podman, network: bridge, storage: volume, "
    "limits: {cpus: 1.5, cpuset: '0-1', memory: 1GiB}}, "
    "client: {runtime: podman, network: bridge}}"
)
ENDPOINT = "    {0}: {{platform: {{runtime: podman, network: bridge, endpoint: {0}}}}}"
PATHS = {
    "native": "loopback of the host",
    "host": "loopback of the host",
    "bridge": "bridge and veth pair",
    "limited": "bridge and veth pair",
    "loopback": "loopback of the container",
    "published": "published port: DNAT, bridge and veth pair",
}


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    assert leftovers() == []
    with serving() as client:
        assert labelled(client, "tare.run") == {"containers": [], "networks": [], "volumes": []}


def paths(bench: Bench) -> dict[str, str]:
    """Condition to what its packets passed; all trials are done, and without errors."""
    manifests = {one["condition"]: one for one in bench.manifests().values()}
    assert {one["status"] for one in manifests.values()} == {"done"}
    assert all(client["ok"] > 100 for one in manifests.values() for client in one["clients"])
    assert all(client["errors"] == 0 for one in manifests.values() for client in one["clients"])
    return {name: one["units"][0]["path"] for name, one in manifests.items()}


def test_networks_storages_and_limits(bench: Bench) -> None:
    done = bench.tare("run", bench.study(NATIVE, HOST, BRIDGE, PUBLISHED, LIMITED, fresh="block"))
    assert done.returncode in (0, 3), done.stdout + done.stderr
    wanted = ("native", "host", "bridge", "published", "limited")
    assert paths(bench) == {name: PATHS[name] for name in wanted}


def test_endpoints_of_one_container_in_slices(bench: Bench) -> None:
    names = ("loopback", "bridge", "published")
    study = bench.study(NATIVE, *(ENDPOINT.format(name) for name in names))
    done = bench.tare("run", study, "--set", "design.slice=200ms")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert paths(bench) == {name: PATHS[name] for name in ("native", *names)}


def test_kill_9_leaves_what_the_next_command_finds_and_removes(bench: Bench) -> None:
    process = bench.start("run", bench.study(NATIVE, BRIDGE, HOST))
    wait_for(process, bench, nth("trial begun", 2))
    process.kill()
    process.wait()
    assert len(services()) == 1
    found = " ".join(leftovers())
    for kind in ("Podman containers", "Podman networks", "Podman services"):
        assert kind in found
    done = bench.tare("clean")
    assert done.returncode == 0, done.stdout + done.stderr
    assert services() == []
