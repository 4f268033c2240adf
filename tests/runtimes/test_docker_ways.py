"""A container's endpoints: their addresses, and what was seen of their published ports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tare.machines.addresses import AddressPool
from tare.runtimes import docker_ways
from tare.runtimes.docker_engine import BY_PROXY
from tare.runtimes.docker_ways import all_ways, published_on, seen

DNAT = "published port: DNAT, bridge and veth pair"


class Pool(AddressPool):
    """Gives the same addresses and puts none on a device."""

    def host(self) -> str:
        return "198.18.0.1"


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(docker_ways, "can_claim", lambda: None)
    return all_ways("198.19.0.100", Pool())


def listening(*addresses: str) -> list[Any]:
    commands = [["docker-proxy", "-host-ip", one, "-host-port", "9042"] for one in addresses]
    return [SimpleNamespace(info={"name": "docker-proxy", "cmdline": one}) for one in commands]


def show(monkeypatch: pytest.MonkeyPatch, path: str, *proxies: str) -> None:
    """Let the NAT table say this of addresses that are not loopback, and these proxies listen."""
    monkeypatch.setattr(
        docker_ways, "published_path", lambda one: BY_PROXY if one.startswith("127.") else path
    )
    monkeypatch.setattr(docker_ways.psutil, "process_iter", lambda _: listening(*proxies))


def test_each_endpoint_has_its_own_address_and_two_of_them_are_published(ways: Any) -> None:
    assert {name: way.host for name, way in ways.items()} == {
        "loopback": "127.0.0.1",
        "bridge": "198.19.0.100",
        "published": "198.18.0.1",
        "proxy": "127.190.0.1",
        "between-nodes": "198.19.0.100",
    }
    assert [name for name, way in ways.items() if way.inside] == ["loopback"]
    assert [name for name, way in ways.items() if way.beside] == ["between-nodes"]
    assert published_on(ways) == ["198.18.0.1", "127.190.0.1"]


def test_what_packets_pass_is_told_by_what_was_seen(
    ways: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, DNAT, "127.190.0.1", "198.18.0.1")
    found = seen(ways)
    assert {name: way.path for name, way in found.items()} == {
        "loopback": "loopback of the container",
        "bridge": "bridge and veth pair",
        "published": DNAT,
        "proxy": BY_PROXY,
        "between-nodes": "bridge and two veth pairs, from another container",
    }
    assert not any(way.fault for way in found.values())


def test_an_endpoint_that_takes_another_way_than_its_name_says_is_not_given(
    ways: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, BY_PROXY)
    found = seen(ways)
    assert "no rule" in found["published"].fault
    assert "userland-proxy off" in found["proxy"].fault
    assert found["bridge"].fault == ""


def test_without_the_right_to_add_addresses_the_others_remain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(docker_ways, "can_claim", lambda: "not permitted")
    show(monkeypatch, DNAT, "127.190.0.1")
    found = seen(all_ways("198.19.0.100", Pool()))
    assert found["published"].fault == "not permitted"
    assert published_on(found) == ["127.190.0.1"]
