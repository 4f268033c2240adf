"""The ways to a container on a bridge that serves several endpoints at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import psutil

from tare.machines.addresses import can_claim
from tare.machines.neighbours import bridges_filtered
from tare.runtimes.docker_engine import BY_PROXY, PUBLISHED, nat_rules, published_path
from tare.runtimes.unit import Way
from tare.study.platform import BETWEEN_NODES, BETWEEN_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.machines.addresses import AddressPool

BRIDGE = "bridge and veth pair"
BETWEEN = "bridge and two veth pairs, from another container"
BETWEEN_BY_DNAT = "published port: DNAT, bridge and two veth pairs, from another container"
BETWEEN_BY_PROXY = (
    "published port: userland docker-proxy, bridge and two veth pairs, from another container"
)
_PUBLISHED = ("published", "proxy")
_NO_DNAT = "the engine's NAT table has no rule for the port's host address"
_NO_PROXY = "no docker-proxy listens there: the engine runs with userland-proxy off"
_NO_WAY_BACK = "answers to a container on the same bridge pass the NAT table by"


def all_ways(address: str, pool: AddressPool) -> dict[str, Way]:
    """Every endpoint of a container and the way from others on its bridge, before its start.

    Docker leaves 127.0.0.0/8 out of its DNAT rule, so that a port on an address of that range is
    relayed by docker-proxy, and one on another address of this machine takes DNAT.

    Args:
        address: of the container on its bridge.
        pool: where the host addresses of published ports come from.
    """
    fault = can_claim()
    published = Way("" if fault else pool.host(), PUBLISHED, fault=fault or "")
    between = Way(published.host, PUBLISHED, beside=True, fault=published.fault)
    return {
        "loopback": Way("127.0.0.1", "loopback of the container", inside=True),
        "bridge": Way(address, BRIDGE),
        "published": published,
        "proxy": Way(pool.loopback(), PUBLISHED),
        BETWEEN_NODES: Way(address, BETWEEN, beside=True),
        BETWEEN_PUBLISHED: between,
    }


def published_on(ways: Mapping[str, Way]) -> list[str]:
    """The host addresses on which the container's client port is published."""
    return [one.host for name, one in ways.items() if name in _PUBLISHED and not one.fault]


def seen(ways: Mapping[str, Way]) -> dict[str, Way]:
    """The ways of a started container, with what was seen of its published ports."""
    published = (*_PUBLISHED, BETWEEN_PUBLISHED)
    return {
        name: _checked(name, one) if name in published and not one.fault else one
        for name, one in ways.items()
    }


def path_between(address: str, rules: str) -> str:
    """The path of packets from another container on the same bridge to a port of this address.

    Empty: the rules have none for the address. If the engine has a userland proxy, its rule leaves
    out packets from the container's own bridge (`! -i BRIDGE`), so that nodes of one network reach
    each other through the proxy.

    Args:
        rules: of the chain DOCKER.
    """
    own = [rule for rule in rules.splitlines() if f"-d {address}/32" in rule]
    if not own:
        return ""
    return BETWEEN_BY_PROXY if any("! -i " in rule for rule in own) else BETWEEN_BY_DNAT


def _checked(name: str, way: Way) -> Way:
    """The way as it was seen, with a fault if packets take another way than its name says."""
    if name == BETWEEN_PUBLISHED:
        return _checked_between(way)
    found = replace(way, path=published_path(way.host))
    if name == "published" and found.path == BY_PROXY:
        return replace(found, fault=_NO_DNAT)
    if name == "proxy" and not _relayed(way.host):
        return replace(found, fault=_NO_PROXY)
    return found


def _checked_between(way: Way) -> Way:
    """The same from another container, with a fault if no answer would come back."""
    path = path_between(way.host, nat_rules("DOCKER"))
    if not path:
        return replace(way, fault=_NO_DNAT)
    if path == BETWEEN_BY_PROXY and not _relayed(way.host):
        return replace(way, path=path, fault=_NO_PROXY)
    # where they are, the NAT table takes the translation back from an answer to a neighbour
    if path == BETWEEN_BY_DNAT and not bridges_filtered():
        return replace(way, path=path, fault=_NO_WAY_BACK)
    return replace(way, path=path)


def _relayed(address: str) -> bool:
    """Whether a docker-proxy of this machine listens on the address."""
    return any(
        one.info["name"] == "docker-proxy" and address in (one.info["cmdline"] or [])
        for one in psutil.process_iter(["name", "cmdline"])
    )
