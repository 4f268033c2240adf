"""Which network, storage and plugin go with which runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import either
from tare.machines import registry as machines
from tare.runtimes.registry import BARE, declared, having, registered
from tare.study.endpoint_rules import endpoint_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.runtimes.declaration import Declaration
    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup


def platform_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Settings that no runtime of this kind has, on any machine."""
    platform, client = setup.platform, setup.client
    runtime, of_client = declared(platform.runtime), declared(client.runtime)
    for field, fitting in runtime.fitting.items():
        value = getattr(platform, field)
        if value not in fitting:
            yield _clash("platform", field, value, runtime, problems)
    yield from _hosts_problems(setup, problems)
    yield from endpoint_problems(setup, problems)
    if of_client.orchestrator and runtime != of_client:
        yield problems.of(  # nothing says that it reaches them
            "client.runtime",
            f"{client.runtime} with platform.runtime {platform.runtime}",
            "a client inside the cluster asks nodes inside the cluster",
            f"set client.runtime to {BARE}, or platform.runtime to {client.runtime} instead of "
            f"{platform.runtime}",
            against="platform.runtime",
        )
    if platform.way in of_client.inside_only and client.network == "host":
        yield problems.of(
            "client.network",
            f"host with platform.network {platform.way} of a {of_client.title}",
            "only containers on the services' network have a way there",
            f"set client.network to bridge, or platform.network to {of_client.from_outside}",
            against="platform.network",
        )
    if client.network not in of_client.client_networks:
        yield _clash("client", "network", client.network, of_client, problems)


def _hosts_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Settings that hosts reached by SSH lack, or that only such hosts can have."""
    platform, client = setup.platform, setup.client
    of_inventory = either(machines.having(lambda one: one.from_inventory))
    if platform.hosts and not platform.source.from_inventory:
        yield problems.of(
            "platform.hosts",
            f"{platform.hosts} with platform.machines {platform.machines}",
            "groups of hosts are those of an inventory, which SSH reaches",
            f"set platform.machines to {of_inventory}, or leave platform.hosts out",
            against="platform.machines",
        )
    runtime, on_hosts = declared(platform.runtime), having(lambda one: one.on_hosts)
    if platform.source.from_inventory and not runtime.on_hosts:
        why, leaves = "is not run on other hosts", ""
        if runtime.orchestrator:
            why, leaves = "has machines of its own", ", which leaves its machines to it"
        yield problems.of(
            "platform.machines",
            f"{platform.machines} with platform.runtime {platform.runtime}",
            f"{platform.runtime} {why}",
            f"set platform.machines to {machines.HERE}{leaves}, or platform.runtime to "
            f"{either(on_hosts)}",
            against="platform.runtime",
        )
    elif platform.source.from_inventory and platform.network == "bridge":
        yield problems.of(
            "platform.network",
            f"bridge with platform.machines {platform.machines}",
            "no other machine has a way to a container's own address",
            "set platform.network to published, which is that bridge behind a port of its host, or "
            "to host",
            at="platform.machines",
            against="platform.network",
        )
    if client.source.here:
        return
    if not platform.source.from_inventory:
        yield problems.of(
            "client.machines",
            f"{client.machines} with platform.machines {platform.machines}",
            "other hosts have no way to nodes of this machine",
            f"set platform.machines to {of_inventory}, or client.machines to {machines.HERE}",
            against="platform.machines",
        )
    if not declared(client.runtime).on_hosts:
        placed = declared(client.runtime).orchestrator
        why = "places its clients itself" if placed else "is not run on other hosts"
        yield problems.of(
            "client.machines",
            f"{client.machines} with client.runtime {client.runtime}",
            f"{client.runtime} {why}",
            f"set client.runtime to {either(on_hosts)}, or client.machines to {machines.HERE}",
            against="client.runtime",
        )


def _clash(
    part: str, field: str, value: str, runtime: Declaration, problems: ConditionProblems
) -> Problem:
    fitting = {name: one.fitting[field] for name, one in registered().items()}
    if part == "client":
        fitting = {name: one.client_networks for name, one in registered().items()}
    owners = [name for name, values in fitting.items() if value in values]
    own = [one or '""' for one in fitting[runtime.name]]
    what = runtime.noun or runtime.name
    return problems.of(
        f"{part}.{field}",
        f"{value} with {part}.runtime {runtime.name}",
        f"{what} has no {value} {field}; it is for {' and '.join(owners)}",
        f"set {part}.{field} to {' or '.join(own)}, or {part}.runtime to {' or '.join(owners)}",
        against=f"{part}.runtime",
    )
