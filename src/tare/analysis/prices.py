"""From the slices of a weighing to prices: CPU time and time of a round trip on each way.

Within a round, ratios between ways are fitted as those of a study's conditions are
(tare.analysis.slices). The geometric mean over the ways stays that of the sums, so that
microseconds are as counted. Intervals are Student's t over the rounds: servers, clients and
containers are new in each. Rounds that agree by chance would make an interval too narrow, so it is
never narrower than the noise of the slices alone makes it.

Native is the mean of both native servers. Ways to servers that work are compared with the loopback
device of their own server instead. The second is also compared with the first alone, where
no difference should be found. With more operations in flight one packet and one wake-up serve
several, so each number in flight has prices of its own, with the counts beside them. A further
kilobyte costs, in each round, what larger answers cost more than smaller ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.slices import COSTS, LEAST_USABLE, arrange, fitted, fitted_slices, only, terms_of
from tare.analysis.tariff import NATIVE, PARTS
from tare.databases.registry import USUAL
from tare.errors import LoadError
from tare.records.kept_measurements import stood_still
from tare.records.prices import Interval, Price, Weighing
from tare.study.platform import OWN_LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tare.analysis.slices import SliceRow
    from tare.databases.names import DatabaseName
    from tare.records.kept_measurements import MeasuredMachine
    from tare.records.prices import Operation, ServersHost

US = 1e6
AGAIN = f"{NATIVE} again"
"""The way after native's, on an identical server."""
UNOWNED, UNOWNED_US = "unowned", "unowned_us"
"""Among the parts, and in microseconds among the counts, for servers on a host over SSH: CPU time
outside every process's time, which service demand therefore lacks."""


@dataclass(frozen=True)
class WeighedWay:
    """One way: its name, where its server runs, how it is reached, and the way of its packets.

    Attributes:
        server: place among the servers of a round.
        in_flight: operations of its client at once.
        tls: the way of connections, with TLS.
        larger: the way of kilobytes, with the larger answers; these ways follow the others, in the
            same order.
    """

    name: str
    runtime: str
    endpoint: str
    server: int
    path: str = ""
    in_flight: int = 1
    tls: bool = False
    larger: bool = False


@dataclass(frozen=True)
class RoundSlices:
    """One round's slices.

    Attributes:
        rows: way to its measured slices, in their order.
        order: (place among its way's slices, way) of every measured slice, as driven.
        parts_s: way to the CPU seconds of each of `PARTS`, and of `UNOWNED` where servers ran on a
            host, over its measured slices.
        counts: way to what the kernel counted meanwhile (tare.monitor.meter).
        calls: way to its system calls per operation (tare.monitor.calls); empty: not counted.
        why_no_calls: the reason, from the first way without counts.
        late: slices that began or ended too late.
        steal: share of the machine's CPU time that a hypervisor took.
        other_cores: CPU time of other programs, in cores.
        frozen: servers stood still between their slices.
        gap_s: longest time in which a driven server answered nothing.
        switches: the other server that the slice before drove, for every slice in `order`, as in
            tare.analysis.slices.SliceArrays; empty: by `order` itself.
    """

    rows: list[list[SliceRow]]
    order: list[tuple[int, int]]
    parts_s: list[dict[str, float]]
    counts: list[dict[str, float]]
    late: int
    steal: float
    other_cores: float
    frozen: bool
    gap_s: float = 0.0
    switches: Sequence[int] = ()
    calls: Sequence[Mapping[str, float]] = ()
    why_no_calls: str = ""


@dataclass(frozen=True)
class Weighed:
    """What all rounds measured; the other attributes are those of the document `Weighing`.

    Attributes:
        machine: the host over SSH that servers ran on; None: they ran on this machine.
    """

    ways: list[WeighedWay]
    rounds: list[RoundSlices]
    seconds: float
    slice_s: float
    row_bytes: int
    service_us: float
    pinned: bool
    idle_cpus: str
    left_out: dict[str, str]
    operation: Operation = "request"
    database: DatabaseName = USUAL
    larger_row_bytes: int = 0
    working_kib: int = 0
    machine: MeasuredMachine | None = None
    on_host: ServersHost | None = None


