"""A pilot: a server without a database, driven in slices as a study's conditions are."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tare import scratch
from tare.lab.alone import alone
from tare.lab.quiet_servers import DrivenWay, QuietServers, Server, pinned_cpus, quiet_setup
from tare.machines.addresses import AddressPool
from tare.runtimes.registry import BARE, declared
from tare.study.slice_lengths import drain_of, slice_in_turn_s
from tare.study.slice_schedule import Cut, block_seconds, make_schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.analysis.slices import SliceRow
    from tare.lab.drive_outcome import DriveOutcome
    from tare.study.schema import Setup
    from tare.study.slice_schedule import Schedule

CONDITIONS = 3
_RUN = "noise"
# One operation in flight: with more, some slices are answered in batches, at a third of the cost.
_LOAD: dict[str, object] = {"threads": 1, "warmup": "500ms"}
_AT_ONCE_S = 0.0
"""seconds until a server without a database answers it"""


@dataclass(frozen=True)
class Piloted:
    """What a pilot measured.

    Attributes:
        rows: condition to its measured slices, in their order.
        order: (place among its condition's, condition) of every measured slice, as driven.
        seconds: from the first slice's load to the end of the last one's drain.
        turn: as `design.turn`.
        pinned: servers and clients had a CPU each.
        frozen: servers stood still between their slices.
        idle_cpus: poll; or halt, and why.
        late: measured slices that began or ended too late.
        steal: share of the machine's CPU time that a hypervisor took.
        other_cores: CPU time of other programs, in cores.
        gap_s: longest time without a reply of a driven server.
    """

    rows: list[list[SliceRow]]
    order: list[tuple[int, int]]
    seconds: float
    slice_s: float
    drain_s: float
    pinned: bool
    frozen: bool
    idle_cpus: str
    turn: Literal["slice", "pass"]
    late: int
    steal: float
    other_cores: float
    gap_s: float = 0.0


def pilot(
    seconds: float,
    driven: Sequence[int] = (0,) * CONDITIONS,
    *,
    options: Sequence[Sequence[str]] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Piloted:
    """Measure the noise of this machine's slices, cut as a study's, for a given time.

    Args:
        driven: which server each condition drives, from 0.
        options: of each server's program; empty: none.
        say: told what could not be removed.

    Raises:
        LabBusyError: a run holds this machine.
        RuntimeUnavailableError: a program is missing, or a control group cannot be made.
        QuietError: a server or a client failed.
    """
    with contextlib.ExitStack() as stack:
        idle_cpus = stack.enter_context(alone(_RUN, say))
        work = Path(stack.enter_context(scratch.directory("noise")))
        runtime = declared(BARE).make(_RUN, work, AddressPool())
        stack.callback(runtime.close)
        commands = [list(own) for own in options] or [[] for _ in range(max(driven) + 1)]
        most = max(Counter(driven).values())
        slice_s = slice_in_turn_s(most, _AT_ONCE_S)
        setup = quiet_setup(_LOAD, slice_s)
        shape = Cut(0, 0, slice_s, drain_of(_AT_ONCE_S), most > 1)
        schedule = _schedule(setup, seconds, driven, shape)
        outcome = QuietServers(stack, runtime, setup, "tare doctor --noise").drive(
            [Server(runtime, options=own) for own in commands],
            [DrivenWay(server) for server in driven],
            lambda ways: schedule,
        )
        return _piloted(outcome, schedule, "pass" if most > 1 else "slice", idle_cpus)


def _schedule(setup: Setup, seconds: float, servers: Sequence[int], shape: Cut) -> Schedule:
    """As many slices as the time holds; each condition drives one of the servers."""

    def cut(slices: int) -> Cut:
        return replace(shape, warmup_s=setup.load.warmup, measure_s=slices * shape.length_s)

    sharing = [[1] * often for often in Counter(servers).values()]
    slices = 1
    while block_seconds(sharing, cut(slices + 1)) <= seconds:
        slices += 1
    return make_schedule(
        [f"condition{place + 1}" for place in range(len(servers))],
        cut(slices),
        seed=7,
        deployments=[f"server{server + 1}" for server in servers],
    )


def _piloted(
    outcome: DriveOutcome, schedule: Schedule, turn: Literal["slice", "pass"], idle_cpus: str
) -> Piloted:
    return Piloted(
        rows=outcome.rows,
        order=outcome.order,
        seconds=schedule.seconds,
        slice_s=schedule.length_s,
        drain_s=schedule.drain_s,
        pinned=bool(pinned_cpus()),
        frozen=outcome.frozen,
        idle_cpus=idle_cpus,
        turn=turn,
        late=outcome.late,
        steal=outcome.steal,
        other_cores=outcome.other_cores,
        gap_s=outcome.gap_s,
    )
