"""Podman's runs are killed, interrupted and tampered with: nothing is lost, nothing is left, and
nothing of others is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes.docker_engine import own_volume
from tare.runtimes.podman.declaration import DECLARED
from tare.runtimes.podman.engine import ENGINE, serving
from tare.runtimes.podman.leftovers import services
from tare.runtimes.podman.runtime import PodmanRuntime
from tests.runtimes.podman.test_leftovers import marks

from .conftest import NATIVE, Bench, leftovers
from .slow_registry import SlowRegistry, slow_registry
from .test_bad_things import good_after_harm, killed_and_run_again
from .test_podman import AGAIN, BRIDGE, FAULT, HOST, SLICES, in_podman, nothing_left

__all__ = ["nothing_left"]
pytestmark = [pytest.mark.engine, pytest.mark.skipif(FAULT is not None, reason=AGAIN)]

NAMES = {
    "container": "tare-r0-d1-podman-1-k1-n1",
    "network": "tare-r0-d1",
    "volume": "tare-d0-podman-1-k1-n1-data",
}
"""names of things of others, in the style of Tare's own names"""
BESIDE = "tare-r1-beside"
VOLUME = "    volume: {platform: {runtime: podman, network: bridge, storage: volume}}"
"""a run with one of everything that a run makes in Podman"""


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Callable[[], dict[str, str]]]:
    """What others have in this Podman, as it is whenever it is asked: a container that runs, one
    that another Tare has made, which lives, a network, a volume and a service."""
    theirs = PodmanRuntime(DECLARED[0], "others", tmp_path / "others", AddressPool())
    with serving() as client:
        stub = theirs.images().of_program("stub", "tare-stub", print)
        bounds: dict[str, Any] = {**theirs._bounds(), "network_mode": "none"}
        own = client.containers.create(
            stub, ["--listen", "127.0.0.1:9042"], entrypoint=["/opt/tare/bin/tare-stub"],
            name=NAMES["container"], **bounds,
        )  # fmt: skip
        own.start()
        beside = {"tare.run": "r1", "tare.starter": f"{marks()['alive']}@{os.uname().nodename}"}
        client.containers.create(stub, ["none"], name=BESIDE, labels=beside)
        client.networks.create(NAMES["network"])
        client.volumes.create(NAMES["volume"])
    theirs.close()
    socket = tmp_path / "own.sock"
    command = ["podman", "system", "service", "--time=0", f"unix://{socket}"]
    service = subprocess.Popen(command, env={**os.environ, "TARE_RUN": "r1"})

    def seen() -> dict[str, str]:
        with serving() as client:
            containers = [client.containers.get(name) for name in (NAMES["container"], BESIDE)]
            found = {one.name: f"{one.id} {one.attrs['State']}" for one in containers}
            found["network"] = str(client.networks.get(NAMES["network"]).id)
            found["volume"] = str(client.volumes.get(NAMES["volume"]).attrs["CreatedAt"])
        return {**found, "service": str(service.poll())}

    yield seen
    service.terminate()
    service.wait()
    with serving() as client:
        for name in (NAMES["container"], BESIDE):
            client.containers.get(name).remove(force=True)
        client.networks.get(NAMES["network"]).remove()
        client.volumes.get(NAMES["volume"]).remove()


@pytest.mark.long  # as Docker's, and what a kill leaves in Podman is removed below
def test_kill_9_amid_slices_keeps_finished_blocks_and_the_next_run_removes_the_frozen(
    bench: Bench, others: Callable[[], dict[str, str]]
) -> None:
    before = others()
    assert before["service"] == "None"
    with killed_and_run_again(bench, bench.study(NATIVE, VOLUME, blocks=2), *SLICES):
        assert len(services()) == 1
        found = " ".join(leftovers())
        for kind in ("containers", "networks", "volumes", "services"):
            assert f"Podman {kind}" in found
    assert services() == []
    assert others() == before


def test_kill_9_leaves_what_clean_finds_and_removes_and_nothing_of_others(
    bench: Bench, others: Callable[[], dict[str, str]]
) -> None:
    before = others()
    process = bench.start("run", bench.study(NATIVE, BRIDGE, HOST))
    bench.await_event(process, "deployment begun", 2)
    time.sleep(2.0)  # while servers start
    process.kill()
    process.wait()
    assert leftovers() != []
    bench.cleaned()
    assert services() == []
    assert leftovers() == []
    assert others() == before


