"""Results of a trial's slices: their sums, and one line a slice."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tare.records.manifest import Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from tare.lab.conductor import Driven
    from tare.monitor.meter import CpuReading
    from tare.records.manifest import Calls, ClientResult
    from tare.study.slice_schedule import Schedule

DISTURBED = 0.05
LEAST_DISTURBED_S = 0.25
"""A slice is disturbed if other work took more than this share of its CPU time. For slices under
0.25 s the limit is that of 0.25 s, because any program runs for some milliseconds."""


@dataclass(frozen=True)
class Summed:
    """CPU seconds of a trial over its measured slices.

    Attributes:
        units: by name.
        kernel_s: of the kernel's own threads.
        background_s: the part of `machine_s` that the operations did not cause: of Tare itself, of
            other programs, and as much as engine and kernel used in as many empty slices.
        idle_s: what engine and kernel use in the time of one slice while nothing is driven.
        idle_engine_s, idle_kernel_s, idle_softirq_s: parts of that, and of all soft interrupts.
        counts: what the kernel counted (tare.monitor.meter), less the counts of as much time of
            empty slices; empty where other machines took part.
    """

    units: dict[str, float]
    engine_s: float
    kernel_s: float
    machine_s: float
    background_s: float
    idle_s: float
    modes_s: dict[str, float]
    counts: dict[str, float]
    idle_engine_s: float = 0.0
    idle_kernel_s: float = 0.0
    idle_softirq_s: float = 0.0


class Replies(NamedTuple):
    """What clients told of a slice.

    Attributes:
        ops: successful operations, including those whose reply came in the drain.
        per_s: operations answered within the slice, per second of it. In a closed loop, replies in
            the drain are one too many per operation in flight: none was under way at the begin.
        within, drained: whole operations, without the parts of composite ones, that were answered
            within the slice, and in its drain.
        times: operation, as a client names it, to the number of its response times and their sum
            in microseconds.
    """

    ops: int
    per_s: float
    within: int
    drained: int
    times: dict[str, tuple[int, float]]

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Replies:
        """The replies of one client's interval."""
        told = event["responses"].items()
        return cls(
            int(event["ops"]),
            float(event["ops_per_s"]),
            int(event["within"]),
            int(event["drained"]),
            {name: (one["timed"], one["timed"] * one["mean_us"]) for name, one in told},
        )

    @classmethod
    def sum(cls, told: Iterable[Replies]) -> Replies:
        """The replies of several clients."""
        ops, per_s, within, drained, times = 0, 0.0, 0, 0, dict[str, tuple[int, float]]()
        for one in told:
            ops += one.ops
            per_s += one.per_s
            within += one.within
            drained += one.drained
            for name, (timed, total) in one.times.items():
                before = times.get(name, (0, 0.0))
                times[name] = (before[0] + timed, before[1] + total)
        return cls(ops, per_s, within, drained, times)

    def means(self) -> dict[str, tuple[int, float]]:
        """Operation to the number of its response times, and their mean in microseconds."""
        timed = self.times.items()
        return {name: (n, round(total / n, 3)) for name, (n, total) in timed if n}


def measured_slices(driven: Sequence[Driven], trial: int) -> list[Driven]:
    """The slices of a trial that count."""
    return [one for one in driven if one.slot.trial == trial and one.slot.counts]


def of_all_operations(
    driven: Sequence[Driven], trial: int, told: Sequence[tuple[int, int]]
) -> list[Driven]:
    """The block's slices; a trial's measured ones have the CPU time of all their operations.

    CPU time is read when a slice's load ends. Operations under way then have used half of theirs,
    on average. The rest is estimated from the cost of the others, not from the drain, in which
    servers use more than these operations need (docs/decisions/0032-drains.md).

    Args:
        driven: slices of the whole block.
        trial: its number in the schedule.
        told: of each of its measured slices, the number of operations answered within it, and in
            its drain.
    """
    left = iter(told)
    whole = []
    for one in driven:
        if one.slot.trial == trial and one.slot.counts:
            within, drained = next(left, (0, 0))
            if drained:
                factor = (within + drained) / (within + drained / 2)
                one = replace(one, used=one.used.times(factor))
        whole.append(one)
    return whole


