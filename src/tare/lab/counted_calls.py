"""System calls of a trial, or of a weighed way: counted in its slices of the warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.machine import Here
from tare.monitor.calls import CALLS, CallCounters
from tare.monitor.process_counts import CLIENT, SERVER
from tare.records.manifest import Calls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tare.lab.conductor import Driven
    from tare.machines.cgroups import Accounting
    from tare.study.slice_schedule import Schedule

NOT_TOLD = "the clients did not tell of all slices of the warm-up"
NOT_HERE = "no process of a server or of a client is known on this machine"
NO_SUCCESS = "no operation succeeded while the block warmed up"


def begin_counting(servers: Iterable[Accounting], schedule: Schedule) -> CallCounters | str:
    """Begin to count the servers' calls; or why nothing can be counted."""
    own = list(servers)
    if not any(slot.trial is not None and not slot.counts for slot in schedule.slots):
        return "load.warmup is 0, and calls are counted while a block warms up"
    if not all(isinstance(one.machine, Here) for one in own):
        return "servers run on other hosts"
    counters = CallCounters()
    counters.add(own)
    return counters


def counted_calls(
    driven: Sequence[Driven],
    trial: int,
    operations: Sequence[int],
    servers: Collection[str],
    idle_s: float,
) -> Calls | str:
    """A trial's system calls; or why none were counted, where the counters do not say.

    Args:
        driven: slices of the whole block.
        operations: of each of the trial's warm-up slices, over all clients.
        servers: names of its units that are servers; the others are clients.
        idle_s: CPU seconds of a slice in which nothing is driven.
    """
    own = [one for one in driven if one.slot.trial == trial and not one.slot.counts]
    if not own or not all(one.calls for one in own):
        return NOT_HERE
    if len(own) != len(operations):
        return NOT_TOLD
    if not sum(operations):
        return NO_SUCCESS
    counts: dict[str, int] = {}
    for one in own:
        for unit, calls in one.calls.items():
            for kind, number in calls.items():
                name = call_name(SERVER if unit in servers else CLIENT, kind)
                counts[name] = counts.get(name, 0) + number
    return Calls(
        slices=len(own),
        operations=sum(operations),
        counts=counts,
        demand_us=1e6 * sum(one.used.part - idle_s for one in own) / sum(operations),
    )


def call_name(role: str, kind: str) -> str:
    """ROLE_calls for all, ROLE_KIND_calls for one kind."""
    return f"{role}_{kind}" if kind == CALLS else f"{role}_{kind}_{CALLS}"


def per_operation(calls: Calls | str) -> Mapping[str, float]:
    """Calls per operation, by name; empty where none were counted."""
    if isinstance(calls, str):
        return {}
    return {name: count / calls.operations for name, count in calls.counts.items()}
