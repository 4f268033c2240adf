"""The LXC runtime, with an lxc-execute that makes no container."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

import psutil
import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes.lxc import bridge, program
from tare.runtimes.lxc.bridge import Bridge
from tare.runtimes.lxc.runtime import LxcRuntime
from tare.runtimes.unit import Bits, Site, Unit
from tare.study.platform import Limits

from .conftest import Machine
from .test_program import FAILS

RUN = "test-lxc"


@pytest.fixture
def bridges(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The bridges that are there: none is really made."""
    here: list[str] = []

    def make(run: str, network: IPv4Network) -> Bridge:
        here.append(f"tare-br{network.network_address.packed[2]}")
        return bridge.of(here[-1], network)

    monkeypatch.setattr(bridge, "make", make)
    monkeypatch.setattr(bridge, "remove", here.remove)
    monkeypatch.setattr(AddressPool, "guard", lambda self: None)
    return here


@pytest.fixture
def runtime(tmp_path: Path, machine: Machine, bridges: list[str]) -> Iterator[LxcRuntime]:
    made = LxcRuntime(RUN, tmp_path / "work", AddressPool())
    yield made
    made.close()
    assert bridges == []


def client(runtime: LxcRuntime, network: str = "host") -> Site:
    return runtime.site("c1", role="client", network=network, storage="directory", group="g")


def unit(site: Site, *command: str, netns: str = "") -> Unit:
    return Unit(
        site, "client", list(command), {"A": "b = c"}, Limits(), Bits(""), grace_s=0, netns=netns
    )


def configured(site: Site) -> str:
    return (site.conf_on_host.parent / "lxc.conf").read_text(encoding="utf-8")


def test_units_of_a_group_share_a_bridge_and_clients_in_them_need_no_second_address(
    runtime: LxcRuntime, bridges: list[str]
) -> None:
    nodes = [
        runtime.site(
            name, role="database", network="bridge", storage="directory", group="g", several=True
        )
        for name in ("n1", "n2")
    ]
    assert [one.listen for one in nodes] == ["198.19.0.100", "198.19.0.101"]
    assert {one.network for one in nodes} == {"tare-br0"}
    assert {name: way.host for name, way in nodes[0].ways.items()} == dict.fromkeys(
        ("loopback", "bridge", "between-nodes"), "198.19.0.100"
    )
    assert nodes[0].ways["loopback"].inside
    assert nodes[0].ways["between-nodes"].beside
    asks = client(runtime, "bridge")
    assert (asks.listen, asks.endpoint_host) == ("198.19.0.2", "")
    for _ in range(300):  # trials in turn: no network has that many addresses
        last = client(runtime, "bridge")
    assert last.listen == "198.19.0.8"
    runtime.release_group("g")
    assert bridges == []


def test_on_the_machine_s_network_it_is_as_a_native_unit(runtime: LxcRuntime) -> None:
    site = runtime.site("n1", role="database", network="host", storage="directory", group="g")
    assert site.listen.startswith("127.190.")
    assert site.network == ""


def test_a_unit_has_its_environment_and_its_exit_is_known(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine()
    site = client(runtime)
    running = runtime.launch(unit(site, "/bin/sh", "-c", 'echo "$A $TARE_RUN $HOME"; exit 3'))
    assert list(running.lines()) == [f"b = c {RUN} {site.conf}\n"]
    running._process.wait()
    ended = running.exited()
    assert ended is not None
    assert ended.status == 3
    running.stop()
    assert "lxc.net.0.type = none\n" in configured(site)
    assert f"lxc.init.cwd = {site.conf}\n" in configured(site)


def test_the_unit_is_accounted_by_its_own_process_and_stop_ends_it(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine()
    running = runtime.launch(unit(client(runtime), "/bin/sleep", "600"))
    pid = running.accounting().pid
    process = psutil.Process(pid)
    assert process.parent() != psutil.Process(running._process.pid), "the first is between"
    running.terminate()
    process.wait(10)
    running.stop()
    running.stop()
    assert running.exited() is not None


def test_a_group_that_is_gone_is_no_fault_once_the_container_has_ended(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine()
    running = runtime.launch(unit(client(runtime), "/bin/sleep", "600"))
    for change in (running.pause, running.resume, lambda: running.confine("0")):
        with pytest.raises(RuntimeUnavailableError, match="cannot be changed"):
            change()  # LXC would have made it
    running.terminate()
    running._process.wait(10)
    for change in (running.pause, running.resume, lambda: running.confine("0")):
        change()
    running.stop()


def test_a_client_joins_the_namespace_that_it_is_told(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine()
    site = client(runtime)
    running = runtime.launch(unit(site, "/bin/true", netns="/proc/1/ns/net"))
    running.stop()
    assert "lxc.namespace.share.net = /proc/1/ns/net\n" in configured(site)
    assert "lxc.net" not in configured(site)


def test_what_lxc_says_is_the_reason_if_a_container_does_not_start(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine(FAILS)
    with pytest.raises(RuntimeUnavailableError, match="could not start a container") as raised:
        runtime.launch(unit(client(runtime), "/bin/true"))
    assert raised.value.why == 'Busy - No "/sys"'


def test_without_the_command_it_is_said_how_to_get_it(
    runtime: LxcRuntime, machine: Machine
) -> None:
    machine(None)
    with pytest.raises(RuntimeUnavailableError, match="could not start") as raised:
        runtime.launch(unit(client(runtime), "/bin/true"))
    assert raised.value.remedy == program.INSTALL
