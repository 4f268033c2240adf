"""From the turns of single operations to prices: the cost of each, and what a platform adds.

A round's value is the mean over its turns. The addition of a platform is computed within the round,
in which turns of one piece follow each other in a fraction of a second. Intervals are Student's t
over the rounds: processes and containers are new in each. Native is the mean of both native
processes. The second is also compared with the first alone, where no difference should be found.

A machine that stands still for a moment spoils turns. A platform's price of a piece is then of the
rounds in which native and the platform have turns that count, at least three and more than half. An
operation that fails in all turns of a round has no price.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from tare.analysis.prices import AGAIN, interval
from tare.analysis.tariff import NATIVE
from tare.records.part_prices import Cost, FileSystem, PartPrice, PartWeighing, WeighedPart

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from tare.records.kept_measurements import MeasuredMachine
    from tare.records.prices import Interval

PASSES = 2
"""Turns of each piece and unit in a round. The second pass goes through the units in reverse, so
that a steady drift is in none of the differences."""
LATE_S = 0.005
"""How late a turn may begin."""
LEAST_ROUNDS = 3
"""Rounds that a price needs, besides more than half of all."""
Shown = Literal["cpu", "wall", "both"]


@dataclass(frozen=True)
class Piece:
    """One kind of operation: as tare-micro measures it, or the start of a unit.

    Attributes:
        title: what one operation is.
        shown: the cost shown for a database: CPU time, time that passes, or both.
    """

    name: str
    what: WeighedPart
    title: str
    shown: Shown = "cpu"


PIECES = (
    Piece("futex_wake", "system", "futex wake, nobody waits"),
    Piece("futex_wait", "system", "futex wait, value has changed"),
    Piece("epoll_wait", "system", "epoll wait, one is ready"),
    Piece("read", "system", "read 64 B from a socket"),
    Piece("write", "system", "write 64 B to a socket"),
    Piece("sendmsg", "system", "sendmsg 64 B to a socket"),
    Piece("switch", "system", "hand over to a thread"),
    Piece("fault_4k", "system", "page fault, 4 KiB"),
    Piece("fault_2m", "system", "page fault, 2 MiB"),
    Piece("thread", "system", "start and join a thread"),
    Piece("append", "storage", "append 4 KiB, fdatasync", "both"),
    Piece("flush", "storage", "write 8 MiB, fdatasync", "both"),
    Piece("read_warm", "storage", "read 4 KiB, page cache"),
    Piece("scan_warm", "storage", "next 64 KiB, page cache"),
    Piece("read_cold", "storage", "read 4 KiB, disk", "both"),
    Piece("scan_cold", "storage", "next 64 KiB, disk", "both"),
    Piece("create", "storage", "create a file"),
    Piece("dependent", "machine", "step of one chain"),
    Piece("independent", "machine", "step of eight chains"),
    Piece("memory_latency", "machine", "load, 32 MiB at random"),
    Piece("memory_read", "machine", "read 1 MiB of 64"),
    Piece("clock", "machine", "clock_gettime"),
    Piece("timer", "machine", "timer, by how much late", "wall"),
    Piece("resolve", "name", "resolve a name", "both"),
    Piece("start", "start", "start, to the first answer", "wall"),
)


@dataclass(frozen=True)
class WeighedUnit:
    """One process that is measured: its name, how it runs, and where its files are.

    Attributes:
        storage: kind of its files.
        pieces: names of the pieces that it measures.
        network: as a study names it.
        resolver: the place of the name that it resolves.
    """

    name: str
    runtime: str
    storage: str
    pieces: tuple[str, ...]
    network: str = "host"
    resolver: Literal["hosts", "dns"] = "hosts"

    def platform(self, what: WeighedPart) -> str:
        """Its name beside a price: a container's files, network and resolver matter to some pieces
        alone."""
        whole = what in ("storage", "name", "start") or self.runtime == NATIVE
        return self.name if whole else self.runtime


@dataclass(frozen=True)
class Turn:
    """One piece in one turn of a unit. Times are Unix seconds.

    Attributes:
        at: when it was to begin.
        cpu_ns, wall_ns: of one operation.
        engine_cores: CPU time of the container engine meanwhile, in cores, if it does part of the
            operation.
        error: why it measured nothing.
    """

    piece: str
    unit: str
    at: float
    began: float
    ended: float
    cpu_ns: float = 0.0
    wall_ns: float = 0.0
    engine_cores: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class PartRound:
    """One round.

    Attributes:
        turns: all, in any order.
        missing: unit to the pieces that it cannot measure, with the reason.
        file_systems: of each unit's files.
        steal: share of the machine's CPU time that a hypervisor took.
        other_cores: CPU time of other programs, in cores.
    """

    turns: Sequence[Turn]
    missing: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)
    steal: float = 0.0
    other_cores: float = 0.0


@dataclass(frozen=True)
class PartsWeighed:
    """What all rounds measured; the other attributes are those of the document `PartWeighing`."""

    units: Sequence[WeighedUnit]
    rounds: Sequence[PartRound]
    seconds: float
    passes: int
    cpu: int
    idle_cpus: str
    left_out: Mapping[str, str]


class _Means(NamedTuple):
    """CPU time and time that passes of one operation, nanoseconds."""

    cpu_ns: float
    wall_ns: float


_Values: TypeAlias = "defaultdict[tuple[str, str], dict[int, _Means]]"
"""(Piece, unit) to the means of each round, by its number, that has turns that count."""


def part_prices(weighed: PartsWeighed, machine: MeasuredMachine) -> PartWeighing:
    """The prices of all pieces that were measured in enough rounds."""
    left_out = dict(weighed.left_out)
    found: list[PartPrice] = []
    late = 0
    values: _Values = defaultdict(dict)
    for number, one in enumerate(weighed.rounds):
        good = list(_undisturbed(one.turns))
        late += sum(not turn.error for turn in one.turns) - len(good)
        for key, mean in _means(good).items():
            values[key][number] = mean
    for piece in PIECES:
        found += _of_piece(piece, weighed, values, left_out)
    rounds = weighed.rounds
    return PartWeighing(
        made=datetime.now(UTC),
        machine=machine,
        seconds=weighed.seconds,
        rounds=len(rounds),
        passes=weighed.passes,
        cpu=weighed.cpu,
        idle_cpus=weighed.idle_cpus,
        turns=sum(len(one.turns) for one in rounds),
        late=late,
        steal=float(np.mean([one.steal for one in rounds])),
        other_cores=float(np.mean([one.other_cores for one in rounds])),
        file_systems=dict(rounds[0].file_systems),
        left_out=left_out,
        prices=found,
    )


def apart(found: PartWeighing) -> list[PartPrice]:
    """Prices at which native again differs from native, in the time that a piece is shown with.
    One of twenty pieces does so by chance."""
    return [
        one
        for one in found.prices
        if one.platform == AGAIN
        and any(not cost.low <= 0 <= cost.high for cost in _shown_added(one))
    ]


def shown_of(piece: str) -> Shown:
    """The cost that is shown for this piece."""
    return next(one.shown for one in PIECES if one.name == piece)


def _shown_added(price: PartPrice) -> Iterator[Interval]:
    shown = shown_of(price.piece)
    for name, cost in (("cpu", price.cpu), ("wall", price.wall)):
        if shown in (name, "both") and cost.added is not None:
            yield cost.added


def _undisturbed(turns: Sequence[Turn]) -> Iterator[Turn]:
    """The turns that measured something, began in time and did not overlap with another turn."""
    ordered = sorted(turns, key=lambda turn: turn.at)
    others_end = 0.0
    for place, turn in enumerate(ordered):
        next_at = ordered[place + 1].at if place + 1 < len(ordered) else math.inf
        overlaps = others_end > turn.began or turn.ended > next_at
        others_end = max(others_end, turn.ended)
        if turn.began - turn.at <= LATE_S and not (overlaps or turn.error):
            yield turn


def _means(turns: Sequence[Turn]) -> dict[tuple[str, str], _Means]:
    """(Piece, unit) to the means over a round's turns."""
    values: dict[tuple[str, str], list[_Means]] = defaultdict(list)
    for turn in turns:
        # operations follow each other, so that the engine's time passes within theirs
        used_ns = turn.cpu_ns + turn.engine_cores * turn.wall_ns
        values[turn.piece, turn.unit].append(_Means(used_ns, turn.wall_ns))
    return {key: _Means(*np.mean(own, axis=0).tolist()) for key, own in values.items()}


