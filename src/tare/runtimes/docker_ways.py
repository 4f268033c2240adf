"""The ways to a container on a bridge that serves several endpoints at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import psutil

from tare.machines.addresses import can_claim
from tare.runtimes.docker_engine import BY_PROXY, PUBLISHED, published_path
from tare.runtimes.unit import Way
from tare.study.platform import BETWEEN_NODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.machines.addresses import AddressPool

BRIDGE = "bridge and veth pair"
_BETWEEN = "bridge and two veth pairs, from another container"
_PUBLISHED = ("published", "proxy")
_NO_DNAT = "the engine's NAT table has no rule for the port's host address"
_NO_PROXY = "no docker-proxy listens there: the engine runs with userland-proxy off"


def all_ways(address: str, pool: AddressPool) -> dict[str, Way]:
    """Every endpoint of a container and the way from others on its bridge, before it is started.

    Docker leaves 127.0.0.0/8 out of its DNAT rule, so that a port on an address of that range is
    relayed by docker-proxy, and one on another address of this machine takes DNAT.

    Args:
        address: of the container on its bridge.
        pool: where the host addresses of published ports come from.
    """
    fault = can_claim()
    published = Way("" if fault else pool.host(), PUBLISHED, fault=fault or "")
    return {
        "loopback": Way("127.0.0.1", "loopback of the container", inside=True),
        "bridge": Way(address, BRIDGE),
        "published": published,
        "proxy": Way(pool.loopback(), PUBLISHED),
        BETWEEN_NODES: Way(address, _BETWEEN, beside=True),
    }


def published_on(ways: Mapping[str, Way]) -> list[str]:
    """The host addresses on which the container's client port is published."""
    return [one.host for name, one in ways.items() if name in _PUBLISHED and not one.fault]


def seen(ways: Mapping[str, Way]) -> dict[str, Way]:
    """The ways of a started container, with what was seen of its published ports."""
    return {
        name: _checked(name, one) if name in _PUBLISHED and not one.fault else one
        for name, one in ways.items()
    }


def _checked(name: str, way: Way) -> Way:
    """The way as it was seen, with a fault where packets take another than its name says."""
    found = replace(way, path=published_path(way.host))
    if name == "published" and found.path == BY_PROXY:
        return replace(found, fault=_NO_DNAT)
    if name == "proxy" and not _relayed(way.host):
        return replace(found, fault=_NO_PROXY)
    return found


def _relayed(address: str) -> bool:
    """Whether a docker-proxy of this machine listens on the address."""
    return any(
        one.info["name"] == "docker-proxy" and address in (one.info["cmdline"] or [])
        for one in psutil.process_iter(["name", "cmdline"])
    )