def summed(driven: Sequence[Driven], trial: int) -> Summed:
    """The sums over a trial's measured slices.

    Args:
        driven: slices of the whole block, with its empty ones.
        trial: its number in the schedule.
    """
    slices = measured_slices(driven, trial)
    own = [one.used for one in slices]
    empty = [one for one in driven if one.slot.trial is None]
    # an empty slice has its own turn, which is longer by the thaw
    scale = _mean([one.seconds for one in slices]) / (sum(one.seconds for one in empty) or math.inf)

    def idle(used: Callable[[CpuReading], float]) -> float:
        return scale * sum(used(one.used) for one in empty)

    def counted(name: str) -> float:
        # for all slices, the mean of those in which it could be read
        found = [one.counts[name] for one in own if name in one.counts]
        idly = idle(lambda used: used.counts.get(name, 0))
        return len(own) * (_mean(found) - idly)

    idle_s = idle(lambda used: used.part)
    machine_s = sum(one.machine for one in own)
    return Summed(
        units={name: sum(one.units[name] for one in own) for name in own[0].units},
        engine_s=sum(one.engine for one in own),
        kernel_s=sum(one.kernel for one in own),
        machine_s=machine_s,
        idle_s=idle_s,
        background_s=machine_s - sum(one.part for one in own) + idle_s * len(own),
        modes_s={mode: sum(one.modes[mode] for one in own) for mode in own[0].modes},
        counts={name: counted(name) for name in sorted({n for one in own for n in one.counts})},
        idle_engine_s=idle(lambda used: used.engine),
        idle_kernel_s=idle(lambda used: used.kernel),
        idle_softirq_s=idle(lambda used: used.modes.get("softirq", 0.0)),
    )


def with_cpu_time(
    results: Sequence[ClientResult], units: Mapping[str, float]
) -> list[ClientResult]:
    """Clients' results with the CPU time of their units in the slices.

    A client's own count includes its waking and waiting between its slices. A client with fewer
    slices, and longer waits between them, would seem to need more for an operation.

    Args:
        units: name to CPU seconds over the measured slices.
    """
    return [
        one.model_copy(update={"cpu_us_per_op": 1e6 * units[one.client] / one.ok})
        if one.ok and one.client in units
        else one
        for one in results
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def slices_record(
    driven: Sequence[Driven],
    trial: int,
    schedule: Schedule,
    *,
    undrained: int,
    why_not_frozen: str,
    why_not_paced: str,
    calls: Calls | str = "",
    client_packets: float | None = None,
) -> Slices:
    """How the trial was cut, and what went wrong with it.

    Args:
        calls: system calls, or why none were counted.
        client_packets: per operation in the warm-up; None: not counted separately there.
    """
    own = measured_slices(driven, trial)
    others = [one.used.others for one in own]
    return Slices(
        count=len(own),
        length_s=schedule.length_s,
        drain_s=schedule.drain_s,
        frozen=not why_not_frozen,
        why_not_frozen=why_not_frozen,
        paced=not why_not_paced,
        why_not_paced=why_not_paced,
        empty=sum(one.slot.trial is None for one in driven),
        undrained=undrained,
        late=sum(one.late for one in own),
        disturbed=sum(
            other > DISTURBED * max(one.seconds, LEAST_DISTURBED_S) * _cpus()
            for one, other in zip(own, others, strict=True)
        ),
        other_cpu_s=sum(others),
        counts=summed(driven, trial).counts,
        calls=None if isinstance(calls, str) else calls,
        why_no_calls=calls if isinstance(calls, str) else "",
        client_packets_per_op=client_packets,
    )


def write_slices(
    driven: Sequence[Driven],
    trial: int,
    replies: Sequence[Replies],
    file: Path,
    pace: Callable[[float], float | None] = lambda begins: None,
) -> None:
    """One JSON object a measured slice, in the order in which they were driven.

    Args:
        pace: from the Unix time of a load's begin to that slice's mean log of the nanoseconds of
            the pace's arithmetic; None: not sampled.
    """
    with file.open("w", encoding="utf-8") as out:
        for place, one in enumerate(measured_slices(driven, trial)):
            told = replies[place] if place < len(replies) else None
            line = {
                "unix": round(one.unix, 6),
                "turn": one.slot.turn,
                "seconds": round(one.seconds, 6),
                "ops": told and told.ops,
                "ops_per_s": told and round(told.per_s, 3),
                "responses": told.means() if told else {},
                "machine_cpu_s": round(one.used.machine, 9),
                "tare_cpu_s": round(one.used.own, 9),
                "engine_cpu_s": round(one.used.engine, 9),
                "kernel_cpu_s": round(one.used.kernel, 9),
                "units_cpu_s": {name: round(used, 9) for name, used in one.used.units.items()},
                "modes_s": {mode: round(used, 9) for mode, used in one.used.modes.items()},
                "other_cpu_s": round(one.used.others, 9),
                "counts": dict(one.used.counts),
                "late": one.late,
            }
            if (took := pace(one.unix)) is not None:
                line["pace"] = round(took, 6)
            out.write(json.dumps(line) + "\n")


def _cpus() -> int:
    return os.cpu_count() or 1
