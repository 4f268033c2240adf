"""Drives ways to a server without a database in slices: the source of `tare weigh`'s prices.

Each round starts all servers and clients anew. Within a round the ways have their slices in turn,
in an order drawn anew for each pass. Servers that wait for requests use no CPU time, so that none
is frozen. Slices are so short that neighbouring ones meet the machine in the same state.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.analysis.prices import UNOWNED, UNOWNED_US, US, RoundSlices, Weighed, WeighedWay
from tare.analysis.slices import LEAST_PASSES
from tare.databases.registry import USUAL, declared
from tare.errors import QuietError, UsageError
from tare.lab import weighed_hosts
from tare.lab.alone import alone
from tare.lab.counted_calls import per_operation
from tare.lab.quiet_servers import QuietServers, launch_seconds, quiet_setup
from tare.lab.slice_records import summed
from tare.lab.weighed_hosts import HostServers
from tare.lab.weighed_servers import (
    ORCHESTRATORS,
    RUN,
    RUNTIMES,
    WeighedServers,
    places,
    refuse_unweighable,
)
from tare.lab.weighed_variants import (
    FIELDS,
    FURTHER_BYTES,
    WORKING_KIB,
    driven,
    server_options,
    shares,
    variants,
)
from tare.monitor.pace import Pace
from tare.records.prices import Operation
from tare.study.slice_lengths import USUAL_SLICE_S, drain_of
from tare.study.slice_schedule import SETTLE_S, Cut, block_seconds, make_schedule

if TYPE_CHECKING:
    from tare.databases.names import DatabaseName
    from tare.lab.drive_outcome import DriveOutcome
    from tare.lab.quiet_servers import DrivenWay
    from tare.lab.slice_records import Summed
    from tare.lab.weighed_hosts import WeighedHost
    from tare.study.schema import Setup
    from tare.study.slice_schedule import Schedule

_SHORT_SLICE_S = 0.04
_ANSWERED_IN_TURN = 10
"""How often a slice holds all operations in flight, where a server takes its time for each."""
_START_S = 2.0
"""what a round needs besides its slices and the launch of its clients: servers start, all end"""
_ORCHESTRATED_S = 15.0
"""what a round of a pod or a task needs, likewise"""
_HOST_S = 6.0
"""what servers on a host over SSH need in addition"""


def weigh(
    runtimes: Sequence[str],
    seconds: float,
    rounds: int,
    *,
    database: DatabaseName = USUAL,
    in_flight: Sequence[int] = (1,),
    row_bytes: int = 1000,
    service_us: float = 0.0,
    told: Callable[[str, int], Sequence[str]] = lambda way, number: (),
    operation: Operation = "request",
    to_host: bool = False,
    on: WeighedHost | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Weighed:
    """Drive native and the ways of these runtimes for a given time in all.

    Args:
        database: whose protocol servers and clients speak.
        in_flight: operations at once, from few to many; each way is weighed with each number.
        service_us: how long a server takes for an operation, one after the other, without using
            its CPU; 0: it answers at once.
        operation: what is driven. Connections are opened one at a time, further kilobytes belong
            to one operation, and a server works for one at a time: then `in_flight` is 1.
        told: further options of a server's program, by the name of a way to it and the number of
            the round from 0: a known price, for tests.
        to_host: clients in containers reach a native server, too.
        on: the host over SSH that servers run on; None: this machine.
        say: told what is under way.

    Raises:
        UsageError: the time does not hold the rounds, or a runtime cannot be weighed.
        LabBusyError: a run holds this machine.
        RuntimeUnavailableError: a program is missing, or a control group cannot be made; the host
            cannot be used.
        QuietError: a server or a client failed, or the host was lost.
    """
    refuse_unweighable(runtimes, weighed_hosts.RUNTIMES if on else RUNTIMES)
    if not (math.isfinite(seconds) and math.isfinite(service_us)):
        raise UsageError(
            "a time to weigh is no number",
            why=f"--seconds {seconds:g}, --service-us {service_us:g}",
            remedy="give seconds and microseconds as plain numbers",
        )
    all_s = max(in_flight) * service_us / 1e6
    slice_s = min(max(_SHORT_SLICE_S, _ANSWERED_IN_TURN * all_s), USUAL_SLICE_S)
    drain_s = drain_of(all_s)
    load: dict[str, object] = {"threads": 1, "warmup": f"{slice_s * 1000:.0f}ms"}
    options = ["--protocol", declared(database).protocol]
    options += ["--value-bytes", str(max(row_bytes // FIELDS, 1)), *_serving(service_us)]
    larger = row_bytes + FURTHER_BYTES if operation == "kilobyte" else 0
    options += server_options(operation, larger)
    setup = quiet_setup(load, slice_s, database, ())
    plan = _Plan(setup, slice_s, drain_s, operation, options, told, _HOST_S if on else 0.0)
    every = weighed_hosts.places if on else partial(places, to_host=to_host)
    plan.passes(runtimes, variants(operation, runtimes, in_flight, placed=every), seconds / rounds)
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        idle_cpus = stack.enter_context(alone(RUN, say))
        servers = (
            HostServers(stack, on, runtimes, say)
            if on
            else WeighedServers(stack, runtimes, say, to_host=to_host)
        )
        plan = replace(plan, setup=quiet_setup(load, slice_s, database, servers.cpus))
        left_out = dict(servers.left_out)
        ways = variants(operation, servers.runtimes, in_flight, [*left_out], servers.placed)
        passes = plan.passes(servers.runtimes, ways, seconds / rounds)
        done: list[RoundSlices] = []
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}: {len(ways)} ways, {passes} times")
            measured, had, missing = plan.measure(servers, ways, number, passes)
            if done and had != ways:
                raise QuietError(
                    "a way was there in one round and not in another", why=str(missing)
                )
            done.append(measured)
            ways, left_out = had, left_out | missing
        return Weighed(
            ways=ways,
            rounds=done,
            seconds=time.monotonic() - begun,
            slice_s=slice_s,
            operation=operation,
            row_bytes=row_bytes,
            larger_row_bytes=larger,
            working_kib=WORKING_KIB if operation == "working" else 0,
            service_us=service_us,
            pinned=bool(servers.cpus),
            idle_cpus=idle_cpus,
            left_out=left_out,
            database=database,
            machine=servers.machine,
            on_host=servers.on_host,
        )


def _serving(service_us: float) -> list[str]:
    return ["--service", f"constant:{service_us:g}us", "--servers", "1"] if service_us else []


@dataclass(frozen=True)
class _Plan:
    """What every round does.

    Attributes:
        operation: what is driven.
        options: of every server's program; told: further ones, as in `weigh`.
        further_start_s: what a host over SSH adds to `_START_S` of a round.
    """

    setup: Setup
    slice_s: float
    drain_s: float
    operation: Operation
    options: Sequence[str]
    told: Callable[[str, int], Sequence[str]]
    further_start_s: float = 0.0

    def passes(self, runtimes: Sequence[str], ways: Sequence[WeighedWay], round_s: float) -> int:
        """How many passes over all ways a round of this length holds.

        Raises:
            UsageError: too few.
        """
        orchestrated = sum(one in ORCHESTRATORS for one in runtimes)
        start_s = _START_S + _ORCHESTRATED_S * orchestrated + self.further_start_s
        left = round_s - start_s - launch_seconds([way.in_flight for way in ways])

        def lasts(passes: int) -> float:
            return block_seconds([shares(ways, self.operation)], self._cut(passes))

        passes = 0
        while lasts(passes + 1) <= left:
            passes += 1
        if passes < LEAST_PASSES:
            least = round_s - left + lasts(LEAST_PASSES)
            raise UsageError(
                f"a round of {round_s:.0f} s is too short",
                why=f"{LEAST_PASSES} passes over {len(ways)} ways take {least:.0f} s",
                remedy="more --seconds, or fewer --rounds",
            )
        return passes

    def measure(
        self,
        servers: WeighedServers | HostServers,
        ways: Sequence[WeighedWay],
        number: int,
        passes: int,
    ) -> tuple[RoundSlices, list[WeighedWay], dict[str, str]]:
        """One round with its own servers.

        Besides it, returns its ways with the paths that were seen, and the ways that are not
        available here, with the reason.
        """
        with contextlib.ExitStack() as stack:
            native, own = servers.of_round(stack, self.options, lambda way: self.told(way, number))
            aside = Path(stack.enter_context(scratch.directory("weigh-pace")))
            quiet = QuietServers(
                stack,
                native,
                self.setup,
                "tare weigh",
                freezes=False,
                # the pace of a host's CPUs is not sampled
                pace=None if servers.read else lambda: _pace_of(servers.cpus, aside),
                calls=True,
                host=servers.read,
            )
            asked = [driven(way, self.operation, several=own[way.server].several) for way in ways]
            outcome = quiet.drive(own, asked, lambda had: self._schedule(number, passes, had))
            had = [way for place, way in enumerate(ways) if place not in outcome.missing]
            seen = [replace(way, path=path) for way, path in zip(had, outcome.paths, strict=True)]
            missing = {ways[place].name: why for place, why in outcome.missing.items()}
            return _round(outcome, counted=self.operation == "connection"), seen, missing

    def _schedule(self, number: int, passes: int, ways: Sequence[DrivenWay]) -> Schedule:
        # servers may be driven unequally often: nothing compiles here, so age costs nothing
        return make_schedule(
            [f"way{place + 1}" for place in range(len(ways))],
            self._cut(passes),
            seed=number,
            deployments=["all"] * len(ways),
            shares=shares(ways, self.operation),
        )

    def _cut(self, passes: int) -> Cut:
        measured_s = passes * self.slice_s
        return Cut(self.slice_s, measured_s, self.slice_s, self.drain_s, True, SETTLE_S)


def _pace_of(cpus: Sequence[int], aside: Path) -> Pace:
    return Pace(RUN, cpus or os.sched_getaffinity(0), aside)


def _round(outcome: DriveOutcome, *, counted: bool) -> RoundSlices:
    """One round; if a slice has a counted number of operations, rows have the time of these."""
    rows = outcome.rows
    if counted:
        rows = [
            [
                row._replace(seconds=took, per_s=row.ops / took if took else 0.0)
                for row, took in zip(own, waited, strict=True)
            ]
            for own, waited in zip(rows, outcome.waited_s, strict=True)
        ]
    sums = [summed(outcome.driven, way) for way in range(len(outcome.operations))]
    slices = [len(own) for own in outcome.operations]
    unowned = [{UNOWNED: outcome.unowned_s(way)} if outcome.on_host else {}
               for way in range(len(sums))]  # fmt: skip
    return RoundSlices(
        rows=rows,
        order=outcome.order,
        parts_s=[
            _parts_of(one, number) | own
            for one, number, own in zip(sums, slices, unowned, strict=True)
        ],
        counts=[
            {**one.counts, **({UNOWNED_US: US * own[UNOWNED]} if own else {})}
            for one, own in zip(sums, unowned, strict=True)
        ],
        calls=[per_operation(one) for one in outcome.calls],
        why_no_calls=next((one for one in outcome.calls if isinstance(one, str)), ""),
        late=outcome.late,
        steal=outcome.steal,
        other_cores=outcome.other_cores,
        frozen=outcome.frozen,
        # a slice that has had all its operations answers nothing more
        gap_s=0.0 if counted else outcome.gap_s,
    )


def _parts_of(sums: Summed, slices: int) -> dict[str, float]:
    """CPU time by part, without that of engine and kernel in as many empty slices."""
    return {
        **sums.units,
        "engine": sums.engine_s - slices * sums.idle_engine_s,
        "kernel": sums.kernel_s - slices * sums.idle_kernel_s,
        "softirq": sums.modes_s["softirq"] - slices * sums.idle_softirq_s,
    }