def prices(weighed: Weighed, machine: MeasuredMachine) -> Weighing:
    """The prices of a weighing.

    Raises:
        LoadError: a slice had no operation at all.
    """
    rounds = weighed.rounds
    return Weighing(
        made=datetime.now(UTC),
        machine=machine,
        seconds=weighed.seconds,
        rounds=len(rounds),
        slice_s=weighed.slice_s,
        operation=weighed.operation,
        row_bytes=weighed.row_bytes,
        larger_row_bytes=weighed.larger_row_bytes,
        working_kib=weighed.working_kib,
        service_us=weighed.service_us,
        pinned=weighed.pinned,
        frozen=all(one.frozen for one in rounds),
        idle_cpus=weighed.idle_cpus,
        late=sum(one.late for one in rounds),
        steal=float(np.mean([one.steal for one in rounds])),
        other_cores=float(np.mean([one.other_cores for one in rounds])),
        gap_s=max(one.gap_s for one in rounds),
        paced=_paced(rounds),
        why_no_calls=next((one.why_no_calls for one in rounds if one.why_no_calls), ""),
        on_host=weighed.on_host,
        left_out=weighed.left_out,
        database=weighed.database,
        prices=[price for places in _together(weighed) for price in _of(weighed, places)],
    )


@dataclass(frozen=True)
class _Tables:
    """Measurements per operation; each table has rounds by ways.

    Attributes:
        demand, trips: microseconds, with the standard errors that the noise of slices leaves.
        pace: percent.
        parts: CPU seconds, by owner.
        counts: per operation, by name; nan where it was not counted.
    """

    demand: np.ndarray
    trips: np.ndarray
    demand_errors: np.ndarray
    trips_errors: np.ndarray
    pace: np.ndarray
    parts: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]

    def each_further(self, kilobytes: float) -> _Tables:
        """The difference per kilobyte, from ways with smaller answers and then the same ways with
        larger ones."""

        def difference(table: np.ndarray) -> np.ndarray:
            smaller, larger = np.split(table, 2, axis=1)
            each: np.ndarray = (larger - smaller) / kilobytes
            return each

        def errors(table: np.ndarray) -> np.ndarray:
            smaller, larger = np.split(table, 2, axis=1)
            each: np.ndarray = np.hypot(larger, smaller) / kilobytes
            return each

        return _Tables(
            demand=difference(self.demand),
            trips=difference(self.trips),
            demand_errors=errors(self.demand_errors),
            trips_errors=errors(self.trips_errors),
            pace=np.mean(np.split(self.pace, 2, axis=1), axis=0),
            parts={name: difference(table) for name, table in self.parts.items()},
            counts={name: difference(table) for name, table in self.counts.items()},
        )


def _paced(rounds: Sequence[RoundSlices]) -> bool:
    """Whether the pace of the CPUs is known of nearly all slices."""
    known = [row.pace is not None for one in rounds for own in one.rows for row in own]
    return sum(known) >= LEAST_USABLE * len(known)


def _together(weighed: Weighed) -> list[list[int]]:
    """Places of the ways that are fitted together: those with as many operations in flight, with
    or without TLS. Ways to servers that work are all fitted together, as native with two in flight
    is compared with native with one."""
    if weighed.operation == "working":
        return [list(range(len(weighed.ways)))]
    levels = [(way.in_flight, way.tls) for way in weighed.ways]
    return [
        [place for place, other in enumerate(levels) if other == level]
        for level in sorted({*levels})
    ]


