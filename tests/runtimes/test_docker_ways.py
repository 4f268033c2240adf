"""A container's endpoints: their addresses, and the observed paths of published ports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tare.machines import neighbours
from tare.machines.addresses import AddressPool
from tare.runtimes import docker_ways
from tare.runtimes.docker_engine import BY_PROXY
from tare.runtimes.docker_ways import (
    BETWEEN_BY_DNAT,
    BETWEEN_BY_PROXY,
    all_ways,
    path_between,
    published_on,
    seen,
)

if TYPE_CHECKING:
    from pathlib import Path

DNAT = "published port: DNAT, bridge and veth pair"
PROXIED = """\
-N DOCKER
-A DOCKER -i docker0 -j RETURN
-A DOCKER -d 198.18.0.1/32 ! -i tare-br0 -p tcp -m tcp --dport 9042 -j DNAT --to-destination 198.19.0.100:9042
"""  # noqa: E501 - as iptables -t nat -S DOCKER prints it, with Docker 20.10
HAIRPIN = PROXIED.replace(" ! -i tare-br0", "")
"""the rules of an engine without a userland proxy"""


class Pool(AddressPool):
    """A pool that always gives one address, and adds none to a device."""

    def host(self) -> str:
        return "198.18.0.1"


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(docker_ways, "can_claim", lambda: None)
    return all_ways("198.19.0.100", Pool())


def listening(*addresses: str) -> list[Any]:
    commands = [["docker-proxy", "-host-ip", one, "-host-port", "9042"] for one in addresses]
    return [SimpleNamespace(info={"name": "docker-proxy", "cmdline": one}) for one in commands]


def show(monkeypatch: pytest.MonkeyPatch, path: str, *proxies: str, rules: str = PROXIED) -> None:
    """Set the path of addresses outside loopback, and the addresses at which proxies listen."""
    monkeypatch.setattr(docker_ways, "nat_rules", lambda chain: rules)
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
        "between-published": "198.18.0.1",
    }
    assert [name for name, way in ways.items() if way.inside] == ["loopback"]
    assert [name for name, way in ways.items() if way.beside] == [
        "between-nodes",
        "between-published",
    ]
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
        "between-published": BETWEEN_BY_PROXY,
    }
    assert not any(way.fault for way in found.values())


def test_an_endpoint_that_takes_another_way_than_its_name_says_is_not_given(
    ways: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, BY_PROXY, rules="-N DOCKER")
    found = seen(ways)
    assert "no rule" in found["between-published"].fault
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
    assert found["between-published"].fault == "not permitted"
    assert published_on(found) == ["127.190.0.1"]


@pytest.mark.parametrize(
    ("rules", "path"), [(PROXIED, BETWEEN_BY_PROXY), (HAIRPIN, BETWEEN_BY_DNAT), ("-N DOCKER", "")]
)
def test_what_comes_from_the_container_s_own_bridge_is_not_translated_where_a_proxy_serves_it(
    rules: str, path: str
) -> None:
    assert path_between("198.18.0.1", rules) == path
    assert path_between("198.18.0.11", rules) == ""


@pytest.mark.parametrize(("filtered", "fault"), [("1\n", False), ("0\n", True), (None, True)])
def test_without_a_proxy_an_answer_to_a_neighbour_has_to_pass_the_rules_again(
    ways: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    filtered: str | None,
    fault: bool,
) -> None:
    show(monkeypatch, DNAT, rules=HAIRPIN)
    file = tmp_path / "bridge-nf-call-iptables"
    if filtered is not None:
        file.write_text(filtered)
    monkeypatch.setattr(neighbours, "_BRIDGE_FILTER", file)
    between = seen(ways)["between-published"]
    assert (between.path, bool(between.fault)) == (BETWEEN_BY_DNAT, fault)


def test_without_the_proxy_that_the_rules_count_on_nodes_do_not_reach_each_other(
    ways: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, DNAT, "127.190.0.1")
    assert "userland-proxy off" in seen(ways)["between-published"].fault
