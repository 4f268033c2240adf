"""A container on a host gets its own bridge; its ports are published at the host's address.

The host is this machine; its engine is a table of networks and containers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import DockerException

from tare.errors import RuntimeUnavailableError
from tare.machines.ssh import Connection
from tare.runtimes.ssh import docker_published as published
from tare.runtimes.ssh.host_machine import HostMachine
from tare.runtimes.ssh.names import MARK_LABEL, mark_of
from tests.machines.fake_ssh import FakeHost


class Network:
    def __init__(self, engine: Engine, name: str, subnet: str, labels: dict[str, str]) -> None:
        self.id = self.name = name
        self.engine, self.subnet, self.labels = engine, subnet, labels

    def remove(self) -> None:
        self.engine.made.remove(self)


class Engine:
    """An engine that offers 172.20.0.0/16 as a free subnet."""

    def __init__(self) -> None:
        self.made: list[Network] = []
        self.containers = self.networks = self
        self.api = SimpleNamespace(inspect_network=self.inspect)
        self.free = ["fd00::/64", "172.20.0.0/16"]
        self.fails = False

    def create(self, name: str, *, driver: str, labels: dict[str, str], ipam: Any = None) -> Any:
        assert driver == "bridge"
        if self.fails:
            raise DockerException("no space left")
        subnet = ipam["Config"][0]["Subnet"] if ipam else ""
        self.made.append(Network(self, name, subnet, labels))
        return self.made[-1]

    def inspect(self, _: str) -> dict[str, Any]:
        return {"IPAM": {"Config": [{"Subnet": one} for one in self.free]}}

    def list(self, filters: dict[str, str]) -> list[Network]:
        name, (label, mark) = filters["name"].strip("^$"), filters["label"].split("=")
        return [one for one in self.made if one.name == name and one.labels.get(label) == mark]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostMachine]:
    fake, engine = FakeHost(tmp_path), Engine()
    monkeypatch.setattr(HostMachine, "engine", lambda _: engine)
    yield HostMachine(fake.host, "run", fake.connection)
    fake.connection.close()


def engine_of(machine: HostMachine) -> Any:
    return machine.engine()


def test_the_subnet_is_one_that_the_host_s_engine_found_free(machine: HostMachine) -> None:
    own = published.own_network(machine, "k1-n1")
    assert own == published.OwnNetwork("tare-run-k1-n1", "172.20.0.99")
    (made,) = engine_of(machine).made
    assert made.subnet == "172.20.0.0/16"
    assert made.labels == {MARK_LABEL: mark_of("run")}


def test_what_a_dead_attempt_left_is_replaced_and_another_run_s_stays(
    machine: HostMachine,
) -> None:
    other = {MARK_LABEL: mark_of("other")}
    engine_of(machine).create("tare-run-k1-n1", driver="bridge", labels=other)
    published.own_network(machine, "k1-n1")
    published.own_network(machine, "k1-n1")
    assert [one.labels[MARK_LABEL] for one in engine_of(machine).made] == [
        mark_of("other"), mark_of("run"),
    ]  # fmt: skip
    published.remove_network(machine, "tare-run-k1-n1")
    assert [one.labels for one in engine_of(machine).made] == [other]


def test_an_engine_that_makes_no_network_is_told_with_its_host(machine: HostMachine) -> None:
    engine_of(machine).fails = True
    with pytest.raises(RuntimeUnavailableError, match="make the network tare-run-k1-n1") as caught:
        published.own_network(machine, "k1-n1")
    assert (caught.value.where, caught.value.why) == (str(machine.host), "no space left")
    engine_of(machine).fails, engine_of(machine).free = False, ["fd00::/64"]
    with pytest.raises(RuntimeUnavailableError, match="make the network") as caught:
        published.own_network(machine, "k1-n1")
    assert "no IPv4 subnet" in caught.value.why


def test_ports_are_published_at_the_address_that_the_name_is_there(machine: HostMachine) -> None:
    assert published.bindings(machine, "192.0.2.7", [9142]) == {9142: ("192.0.2.7", 9142)}
    assert published.bindings(machine, "localhost", [9042]) == {9042: ("127.0.0.1", 9042)}
    with pytest.raises(RuntimeUnavailableError, match="no port can be published") as caught:
        published.bindings(machine, "nowhere.invalid", [9042])
    assert caught.value.why == "nowhere.invalid is no IPv4 address there"


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("-A DOCKER -d 192.0.2.7/32 -p tcp -j DNAT", "DNAT, bridge and veth pair"),
        ("-A DOCKER -d 192.0.2.8/32 -p tcp -j DNAT", "userland docker-proxy, bridge and veth pair"),
        ("", "DNAT or docker-proxy (the NAT table is not readable)"),
    ],
)
def test_the_way_in_is_what_the_host_s_nat_table_says(
    machine: HostMachine, monkeypatch: pytest.MonkeyPatch, rules: str, path: str
) -> None:
    told = SimpleNamespace(text=rules)
    monkeypatch.setattr(Connection, "script", lambda *_, **__: told)
    assert published.path_into(machine, "192.0.2.7") == f"published port: {path}"


def test_hosts_of_two_addresses_publish_where_others_reach_them(machine: HostMachine) -> None:
    machine.host = replace(machine.host, service="192.0.2.70")
    assert published.bindings(machine, machine.host.service_address, [7000]) == {
        7000: ("192.0.2.70", 7000)
    }
