"""Virtual machines that a plan's conditions need: how many, how large, and of which group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.runtimes.registry import declared
from tare.study.estimate import together
from tare.study.quantities import MIB, cpus_of
from tare.study.server_needs import node_memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.study.conditions import Condition
    from tare.study.design import Design
    from tare.study.platform import Domain
    from tare.study.schema import Setup

GUEST_BYTES = 512 * MIB
"""Memory of a domain beside its servers: kernel, SSH server, Tare's files, some page cache."""
ENGINE_BYTES = 192 * MIB
"""A Docker engine in a domain: dockerd and containerd."""


@dataclass(frozen=True)
class Domains:
    """Identical domains: one for each node of a cluster.

    Attributes:
        group: group of hosts, as conditions name it.
        count: how many.
        cpus: of each.
        cpuset: CPUs of this machine on which they run; empty: any.
        memory: of each, bytes.
        engine: whether each runs a Docker engine.
        domain: disk and network of each.
        machines: the kind, as a study names it.
    """

    group: str
    count: int
    cpus: int
    cpuset: str
    memory: int
    engine: bool
    domain: Domain
    machines: str


def domains_of(conditions: Iterable[Condition], design: Design, cpus: int) -> list[Domains]:
    """The domains that the conditions need together, by group; empty: no condition needs one.

    A domain is as large as the limits of the servers that live in it at one time. Without limits it
    has all CPUs of the machine, and the memory that its servers are estimated to need.

    Args:
        cpus: of this machine.
    """
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        if one.setup.platform.source.made:
            groups.setdefault(one.setup.platform.group, []).append(one)
    return [_alike(group, own, design, cpus) for group, own in groups.items()]


def _alike(group: str, own: list[Condition], design: Design, cpus: int) -> Domains:
    platform = own[0].setup.platform
    limits = platform.limits
    if limits.cpuset is not None:
        cpus = len(cpus_of(limits.cpuset))
    if limits.cpus is not None:
        cpus = min(cpus, math.ceil(limits.cpus))
    alive = {one.deployment: one.setup for one in own}
    servers = [one.clusters * _server_bytes(one) for one in alive.values()]
    engine = any(not declared(one.setup.platform.runtime).in_place for one in own)
    memory = sum(servers) if together(design) else max(servers)
    memory += GUEST_BYTES + (ENGINE_BYTES if engine else 0)
    return Domains(
        group,
        max(one.setup.database.nodes for one in own),
        cpus,
        limits.cpuset or "",
        -(-memory // (64 * MIB)) * 64 * MIB,
        engine,
        platform.domain,
        platform.machines,
    )


def _server_bytes(setup: Setup) -> int:
    """Memory of one server: its limit, which includes its page cache, or what it comes to hold."""
    return setup.platform.limits.memory or node_memory(setup, None)
