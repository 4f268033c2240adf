"""Requirements for giving a client one of several endpoints of a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.registry import HERE
from tare.runtimes.registry import BARE, declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

_NO_LOOPBACK = "a container on a bridge has no way to a loopback that is not its own"
_NOT_FROM_A_CONTAINER = {
    "loopback": _NO_LOOPBACK,
    "published": "packets from the node's own bridge pass no DNAT rule, but docker-proxy",
    "proxy": _NO_LOOPBACK,
}
"""Endpoint to the reason why a client on a bridge is not given it."""


def endpoint_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Why a named endpoint cannot be what it says, on any machine."""
    platform, client, nodes = setup.platform, setup.client, setup.database.nodes
    if not platform.endpoint:
        return
    runtime = declared(platform.runtime)
    several = runtime.several_on if platform.endpoint in runtime.endpoints else ""
    instead = f"platform.endpoint to {several}" if several else "leave platform.endpoint out"

    def problem(other: str, value: object, why: str, remedy: str) -> Problem:
        what = f"{platform.endpoint} with {other} {value}"
        return problems.of("platform.endpoint", what, why, remedy, against=other)

    if platform.over_ssh:
        yield problem(
            "platform.machines",
            platform.machines,
            "of other hosts, this version has the network's usual endpoint only",
            f"leave platform.endpoint out, or set platform.machines to {HERE}",
        )
    own = runtime.several_on or platform.network
    if platform.network != own:
        yield problem(
            "platform.network",
            platform.network,
            f"several endpoints are those of a unit on a network of containers: {own}",
            f"set platform.network to {own}, or leave platform.endpoint out",
        )
    if nodes > 1 and platform.endpoint == "loopback":
        yield problem(
            "database.nodes",
            nodes,
            "each node has a loopback of its own, and a client is in one of them only",
            f"set database.nodes to 1, or {instead}",
        )
    in_place = declared(client.runtime).in_place
    if several and not in_place and platform.endpoint == "loopback":
        yield problem(
            "client.runtime",
            client.runtime,
            "a client enters the node's network namespace as a process of this machine",
            f"set client.runtime to {BARE}, or {instead}",
        )
    elif client.network == "bridge" and platform.endpoint in _NOT_FROM_A_CONTAINER:
        yield problem(
            "client.network",
            "bridge",
            _NOT_FROM_A_CONTAINER[platform.endpoint],
            f"set client.network to host, or {instead}",
        )