def _of(weighed: Weighed, places: Sequence[int]) -> list[Price]:
    """The prices of these ways, which are compared with one another alone."""
    ways = [weighed.ways[place] for place in places]
    tables = _tables(weighed, places)
    if weighed.operation == "kilobyte":
        ways = [way for way in ways if not way.larger]
        tables = tables.each_further((weighed.larger_row_bytes - weighed.row_bytes) / 1000)
    others = [_places_of_others(ways, number, weighed.operation) for number in range(len(ways))]

    def compared(table: np.ndarray, number: int) -> np.ndarray:
        """Per round, the value that a way is compared with."""
        found: np.ndarray = table[:, others[number]].mean(axis=1)
        return found

    def slice_noise(errors: np.ndarray, number: int) -> np.ndarray:
        """The standard error that slice noise leaves such a difference in each round."""
        own = errors[:, others[number]] / len(others[number])
        found: np.ndarray = np.hypot(errors[:, number], np.sqrt(np.square(own).sum(axis=1)))
        return found

    def over(table: np.ndarray, number: int, errors: np.ndarray | None = None) -> Interval | None:
        """Round by round; of native itself nothing."""
        noise = None if errors is None else slice_noise(errors, number)
        return interval(table[:, number] - compared(table, number), noise) if number else None

    def percent(table: np.ndarray, number: int, errors: np.ndarray) -> Interval | None:
        """Likewise, as a share of the other's."""
        own = compared(table, number)
        noise = slice_noise(errors, number) / own
        return interval(100 * (table[:, number] / own - 1), 100 * noise) if number else None

    return [
        Price(
            way=way.name,
            in_flight=way.in_flight,
            tls=way.tls,
            runtime=way.runtime,
            endpoint=way.endpoint,
            path=way.path,
            slices=min(len(one.rows[place]) for one in weighed.rounds),
            demand=interval(tables.demand[:, number]),
            over=_named(ways, others[number]),
            added=over(tables.demand, number, tables.demand_errors),
            percent=percent(tables.demand, number, tables.demand_errors),
            parts={
                part: found
                for part, table in tables.parts.items()
                if (found := over(table * US, number)) is not None
            },
            counts={
                name: interval(table[:, number])
                for name, table in tables.counts.items()
                if np.all(np.isfinite(table[:, number]))
            },
            round_trip=interval(tables.trips[:, number]),
            round_trip_added=over(tables.trips, number, tables.trips_errors),
            pace=over(tables.pace, number) if np.all(np.isfinite(tables.pace)) else None,
        )
        for number, (place, way) in enumerate(zip(places, ways, strict=False))
    ]


def _places_of_others(ways: Sequence[WeighedWay], number: int, operation: Operation) -> list[int]:
    """Places of the ways whose mean a way is compared with: both natives, and native again with the
    first. Two servers that work cost unequally, by where their code and data lie in memory; so ways
    to one are compared with its own loopback device, where that is weighed, and native with more
    operations in flight with itself."""
    way = ways[number]
    if way.in_flight > ways[0].in_flight:
        return [0]
    if operation == "working" and way.endpoint != OWN_LOOPBACK:
        for place, other in enumerate(ways):
            if (other.server, other.endpoint) == (way.server, OWN_LOOPBACK):
                return [place]
    natives = [
        place
        for place, one in enumerate(ways)
        if one.runtime == NATIVE and one.in_flight == way.in_flight
    ]
    return natives if number not in natives else [0]


def _named(ways: Sequence[WeighedWay], places: Sequence[int]) -> str:
    """The way that others are compared with; empty: native."""
    (name,) = {"" if ways[place].runtime == NATIVE else ways[place].name for place in places}
    return name


def compared_with(price: Price) -> str:
    """The way that a price is over; empty: it is native's own."""
    if price.added is None:
        return ""
    return f"{NATIVE}, 1 in flight" if price.way == NATIVE else price.over or NATIVE


def _tables(weighed: Weighed, places: Sequence[int]) -> _Tables:
    """The measurements of these ways."""
    every = [way.server for way in weighed.ways]
    rounds = [_only(one, places, every) for one in weighed.rounds]
    ways = [weighed.ways[place] for place in places]
    servers = [way.server for way in ways]
    slice_s = weighed.slice_s
    rates, of_rates = _table(rounds, servers, "throughput", _rate_of(weighed), slice_s)
    demand, of_demand = _table(rounds, servers, "service_demand", _demand, slice_s)
    trips = np.array([way.in_flight for way in ways]) / rates * US
    return _Tables(
        demand=demand * US,
        trips=trips,
        demand_errors=of_demand * demand * US,
        trips_errors=of_rates * trips,
        pace=100 * np.array([[_pace(rows) for rows in one.rows] for one in rounds]),
        parts={part: _per_operation(rounds, [one.parts_s for one in rounds], part)
               for part in (*PARTS, UNOWNED) if part in rounds[0].parts_s[0]},
        counts={name: _per_operation(rounds, [one.counts for one in rounds], name)
                for name in _names([one.counts for one in rounds])}
             | {name: np.array([[own.get(name, math.nan) for own in one.calls] for one in rounds])
                for name in _names([one.calls for one in rounds])},
    )  # fmt: skip


def _names(rounds: Sequence[Sequence[Mapping[str, float]]]) -> list[str]:
    """The names of everything that was counted of any way in any round."""
    return sorted({name for one in rounds for own in one for name in own})


def _pace(rows: Sequence[SliceRow]) -> float:
    known = [row.pace for row in rows if row.pace is not None]
    return sum(known) / len(known) if known else math.nan


