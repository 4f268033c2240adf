"""A trial's record of each unit: how it was run, from which files, under which limits."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from tare.machines.clocks import SAME
from tare.records.manifest import UnitRecord

if TYPE_CHECKING:
    from tare.runtimes.unit import Running
    from tare.study.schema import Client, Platform


def unit_record(
    name: str,
    running: Running,
    role: Literal["database", "client"],
    cluster: int,
    settings: Platform | Client,
    endpoint: str,
    facts: dict[str, str],
) -> UnitRecord:
    """The record of a running unit.

    Args:
        cluster: 1-based number of the cluster that it belongs to or loads.
        endpoint: where clients reach it; empty for a client.
        facts: what the kernel says of it, for the parity check.
    """
    unit = running.unit
    clock = unit.site.clock if role == "client" else running.accounting().machine.clock
    return UnitRecord(
        name=name,
        role=role,
        cluster=cluster,
        runtime=settings.runtime,
        network=settings.network,
        storage=unit.storage,
        endpoint=endpoint,
        path=_path(running, settings) if role == "database" else "",
        command=unit.command,
        image=unit.bits.image,
        bits=unit.bits.digest,
        limits={one: getattr(unit.limits, one) for one in ("cpus", "cpuset", "memory")},
        machine=unit.site.machine,
        hosts=getattr(settings, "hosts", ""),
        clock=asdict(clock) if clock is not SAME else None,
        parity=facts | running.facts(),
    )


def _path(running: Running, settings: Platform | Client) -> str:
    """The path of packets from this condition's clients to a database node."""
    endpoint = getattr(settings, "endpoint", "")
    return running.unit.site.way(endpoint).path if endpoint else running.packet_path()