def kill_service(run: int) -> None:
    """Kill the service of a run."""
    children = psutil.Process(run).children()
    (service,) = (one for one in children if one.name() == "podman" and "service" in one.cmdline())
    service.kill()


def remove_container(run: int) -> None:
    """Remove the server, as a user may by mistake."""
    (name,) = (one for one in in_podman()["containers"] if one.endswith("n1"))
    subprocess.run(["podman", "rm", "--force", "--time", "0", name], check=True)


def kill_conmon(run: int) -> None:
    """Kill the process that holds the server's container and writes its log."""
    (name,) = (one for one in in_podman()["containers"] if one.endswith("n1"))
    held = (one for one in psutil.process_iter(["name"]) if one.info["name"] == "conmon")
    (conmon,) = (one for one in held if name in one.cmdline())
    conmon.kill()


@pytest.mark.parametrize(
    "harm",
    [
        kill_service,
        *(pytest.param(one, marks=pytest.mark.long) for one in (remove_container, kill_conmon)),
    ],
)
def test_what_is_taken_from_a_run_costs_a_trial_at_most(
    bench: Bench, harm: Callable[[int], None]
) -> None:
    study = bench.study(NATIVE, BRIDGE, blocks=2)
    good = good_after_harm(bench, study, harm, "3500ms", after_s=1.5)
    assert {one["clients"][0]["errors"] for one in good} == {0}


@pytest.fixture
def temporary() -> set[Path]:
    """Podman's default directory for partial images."""
    return {*Path("/var/tmp").iterdir()}  # noqa: S108 - looked at, never written


@pytest.fixture(params=[True, False], ids=["breaks off", "falls silent"])
def registry(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SlowRegistry]:
    """The one of the image of the study, of which Podman is told that it has no TLS."""
    with slow_registry(breaks=request.param) as made:
        plain = tmp_path / "registries.conf"
        plain.write_text(f'[[registry]]\nlocation = "{made.place}"\ninsecure = true\n')
        monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(plain))
        yield made


def pulling(bench: Bench, registry: SlowRegistry) -> subprocess.Popen[str]:
    """A run that pulls an image whose layer has partly arrived."""
    image = f"database.image={registry.place}/mine/cassandra:5"
    process = bench.start("run", bench.study(NATIVE, BRIDGE), "--set", image)
    assert registry.asked.wait(60)
    return process


@pytest.mark.parametrize("registry", [True], indirect=True)
def test_a_pull_that_breaks_off_is_told_and_leaves_nothing(
    bench: Bench, registry: SlowRegistry, temporary: set[Path]
) -> None:
    output, _ = pulling(bench, registry).communicate(timeout=120)
    assert f"the image {registry.place}/mine/cassandra:5 is not here and cannot be pulled" in output
    assert "EOF" in output
    assert f"podman pull {registry.place}/mine/cassandra:5" in output
    assert "Traceback" not in output
    assert services() == []
    assert halves(temporary) == []


@pytest.mark.parametrize("registry", [False], indirect=True)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_of_a_pull_that_is_interrupted_nothing_stays_once_clean_has_run(
    bench: Bench, registry: SlowRegistry, temporary: set[Path], how: signal.Signals
) -> None:
    process = pulling(bench, registry)
    process.send_signal(how)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == (-how if how == signal.SIGKILL else 130), output
    if how == signal.SIGKILL:
        assert len(services()) == 1
        assert "Podman services" in " ".join(leftovers())
        bench.cleaned()
    assert services() == []
    assert halves(temporary) == []
    with serving() as client:
        tags = [tag for one in client.images.list() for tag in one.tags]
    assert not [tag for tag in tags if registry.place in tag]


def halves(before: set[Path]) -> list[Path]:
    """Files in Podman's directory for partial images."""
    return sorted({*Path("/var/tmp").iterdir()} - before)  # noqa: S108 - as above


def test_a_volume_of_somebody_else_is_neither_taken_nor_removed() -> None:
    name, own = "tare-d1-bridge-1-k1-n1-data", {"tare.run": "a"}
    with serving() as client:
        theirs = client.volumes.create(name, labels={"mine": "yes"})
        try:
            with pytest.raises(RuntimeUnavailableError, match="did not make it") as refused:
                own_volume(client, name, own, ENGINE)
            assert f"podman volume inspect {name}" in refused.value.remedy
            assert client.volumes.get(name).attrs["Labels"] == {"mine": "yes"}
        finally:
            theirs.remove()
