"""Which host of an inventory is weighed, which ways there are to it, and what is said where it is
lost. Real hosts are under tests/integration."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.errors import InventoryError, QuietError, RuntimeUnavailableError
from tare.lab.weighed_hosts import (
    WeighedHost,
    _address,
    _told_what_is_left,
    first_host,
    measured_machine,
    places,
)
from tare.lab.weighed_servers import ways
from tare.machines.inventory.host import Host, Inventory
from tare.machines.shell_output import Done

INVENTORY = Inventory(
    Path("hosts here.yaml"),
    (
        Host("load1", "10.0.0.9", groups=frozenset({"clients"})),
        Host("db1", "10.0.0.1", groups=frozenset({"metal"})),
        Host("db2", "10.0.0.2", groups=frozenset({"metal", "guests"})),
    ),
)


def test_servers_run_on_the_first_host_of_the_group_and_on_no_other() -> None:
    """A lost host is not replaced by another: prices are of one machine."""
    metal = first_host(INVENTORY, "metal")
    assert [one.name for one in metal.inventory.hosts] == ["db1"]
    assert first_host(INVENTORY, "guests").host.name == "db2"
    assert first_host(INVENTORY, "").host.name == "db1", "those that are for clients take none"
    assert [one.name for one in metal.inventory.nodes_of("metal")] == ["db1"]


def test_a_group_without_a_host_is_refused_with_the_nearest_and_with_those_that_there_are() -> None:
    with pytest.raises(InventoryError, match="no host is in a group metall") as near:
        first_host(INVENTORY, "metall")
    assert near.value.remedy == "did you mean metal?"
    assert near.value.where == "hosts here.yaml"
    with pytest.raises(InventoryError) as far:
        first_host(INVENTORY, "x")
    assert far.value.remedy == "name one of its groups: clients, guests, metal"


def test_native_is_weighed_twice_and_a_container_by_each_way_from_another_machine() -> None:
    found = ways(["docker"], [1, 32], placed=places)
    assert [one.name for one in found] == [
        "native", "native again", "docker.host", "docker.published",
        "native", "docker.host", "docker.published",
    ]  # fmt: skip
    assert [one.server for one in found] == [0, 1, 2, 3, 0, 2, 3]
    assert [one.name for one in ways([], [1], placed=places)] == ["native", "native again"]


def test_a_host_is_what_it_tells_of_itself() -> None:
    told = {"cpus": "8", "CPU model": "Fast", "hypervisor": "none", "kernel": "6.1"}
    found = measured_machine("db1", {**told, "hostname": "server-1"})
    assert (found.hostname, found.cpus, found.virtualization) == ("server-1", 8, "")
    guest = measured_machine("db1", {**told, "hypervisor": "VMware, Inc."})
    assert (guest.hostname, guest.virtualization) == ("db1", "VMware, Inc.")


def machine(service: str, status: int = 0, told: bytes = b"10.1.2.3  STREAM db1\n") -> Any:
    run = SimpleNamespace(run=lambda *words: Done(status, told, b""))
    return SimpleNamespace(host=Host("db1", "db1.example", service=service), connection=run)


def test_servers_listen_at_an_address_which_the_host_finds_for_a_name() -> None:
    assert _address(machine("10.0.0.7")) == "10.0.0.7"
    assert _address(machine("db1.internal")) == "10.1.2.3"
    with pytest.raises(RuntimeUnavailableError, match="no server can listen") as refused:
        _address(machine("elsewhere", status=2, told=b""))
    assert "getent ahostsv4 elsewhere" in refused.value.why


def test_of_a_host_that_is_lost_the_first_error_is_told_with_what_takes_away_the_rest() -> None:
    wanted = WeighedHost(INVENTORY, "")
    lost = cast("Any", SimpleNamespace(left=["/srv/tare/runs/x"], left_containers={}))
    with pytest.raises(QuietError) as told, _told_what_is_left(wanted, lost):
        try:
            raise QuietError("the host was lost", where="db1", why="its connection was cut")
        finally:
            raise RuntimeUnavailableError("it is not reached over SSH", where="db1")
    assert told.value.what == "the host was lost"
    assert told.value.why.startswith("its connection was cut; what runs there still")
    assert told.value.remedy.endswith("is back: TARE_INVENTORY='hosts here.yaml' tare clean")


def test_of_a_host_on_which_nothing_is_left_the_error_is_its_own() -> None:
    clean = cast("Any", SimpleNamespace(left=[], left_containers={}))
    with (
        pytest.raises(RuntimeUnavailableError, match="no engine"),
        _told_what_is_left(WeighedHost(INVENTORY, ""), clean),
    ):
        raise RuntimeUnavailableError("no engine")
