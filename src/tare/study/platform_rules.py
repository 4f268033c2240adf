"""Which network, storage and plugin go with which runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import either
from tare.runtimes.registry import BARE, declared, having, registered
from tare.study.endpoint_rules import endpoint_problems
from tare.study.problems import Problem, later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.runtimes.declaration import Declaration
    from tare.study.origins import FieldPath, Origins
    from tare.study.schema import Setup


def platform_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """What no runtime of this kind has, on any machine."""
    platform, client = setup.platform, setup.client
    runtime, of_client = declared(platform.runtime), declared(client.runtime)
    for field, fitting in runtime.fitting.items():
        value = getattr(platform, field)
        if value not in fitting:
            yield _clash(("platform", field), value, runtime, origins, condition)
    yield from _hosts_problems(setup, origins, condition)
    yield from endpoint_problems(setup, origins, condition)
    if of_client.orchestrator and runtime != of_client:
        yield _client_elsewhere(client.runtime, platform.runtime, origins, condition)
    if platform.way in of_client.inside_only and client.network == "host":
        yield _off_network(platform.way, of_client, origins, condition)
    if client.network not in of_client.client_networks:
        yield _clash(("client", "network"), client.network, of_client, origins, condition)


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
    runtime, on_hosts = declared(platform.runtime), having(lambda one: one.on_hosts)
    if platform.machines == "ssh" and not runtime.on_hosts:
        why, leaves = "is not run on other hosts", ""
        if runtime.orchestrator:
            why, leaves = "has machines of its own", ", which leaves its machines to it"
        yield Problem(
            later(origins, machines, own_runtime),
            f"platform.machines: ssh with platform.runtime {platform.runtime}",
            f"{platform.runtime} {why} (condition {condition})",
            f"set platform.machines to local{leaves}, or platform.runtime to {either(on_hosts)}",
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
    if not declared(client.runtime).on_hosts:
        placed = declared(client.runtime).orchestrator
        why = "places its clients itself" if placed else "is not run on other hosts"
        yield Problem(
            later(origins, ("client", "machines"), ("client", "runtime")),
            f"client.machines: ssh with client.runtime {client.runtime}",
            f"{client.runtime} {why} (condition {condition})",
            f"set client.runtime to {either(on_hosts)}, or client.machines to local",
        )


def _client_elsewhere(client: str, runtime: str, origins: Origins, condition: str) -> Problem:
    """A client inside an orchestrator and nodes that are not: nothing says that it reaches them."""
    return Problem(
        later(origins, ("client", "runtime"), ("platform", "runtime")),
        f"client.runtime: {client} with platform.runtime {runtime}",
        f"a client inside the cluster asks nodes inside the cluster (condition {condition})",
        f"set client.runtime to {BARE}, or platform.runtime to {client} instead of {runtime}",
    )


def _off_network(network: str, runtime: Declaration, origins: Origins, condition: str) -> Problem:
    """A client on a machine's own network, and nodes on one that only containers join."""
    return Problem(
        later(origins, ("client", "network"), ("platform", "network")),
        f"client.network: host with platform.network {network} of a {runtime.title}",
        f"only containers on the services' network have a way there (condition {condition})",
        f"set client.network to bridge, or platform.network to {runtime.from_outside}",
    )


def _clash(
    path: tuple[str, str], value: str, runtime: Declaration, origins: Origins, condition: str
) -> Problem:
    part, field = path
    place: FieldPath = path
    fitting = {name: one.fitting[field] for name, one in registered().items()}
    if part == "client":
        fitting = {name: one.client_networks for name, one in registered().items()}
    owners = [name for name, values in fitting.items() if value in values]
    own = [one or '""' for one in fitting[runtime.name]]
    what = runtime.noun or runtime.name
    return Problem(
        later(origins, place, (part, "runtime")),
        f"{part}.{field}: {value} with {part}.runtime {runtime.name}",
        f"{what} has no {value} {field}; it is for {' and '.join(owners)} (condition {condition})",
        f"set {part}.{field} to {' or '.join(own)}, or {part}.runtime to {' or '.join(owners)}",
    )