def _of_piece(
    piece: Piece, weighed: PartsWeighed, values: _Values, left_out: dict[str, str]
) -> Iterator[PartPrice]:
    """A piece's price on each platform; pieces without a price are added to `left_out`."""
    asked = [unit for unit in weighed.units if piece.name in unit.pieces]
    own = {unit.name: values[piece.name, unit.name] for unit in asked}
    native = own.get(NATIVE, {}).keys() & own.get(AGAIN, {}).keys()
    shared = {unit: sorted(native & own[unit.name].keys()) for unit in asked}
    least = max(LEAST_ROUNDS, len(weighed.rounds) // 2 + 1)
    failures = {unit: _failure(piece, unit, weighed.rounds, own[unit.name]) for unit in asked}
    lacking = {
        unit: failures[unit] or _lateness(piece, unit, weighed.rounds)
        for unit, common in shared.items()
        if failures[unit] or len(common) < least
    }
    if natives := [unit for unit in lacking if unit.name in (NATIVE, AGAIN)]:
        first = min(natives, key=lambda unit: (not failures[unit], len(own[unit.name])))
        left_out[piece.title] = lacking[first]
        return
    for unit, common in shared.items():
        if unit in lacking:
            left_out[f"{piece.title}, {unit.platform(piece.what)}"] = lacking[unit]
            continue
        tables = {
            name: np.array([own[name][number] for number in common])
            for name in (NATIVE, AGAIN, unit.name)
        }
        yield PartPrice(
            what=piece.what,
            piece=piece.name,
            title=piece.title,
            platform=unit.platform(piece.what),
            runtime=unit.runtime,
            storage=unit.storage if piece.what == "storage" else "",
            rounds=len(common),
            cpu=_cost({name: table[:, 0] for name, table in tables.items()}, unit.name),
            wall=_cost({name: table[:, 1] for name, table in tables.items()}, unit.name),
        )


def _cost(table: Mapping[str, np.ndarray], unit: str) -> Cost:
    """The cost on one unit.

    Args:
        table: of native, native again and this unit: values of the same rounds.
    """
    own = table[unit]
    if unit == NATIVE:
        return Cost(ns=interval(own), added=None, percent=None)
    native = table[NATIVE] if unit == AGAIN else (table[NATIVE] + table[AGAIN]) / 2
    added = own - native
    return Cost(ns=interval(own), added=interval(added), percent=interval(100 * added / native))


def _failure(
    piece: Piece, unit: WeighedUnit, rounds: Sequence[PartRound], had: Container[int]
) -> str:
    """Why a unit failed in the rounds that it lacks, the most frequent reason; empty: it did not.

    Args:
        had: numbers of the rounds with a value.
    """
    reasons: Counter[str] = Counter()
    for number, one in enumerate(rounds):
        if number not in had:
            reasons[one.missing.get(unit.name, {}).get(piece.name, "")] += 1
            reasons.update(turn.error for turn in _turns(piece, unit, one))
    del reasons[""]
    return reasons.most_common(1)[0][0] if reasons else ""


def _lateness(piece: Piece, unit: WeighedUnit, rounds: Sequence[PartRound]) -> str:
    """Why a unit that did not fail has too few rounds."""
    turns = [turn for one in rounds for turn in _turns(piece, unit, one)]
    if not turns:
        return "it was not measured"
    longest = max(turn.ended - turn.began for turn in turns) * 1000
    return (
        "in too many rounds its turns, or those it is compared with, were late or too long "
        f"(its longest took {longest:.0f} ms)"
    )


def _turns(piece: Piece, unit: WeighedUnit, one: PartRound) -> Iterator[Turn]:
    return (turn for turn in one.turns if (turn.piece, turn.unit) == (piece.name, unit.name))
