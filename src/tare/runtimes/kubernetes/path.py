"""Proof of a path: pods that answer stand in for a database, and are asked where clients will ask.

A service proxy without its kernel module, a plugin without host ports, a route that is missing:
all let packets vanish without a word. So nothing is measured on a path that was not seen to work,
and both ends of a connection tell where addresses were translated.
"""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WITHIN_S = 10.0
"""longest wait for an answer; rules of proxies follow new pods within a second or two"""
_AGAIN_S = 0.2
_LONGEST_LINE = 16 * 1024

_MENDS: Mapping[str, str] = {
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
"""what mends it for clients outside of the cluster, where that is something else"""


@dataclass(frozen=True)
class Told:
    """What came of asking one target; addresses are host:port.

    Attributes:
        target: as it was asked for.
        sent_from, sent_to: both ends of the connection, as the client saw them.
        name: the pod that answered; empty where none did.
        came_from, came_to: both ends as the pod saw them.
        mtu: the pod's network devices, to the largest packet that they send, bytes.
        largest_segment: bytes of payload that the client's TCP put into a packet; 0: not known.
        why: why none answered.
    """

    target: str
    sent_from: str = ""
    sent_to: str = ""
    name: str = ""
    came_from: str = ""
    came_to: str = ""
    mtu: Mapping[str, int] = field(default_factory=dict)
    largest_segment: int = 0
    why: str = ""

    @property
    def source_translated(self) -> bool:
        return bool(self.name) and self.sent_from != self.came_from

    @property
    def destination_translated(self) -> bool:
        return bool(self.name) and self.sent_to != self.came_to

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "source translated": self.source_translated,
            "destination translated": self.destination_translated,
        }


def ask_from_here(
    targets: Sequence[str],
    within_s: float = WITHIN_S,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> list[Told]:
    """Ask all targets, host:port, from this machine, side by side."""
    with ThreadPoolExecutor(max_workers=len(targets) or 1) as pool:
        return list(pool.map(lambda target: _ask(target, within_s, clock, wait), targets))


def _ask(
    target: str, within_s: float, clock: Callable[[], float], wait: Callable[[float], None]
) -> Told:
    deadline = clock() + within_s
    while True:
        try:
            return _once(target, max(deadline - clock(), 0.1))
        except (OSError, ValueError, KeyError) as error:
            if clock() + _AGAIN_S >= deadline:
                return Told(target, why=str(error) or type(error).__name__)
        wait(_AGAIN_S)


def _once(target: str, left_s: float) -> Told:
    host, _, port = target.rpartition(":")
    with socket.create_connection((host, int(port)), left_s) as connection:
        connection.settimeout(left_s)
        with connection.makefile("rb") as answers:
            answer = json.loads(answers.readline(_LONGEST_LINE))
        return Told(
            target,
            sent_from=_joined(connection.getsockname()),
            sent_to=_joined(connection.getpeername()),
            name=str(answer["name"]),
            came_from=str(answer["peer"]),
            came_to=str(answer["local"]),
            mtu=_sizes(answer),
            largest_segment=connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG),
        )


def _joined(address: Any) -> str:
    return f"{address[0]}:{address[1]}"


def _sizes(answer: Mapping[str, Any]) -> dict[str, int]:
    return {str(device): int(size) for device, size in dict(answer.get("mtu") or {}).items()}


def told_inside(text: str) -> list[Told]:
    """What `tare-pod ask` printed inside the cluster; lines that are none are left out."""
    found: list[Told] = []
    for line in text.splitlines():
        try:
            one = json.loads(line)
            answer = one["answer"] or {}
            found.append(
                Told(
                    target=str(one["target"]),
                    sent_from=str(one["from"] or ""),
                    sent_to=str(one["to"] or ""),
                    name=str(answer.get("name", "")),
                    came_from=str(answer.get("peer", "")),
                    came_to=str(answer.get("local", "")),
                    mtu=_sizes(answer),
                    why=str(one["why"]),
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def refuse_broken(
    network: str, expected: Mapping[str, str], found: Sequence[Told], *, inside: bool, proxy: str
) -> None:
    """Nothing where every target was answered by its own pod.

    Args:
        network: the endpoint, as the study has it.
        expected: target to the pod that must answer there.
        found: what came of asking.
        inside: whether they were asked inside the cluster.
        proxy: mode of the cluster's service proxy, where it is known.

    Raises:
        RuntimeUnavailableError: a target did not answer, or another pod did.
    """
    by_target = {one.target: one for one in found}
    faults: list[str] = []
    for target, pod in expected.items():
        one = by_target.get(target, Told(target, why="it was not asked"))
        if not one.name:
            faults.append(f"{target} ({pod}): {one.why}")
        elif one.name != pod:
            faults.append(f"{target}: {one.name} answered in place of {pod}")
    if not faults:
        return
    place = "inside the cluster" if inside else "this machine"
    mend = _MENDS[network] if inside else _OUTSIDE.get(network, _MENDS[network])
    mode = f" (its proxy mode is {proxy})" if proxy and "kube-proxy" in mend else ""
    raise RuntimeUnavailableError(
        f"network: {network} is not runnable here: packets from {place} do not reach the pods",
        where="platform.network",
        why="; ".join(faults),
        remedy=mend + mode,
    )


def in_words(network: str, found: Sequence[Told], plugin: str, proxy: str) -> str:
    """What packets to an endpoint pass through, by what was seen."""
    parts = [network]
    if network in ("service-ip", "node-port"):
        parts.append(f"service proxy ({proxy or 'mode not known'})")
    if network != "host":
        parts.append(f"network plugin {plugin or 'not recognised'}")
    if any(one.destination_translated for one in found):
        parts.append("destination translated")
    if any(one.source_translated for one in found):
        parts.append("source translated")
    sizes = sorted({size for one in found for size in one.mtu.values()})
    if sizes:
        parts.append(f"MTU {' or '.join(map(str, sizes))}")
    return ", ".join(parts)
