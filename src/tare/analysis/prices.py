"""From the slices of a weighing to prices: CPU time and time of a round trip on each way.

Within a round, ratios between ways are fitted as those of a study's conditions are
(tare.analysis.slices), and the geometric mean over the ways stays that of the sums, so that
microseconds are as counted. Intervals are Student's t over the rounds: servers, clients and
containers are new in each. Native is the mean of both native servers; the second is also compared
with the first alone, where nothing is to be found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.slices import COSTS, arrange, fitted
from tare.errors import LoadError
from tare.records.prices import Interval, Price, Weighing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.analysis.slices import Row
    from tare.records.noise import Machine

US = 1e6
NATIVES = 2
"""The first ways: native, and native again."""
PARTS = ("server", "client", "engine", "kernel", "softirq")


@dataclass(frozen=True)
class WeighedWay:
    """One way: its name, where its server runs, how it is reached, and by what packets pass.

    Attributes:
        server: place among the servers of a round.
    """

    name: str
    runtime: str
    endpoint: str
    server: int
    path: str = ""


@dataclass(frozen=True)
class Round:
    """One round's slices.

    Attributes:
        rows: way to its measured slices, in their order.
        order: (place among its way's, way) of every measured slice, as driven.
        parts_s: way to the CPU seconds of each of `PARTS`, over its measured slices.
        late: slices that began or ended too late.
        steal: share of the machine's CPU time that a hypervisor took.
        other_cores: CPU time of other programs, in cores.
        frozen: servers stood still between their slices.
    """

    rows: list[list[Row]]
    order: list[tuple[int, int]]
    parts_s: list[dict[str, float]]
    late: int
    steal: float
    other_cores: float
    frozen: bool


@dataclass(frozen=True)
class Weighed:
    """What all rounds measured; the other attributes are those of the document `Weighing`."""

    ways: list[WeighedWay]
    rounds: list[Round]
    seconds: float
    slices: int
    slice_s: float
    in_flight: int
    row_bytes: int
    service_us: float
    pinned: bool
    idle_cpus: str
    left_out: dict[str, str]


def prices(weighed: Weighed, machine: Machine) -> Weighing:
    """The prices of a weighing.

    Raises:
        LoadError: a slice had no operation at all.
    """
    servers = [way.server for way in weighed.ways]
    demand = _table(weighed.rounds, servers, "service_demand", _demand)
    rates = _table(weighed.rounds, servers, "throughput", _operations_per_slice)
    trips = weighed.in_flight * weighed.slice_s / rates * US
    parts = {part: _parts(weighed.rounds, part) for part in PARTS}
    found = []
    for number, way in enumerate(weighed.ways):
        first = number == 0
        found.append(
            Price(
                way=way.name,
                runtime=way.runtime,
                endpoint=way.endpoint,
                path=way.path,
                demand=interval(demand[:, number] * US),
                added=None if first else interval(_added(demand, number) * US),
                parts={}
                if first
                else {part: interval(_added(one, number) * US) for part, one in parts.items()},
                round_trip=interval(trips[:, number]),
                round_trip_added=None if first else interval(_added(trips, number)),
            )
        )
    rounds = weighed.rounds
    return Weighing(
        made=datetime.now(UTC),
        machine=machine,
        seconds=weighed.seconds,
        rounds=len(rounds),
        slices=weighed.slices,
        slice_s=weighed.slice_s,
        in_flight=weighed.in_flight,
        row_bytes=weighed.row_bytes,
        service_us=weighed.service_us,
        pinned=weighed.pinned,
        frozen=all(one.frozen for one in rounds),
        idle_cpus=weighed.idle_cpus,
        late=sum(one.late for one in rounds),
        steal=float(np.mean([one.steal for one in rounds])),
        other_cores=float(np.mean([one.other_cores for one in rounds])),
        left_out=weighed.left_out,
        prices=found,
    )


def interval(values: np.ndarray) -> Interval:
    """The mean of independent values with its 95% interval, Student's t; at least two values."""
    mean = float(values.mean())
    reach = float(special.stdtrit(len(values) - 1, 0.975))
    half = reach * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(value=mean, low=mean - half, high=mean + half)


def _added(table: np.ndarray, way: int) -> np.ndarray:
    """A way over native, round by round; native again over native."""
    native = table[:, 0] if way < NATIVES else table[:, :NATIVES].mean(axis=1)
    return np.asarray(table[:, way] - native)


def _table(
    rounds: Sequence[Round],
    servers: Sequence[int],
    metric: str,
    total: Callable[[Sequence[Row]], float],
) -> np.ndarray:
    """Rounds by ways: what each costs.

    Args:
        total: of all slices of a way together.
    """
    return np.array([_fitted(one, servers, metric, total) for one in rounds])


def _fitted(
    one: Round, servers: Sequence[int], metric: str, total: Callable[[Sequence[Row]], float]
) -> np.ndarray:
    costs = np.array([COSTS[metric](one.rows[way][place]) for place, way in one.order])
    if not np.all(np.isfinite(costs)) or not np.all(costs > 0):
        raise LoadError(
            "a slice tells nothing",
            why=f"no operation in it, or drowned in other work ({one.other_cores:.1f} cores of it)",
            remedy="stop what else runs here, then `tare weigh` again",
        )
    observed = arrange(np.log(costs), [way for _, way in one.order], servers)
    return fitted(observed, [total(rows) for rows in one.rows])


def _demand(rows: Sequence[Row]) -> float:
    return sum(row.demand_s for row in rows) / sum(row.ops for row in rows)


def _operations_per_slice(rows: Sequence[Row]) -> float:
    return sum(row.ops for row in rows) / len(rows)


def _parts(rounds: Sequence[Round], part: str) -> np.ndarray:
    """Rounds by ways: seconds of one part per operation, by their sums."""
    return np.array(
        [
            [
                used[part] / sum(row.ops for row in rows)
                for used, rows in zip(one.parts_s, one.rows, strict=True)
            ]
            for one in rounds
        ]
    )