def _only(one: RoundSlices, places: Sequence[int], servers: Sequence[int]) -> RoundSlices:
    """These ways of a round, numbered from 0; the server driven before each slice stays.

    Args:
        servers: of all ways.
    """
    driven = [servers[way] for _, way in one.order]
    switches = [
        before + 1 if before != server else 0
        for before, server in zip([-1, *driven], driven, strict=False)
    ]
    kept = [place for place, (_, way) in enumerate(one.order) if way in places]
    return replace(
        one,
        rows=[one.rows[place] for place in places],
        order=[(one.order[place][0], places.index(one.order[place][1])) for place in kept],
        switches=[switches[place] for place in kept],
        parts_s=[one.parts_s[place] for place in places],
        counts=[one.counts[place] for place in places],
        calls=[one.calls[place] if one.calls else {} for place in places],
    )


def interval(values: np.ndarray, noise: np.ndarray | None = None) -> Interval:
    """The mean of independent values with its 95% interval, Student's t; at least two values.

    Args:
        noise: a standard error of each value that is known by itself. Whatever else the values
            differ by, their mean is no better known than this allows (1.96 standard errors).
    """
    mean = float(values.mean())
    reach = float(special.stdtrit(len(values) - 1, 0.975))
    half = reach * float(values.std(ddof=1)) / math.sqrt(len(values))
    if noise is not None:
        least = float(np.sqrt(np.square(noise).sum())) / len(values)
        half = max(half, float(special.ndtri(0.975)) * least)
    return Interval(value=mean, low=mean - half, high=mean + half)


def _table(
    rounds: Sequence[RoundSlices],
    servers: Sequence[int],
    metric: str,
    total: Callable[[Sequence[SliceRow]], float],
    slice_s: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Rounds by ways: the cost of each, and the standard error that slice noise leaves its
    logarithm.

    Args:
        total: of all slices of a way together.
    """
    found = [_fitted(one, servers, metric, total, slice_s) for one in rounds]
    return np.array([own for own, _ in found]), np.array([errors for _, errors in found])


def _fitted(
    one: RoundSlices,
    servers: Sequence[int],
    metric: str,
    total: Callable[[Sequence[SliceRow]], float],
    slice_s: float,
) -> tuple[np.ndarray, np.ndarray]:
    rows = [one.rows[way][place] for place, way in one.order]
    costs = np.array([COSTS[metric](row) for row in rows])
    ways = np.array([way for _, way in one.order])
    costed = np.isfinite(costs) & (costs > 0)
    observed = arrange(np.log(np.where(costed, costs, 1.0)), list(ways), servers)
    if one.switches:
        observed = observed._replace(switches=np.array(one.switches))
    chosen = fitted_slices(observed, costed, rows)
    # prices are made even if a server stood still for some slices, and are called invalid
    if chosen is None and stood_still(one.gap_s, slice_s):
        half = np.all(np.bincount(ways, costed) >= np.bincount(ways) / 2)
        chosen = only(observed, costed) if half else None
    if chosen is None:
        raise LoadError(
            "slices tell nothing",
            why="no operation in them, or drowned in other work "
            f"({one.other_cores:.1f} cores of it)",
            remedy="stop what else runs here, then `tare weigh` again",
        )
    terms = terms_of(chosen)
    errors = np.where(np.isfinite(terms.errors), terms.errors, 0.0)  # the others are unknown
    return fitted(terms, [total(rows) for rows in one.rows]), errors


def _demand(rows: Sequence[SliceRow]) -> float:
    return sum(row.demand_s for row in rows) / sum(row.ops for row in rows)


def _rate_of(weighed: Weighed) -> Callable[[Sequence[SliceRow]], float]:
    """Operations per second over slices together. A slice of connections has a fixed number of
    them: its rows have the time that these took."""

    def rate(rows: Sequence[SliceRow]) -> float:
        if weighed.operation == "connection":
            return sum(row.ops for row in rows) / sum(row.seconds for row in rows)
        return sum(row.per_s for row in rows) / len(rows)

    return rate


def _per_operation(
    rounds: Sequence[RoundSlices], sums: Sequence[Sequence[Mapping[str, float]]], name: str
) -> np.ndarray:
    """Rounds by ways: the sum under a name, per operation; nan where nothing was summed.

    Args:
        sums: round and way to the sum.
    """
    return np.array(
        [
            [
                own.get(name, math.nan) / sum(row.ops for row in rows)
                for own, rows in zip(ways, one.rows, strict=True)
            ]
            for ways, one in zip(sums, rounds, strict=True)
        ]
    )
