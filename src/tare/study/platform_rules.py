"""Which network, storage and plugin go with which runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.endpoint_rules import endpoint_problems
from tare.study.problems import Problem, later

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.study.origins import FieldPath, Origins
    from tare.study.schema import Setup

_OF_SERVICES = ("host", "host-port", "node-port", "service-ip", "container-dns")
FITTING: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "native": {
        "network": ("host",),
        "endpoint": ("", "loopback"),
        "storage": ("directory",),
        "plugin": ("",),
    },
    "docker": {
        "network": ("host", "bridge", "published"),
        "endpoint": ("", "loopback", "bridge", "published", "proxy"),
        "storage": ("directory", "volume", "layer"),
        "plugin": ("",),
    },
    "swarm": {
        "network": _OF_SERVICES,
        "endpoint": ("", *_OF_SERVICES[1:]),
        "storage": ("volume", "layer"),
        "plugin": ("", "overlay", "docker-gwbridge", "weave"),
    },
    "kubernetes": {
        "network": _OF_SERVICES,
        "endpoint": ("", *_OF_SERVICES[1:]),
        "storage": ("host-path", "pvc", "emptydir", "layer"),
        "plugin": ("", "flannel-vxlan", "flannel-host-gw", "bridge", "weave"),
    },
}
"""Runtime to what each field of the platform may be."""
_ORCHESTRATORS = ("kubernetes", "swarm")
_INSIDE = ("service-ip", "container-dns")
"""a Swarm's endpoints on a network that only containers are on"""


def platform_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """What no runtime of this kind has, on any machine."""
    platform, client = setup.platform, setup.client
    for field, fitting in FITTING[platform.runtime].items():
        value = getattr(platform, field)
        if value not in fitting:
            yield _clash(("platform", field), value, platform.runtime, origins, condition)
    yield from _hosts_problems(setup, origins, condition)
    yield from endpoint_problems(setup, origins, condition)
    if client.runtime in _ORCHESTRATORS and platform.runtime != client.runtime:
        yield _client_elsewhere(client.runtime, platform.runtime, origins, condition)
    if client.runtime == "swarm" and platform.way in _INSIDE and client.network == "host":
        yield _off_network(platform.way, origins, condition)
    if client.runtime == "native" and client.network != "host":
        yield _clash(("client", "network"), client.network, "native", origins, condition)


def _hosts_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """What hosts that SSH reaches have not, or nobody else has a way to."""
    platform, client = setup.platform, setup.client
    machines, own_runtime = ("platform", "machines"), ("platform", "runtime")
    if platform.hosts and platform.machines != "ssh":
        yield Problem(
            later(origins, ("platform", "hosts"), machines),
            f"platform.hosts: {platform.hosts} with platform.machines {platform.machines}",
            f"groups of hosts are those of an inventory, which SSH reaches (condition {condition})",
            "set platform.machines to ssh, or leave platform.hosts out",
        )
    if platform.machines == "ssh" and platform.runtime in _ORCHESTRATORS:
        yield Problem(
            later(origins, machines, own_runtime),
            f"platform.machines: ssh with platform.runtime {platform.runtime}",
            f"{platform.runtime} has machines of its own (condition {condition})",
            "set platform.machines to local, which leaves its machines to it, or platform.runtime "
            "to native or docker",
        )
    elif platform.machines == "ssh" and platform.network == "bridge":
        yield Problem(
            later(origins, machines, ("platform", "network")),
            "platform.network: bridge with platform.machines ssh",
            f"no other machine has a way to a container's own address (condition {condition})",
            "set platform.network to host",
        )
    if client.machines != "ssh":
        return
    if platform.machines != "ssh":
        yield Problem(
            later(origins, ("client", "machines"), machines),
            f"client.machines: ssh with platform.machines {platform.machines}",
            f"other hosts have no way to nodes of this machine (condition {condition})",
            "set platform.machines to ssh, or client.machines to local",
        )
    if client.runtime in _ORCHESTRATORS:
        yield Problem(
            later(origins, ("client", "machines"), ("client", "runtime")),
            f"client.machines: ssh with client.runtime {client.runtime}",
            f"{client.runtime} places its clients itself (condition {condition})",
            "set client.runtime to native or docker, or client.machines to local",
        )


def _client_elsewhere(client: str, runtime: str, origins: Origins, condition: str) -> Problem:
    """A client inside an orchestrator and nodes that are not: nothing says that it reaches them."""
    return Problem(
        later(origins, ("client", "runtime"), ("platform", "runtime")),
        f"client.runtime: {client} with platform.runtime {runtime}",
        f"a client inside the cluster asks nodes inside the cluster (condition {condition})",
        f"set client.runtime to native, or platform.runtime to {client} instead of {runtime}",
    )


def _off_network(network: str, origins: Origins, condition: str) -> Problem:
    """A client on a machine's own network, and nodes on one that only containers join."""
    return Problem(
        later(origins, ("client", "network"), ("platform", "network")),
        f"client.network: host with platform.network {network} of a Swarm",
        f"only containers on the services' network have a way there (condition {condition})",
        "set client.network to bridge, or platform.network to host-port",
    )


def _clash(
    path: tuple[str, str], value: str, runtime: str, origins: Origins, condition: str
) -> Problem:
    part, field = path
    place: FieldPath = path
    owners = [name for name, fields in FITTING.items() if value in fields[field]]
    if part == "client":
        owners = ["docker", *_ORCHESTRATORS]
    own = [one or '""' for one in FITTING[runtime][field]]
    what = "a native process" if runtime == "native" else runtime
    return Problem(
        later(origins, place, (part, "runtime")),
        f"{part}.{field}: {value} with {part}.runtime {runtime}",
        f"{what} has no {value} {field}; it is for {' and '.join(owners)} (condition {condition})",
        f"set {part}.{field} to {' or '.join(own)}, or {part}.runtime to {' or '.join(owners)}",
    )
