"""The path of packets to pods, in words, and why they do not get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes import path_check
from tare.runtimes.declaration import NOT_RECOGNISED, PLUGIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.runtimes.replies import Reply

_REMEDIES: Mapping[str, str] = {
    "host": "let the nodes' firewalls pass the database's ports",
    "host-port": "use a network plugin that maps host ports (with CNI: the portmap plugin), or "
    "network: host",
    "node-port": "see that kube-proxy runs on the nodes and that its mode fits their kernel (ipvs "
    "needs IP_VS), and that firewalls pass ports 30000 to 32767",
    "service-ip": "see that kube-proxy runs on the nodes and that its mode fits their kernel (ipvs "
    "needs IP_VS)",
    "container-dns": "see that the network plugin joins pods of different nodes, and that the "
    "cluster's DNS runs",
}
_OUTSIDE: Mapping[str, str] = {
    "service-ip": "addresses of services are not routed to this machine: run the load client "
    "inside (client.runtime: kubernetes), or add a route through a node",
    "container-dns": "addresses of pods are not routed to this machine: run the load client "
    "inside (client.runtime: kubernetes), or add routes through the nodes",
}
"""remedies for clients outside of the cluster, if they differ"""


def refuse_broken(
    network: str, expected: Mapping[str, str], found: Sequence[Reply], *, inside: bool, proxy: str
) -> None:
    """Refuse a path unless every target was answered by its own pod.

    Args:
        network: the endpoint, as in the study.
        expected: target to the pod that must answer there.
        found: the replies.
        inside: whether they were asked inside the cluster.
        proxy: mode of the cluster's service proxy, if it is known.

    Raises:
        RuntimeUnavailableError: a target did not answer, or another pod did.
    """
    place = "inside the cluster" if inside else "this machine"
    remedy = _REMEDIES[network] if inside else _OUTSIDE.get(network, _REMEDIES[network])
    mode = f" (its proxy mode is {proxy})" if proxy and "kube-proxy" in remedy else ""
    path_check.refuse_broken(network, expected, found, "pods", place, remedy=remedy + mode)


def in_words(network: str, found: Sequence[Reply], plugin: str, proxy: str) -> str:
    """The path of packets to an endpoint, by what was seen."""
    parts = [network]
    if network in ("service-ip", "node-port"):
        parts.append(f"service proxy ({proxy or 'mode not known'})")
    if network != "host":
        parts.append(f"{PLUGIN} {plugin or NOT_RECOGNISED}")
    return ", ".join([*parts, *path_check.seen_in_words(found)])
