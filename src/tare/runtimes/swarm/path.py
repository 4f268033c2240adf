"""The path of packets to a Swarm's units, in words, and why they do not get there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil

from tare.runtimes import path_check
from tare.runtimes.swarm.declaration import PROXIED
from tare.runtimes.swarm.facts import NO_IP_VS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tare.runtimes.replies import Reply
    from tare.runtimes.swarm.manager import Document

_NEEDS_IP_VS = "a kernel with IP_VS on every node (modprobe ip_vs), or network: host-port or \
container-dns, which need none"
_REMEDIES: Mapping[str, str] = {
    "host": "let the nodes' firewalls pass the database's ports",
    "host-port": "let the nodes' firewalls pass published ports, from 9042 upwards",
    "node-port": _NEEDS_IP_VS,
    "service-ip": _NEEDS_IP_VS,
    "container-dns": "let the nodes' firewalls pass UDP 4789, TCP and UDP 7946 between nodes",
}


def refuse_broken(
    endpoint: str,
    expected: Mapping[str, str],
    found: Sequence[Reply],
    place: str,
    ip_vs: bool | None,
) -> None:
    """Refuse a path unless every target was answered by its own unit.

    Args:
        endpoint: as in the study.
        expected: target to the unit that must answer there.
        found: the replies.
        place: where they were asked, in words.
        ip_vs: whether the nodes' kernel has IP_VS; None: not known.

    Raises:
        RuntimeUnavailableError: a target did not answer, or another unit did.
    """
    because = NO_IP_VS if endpoint in PROXIED and ip_vs is False else ""
    remedy = _REMEDIES[endpoint]
    path_check.refuse_broken(
        endpoint, expected, found, "units", place, remedy=remedy, because=because
    )


def network_facts(document: Document) -> dict[str, Any]:
    """Facts of a network: driver, encapsulation, subnets."""
    options = document.get("Options") or {}
    return {
        "name": document.get("Name"),
        "driver": document.get("Driver"),
        "encapsulation": "VXLAN" if document.get("Driver") == "overlay" else "not known",
        "encrypted": "encrypted" in options,
        "virtual network": options.get("com.docker.network.driver.overlay.vxlanid_list", ""),
        "subnets": [one.get("Subnet") for one in (document.get("IPAM") or {}).get("Config") or []],
    }


def userland_proxies(ports: Collection[int]) -> list[int]:
    """Published ports of nodes on this machine with a docker-proxy listening beside the rules."""
    wanted, found = {str(port) for port in ports}, set()
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["name"] == "docker-proxy" and "-host-port" in words[:-1]:
            port = words[words.index("-host-port") + 1]
            if port in wanted:
                found.add(int(port))
    return sorted(found)


def in_words(endpoint: str, found: Sequence[Reply], network: Mapping[str, Any]) -> str:
    """The path of packets to an endpoint, by what was seen."""
    overlay = f"{network.get('driver')} network, {network.get('encapsulation')}"
    if network.get("encrypted"):
        overlay += ", encrypted"
    through = {
        "host": "the machine's own network",
        "host-port": "published port of its node, docker_gwbridge",
        "node-port": f"ingress network, IP_VS, {overlay}",
        "service-ip": f"service address, IP_VS, {overlay}",
        "container-dns": overlay,
    }
    parts = [endpoint, through[endpoint], *path_check.seen_in_words(found)]
    if any(_proxied(one) for one in found):
        parts.append("a program between them, as docker-proxy is")
    return ", ".join(parts)


def _proxied(one: Reply) -> bool:
    """Whether another connection arrived than the one that was opened.

    Translation of the source's address keeps its port as long as that is free.
    """
    sent, came = one.sent_from.rpartition(":"), one.came_from.rpartition(":")
    return bool(one.name) and one.source_translated and sent[2] != came[2]
