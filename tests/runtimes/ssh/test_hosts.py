"""Which host of a run takes which unit; all hosts are scripted."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import Host, Inventory
from tare.machines.ssh import HostGoneError
from tare.runtimes.ssh.hosts import Hosts

GROUPS = {"m1": "metal", "m2": "metal", "v1": "vmware", "v2": "vmware", "load1": "clients"}


class Machine:
    """A host that answers unless it is in `gone`."""

    def __init__(self, host: Host, gone: set[str]) -> None:
        self.host, self.name, self.gone = host, host.name, gone
        self.asked: list[str] = []
        self.connection = SimpleNamespace(run=self.run)

    def run(self, word: str, within_s: float = 0.0) -> None:
        self.asked.append(word)
        if self.name in self.gone:
            raise HostGoneError(f"{self.name} is not reached", why="cable")

    def revive(self) -> bool:
        self.gone.discard(self.name)
        return True

    def as_dict(self) -> dict[str, object]:
        return {"kernel": "6.1"}


@pytest.fixture
def gone() -> set[str]:
    return set()


@pytest.fixture
def hosts(gone: set[str]) -> Hosts:
    listed = [
        Host(name, f"192.0.2.{number}", groups=frozenset({group}))
        for number, (name, group) in enumerate(GROUPS.items(), start=1)
    ]
    machines: Any = {one.name: Machine(one, gone) for one in listed}
    return Hosts(Inventory(Path("hosts.ini"), tuple(listed)), "run", machines)


def test_without_a_group_nodes_go_on_all_hosts_that_are_not_for_clients(hosts: Hosts) -> None:
    assert [one.name for one in hosts.nodes] == ["m1", "m2", "v1", "v2"]
    assert hosts.node("k1").name == "m1"
    assert hosts.client("k1-c1").name == "load1"


def test_clusters_of_two_groups_go_on_hosts_of_their_own_at_the_same_ports(hosts: Hosts) -> None:
    hosts.use(["metal", "vmware"], clients=True)
    first = [hosts.node("k1", "metal").name for _ in range(2)]
    second = [hosts.node("k2", "vmware").name for _ in range(2)]
    assert (first, second) == (["m1", "m2"], ["v1", "v2"])
    assert [hosts.cluster(name).shift for name in ("k1", "k2")] == [0, 0]
    assert hosts.node("k3", "vmware").name == "v1"
    assert hosts.cluster("k3").shift == 100, "beside another cluster of the same hosts"


def test_a_host_that_is_gone_is_replaced_by_its_group_s_next_and_by_no_other(
    hosts: Hosts, gone: set[str]
) -> None:
    said: list[str] = []
    hosts.say = said.append
    hosts.use(["metal", "vmware"], clients=False)
    gone.add("v1")
    assert hosts.node("k1", "vmware").name == "v2"
    assert "v1" in said[0]
    gone.add("v2")
    with pytest.raises(HostGoneError, match="v1"):
        hosts.node("k2", "vmware")
    assert hosts.node("k3", "metal").name == "m1"


def test_a_cluster_larger_than_its_group_is_refused_by_the_group_s_name(hosts: Hosts) -> None:
    hosts.use(["metal", "vmware"], clients=False)
    for _ in range(2):
        hosts.node("k1", "metal")
    with pytest.raises(RuntimeUnavailableError) as refused:
        hosts.node("k1", "metal")
    assert "add hosts to the group metal" in refused.value.remedy


def test_only_hosts_of_the_groups_that_are_named_take_part(hosts: Hosts) -> None:
    hosts.use(["vmware"], clients=True)
    assert [one.name for one in hosts.used] == ["v1", "v2", "load1"]
    assert hosts.as_dict() == {
        "v1": {"kernel": "6.1", "group": "vmware"},
        "v2": {"kernel": "6.1", "group": "vmware"},
        "load1": {"kernel": "6.1"},
    }
    with pytest.raises(RuntimeUnavailableError, match="in a group ec2"):
        hosts.use(["ec2"], clients=True)


def test_a_virtual_machine_of_the_run_s_that_is_lost_is_started_again_and_keeps_its_node(
    gone: set[str],
) -> None:
    made = tuple(
        Host(f"kvm-{number}", f"192.0.2.{number}", groups=frozenset({"kvm"}), made=True)
        for number in (1, 2)
    )
    machines: Any = {one.name: Machine(one, gone) for one in made}
    hosts = Hosts(Inventory(Path("domains"), (), made=made), "run", machines)
    said: list[str] = []
    hosts.say = said.append
    hosts.use(["kvm"], clients=False)
    gone.add("kvm-1")
    assert [hosts.node("k1", "kvm").name for _ in range(2)] == ["kvm-1", "kvm-2"]
    assert len(said) == 1
    assert "started again" in said[0]


def test_what_virtual_machines_of_the_run_s_were_brought_is_written_to_their_disks(
    gone: set[str],
) -> None:
    """A lost virtual machine keeps only its disk; data that its kernel had not written is gone."""
    made = Host("kvm-1", "192.0.2.9", groups=frozenset({"kvm"}), made=True)
    other = Host("h1", "192.0.2.1")
    machines: Any = {one.name: Machine(one, gone) for one in (made, other)}
    hosts = Hosts(Inventory(Path("hosts.ini"), (other,), made=(made,)), "run", machines)
    hosts.use(["", "kvm"], clients=False)
    hosts.keep()
    assert (machines["kvm-1"].asked, machines["h1"].asked) == (["sync"], [])


def test_virtual_machines_take_no_node_that_is_not_of_their_group() -> None:
    made = (Host("kvm-1", "192.0.2.9", groups=frozenset({"kvm"}), made=True),)
    inventory = Inventory(Path("hosts.ini"), (Host("h1", "192.0.2.1"),), made=made)
    assert [one.name for one in inventory.nodes] == ["h1"]
    assert inventory.nodes_of("kvm") == made
