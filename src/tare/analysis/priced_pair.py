"""What prices predict for a pair of conditions, or for the mean of several pairs.

The kernel counts a trial's own packets. Then

    predicted = excess(treatment's way, its packets) - excess(baseline's way, its packets)
              + (how much less the treatment's answers are batched) x what a packet more costs
              + each side's packets x what its way costs more where they find cold caches (between
                nodes at both ends),

by `tare.analysis.tariff`. The way of a cluster's clients and the way between its nodes are each
paid for their own packets. Intervals add up in squares, with the fewest degrees of freedom of all
addends: Student's t over the weighing's rounds and over the run's deployments, which are
independent of each other. A packet's cost c errs with the same rounds as the excesses. So for a
difference of n packets, n times the error of c is added to all other errors as it is. In the line
n x c alone, n and c are independent, and the squares of its error are (c x error of n)^2 +
(n x error of c)^2 (the first order of a product).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.amounts import Amount, related, total
from tare.analysis.operation_lines import Operations, PricedLine, averaged, merged
from tare.analysis.tariff import NATIVE, PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tare.analysis.tariff import Point, Tariff

BATCHING = "how many answers share a packet"
BATCHED = "answers batched less or more"
COLD = "cold caches"
COLD_NOT_WEIGHED = (
    "known only where every way of the bill was weighed over the loopback device of a server that "
    "works (tare weigh --what working, with the study's platforms)"
)


class Paid(NamedTuple):
    """A way of one side of a bill, and its packets; None: the side is native and pays nothing.

    Attributes:
        nodes: the packets are between nodes, not clients'.
    """

    condition: str
    way: str
    packets: Amount | None
    nodes: bool = False


@dataclass(frozen=True)
class Predicted:
    """What prices say of one pair of conditions, or of the mean of several.

    Attributes:
        lines: services paid for, how often, and their microseconds.
        us: their sum.
        owners: who uses what the ways add, and the part of it spent in soft interrupts.
        unpriced: services without a line.
        far: a sentence for each side whose packets are far from the weighed ones.
        done: work beside the packets, which neither of these has before `mean`.
        left_out: cold caches, and work beside packets, without a line, and why.
    """

    lines: Sequence[PricedLine]
    us: Amount
    owners: Mapping[str, Amount]
    unpriced: Sequence[str]
    far: Sequence[str]
    done: Operations = field(default_factory=Operations)
    left_out: Mapping[str, str] = field(default_factory=dict)


def priced(
    tariff: Tariff, base: Sequence[Paid], treated: Sequence[Paid], unpriced: Sequence[str] = ()
) -> Predicted:
    """The prices of both sides' ways at their packets, and of batching where all are known.

    Args:
            unpriced: what has no price, beside batching.
    """
    batched = all(one.packets is not None for one in (*base, *treated))
    sides = [
        _Side(one, one.packets.value, sign, whose)
        for side, sign, whose in ((treated, 1, ""), (base, -1, "the baseline's "))
        for one in side
        if one.way != NATIVE and one.packets is not None
    ]
    packet, working = tariff.packet_us(), tariff.working_packet_us()
    in_all = packet if working is None else working
    less = _over(tariff, base, treated, _batching) if batched else tariff.nothing

    def due(point: Point) -> Amount:
        """The lines of a side in one: they rest on the same packets."""
        own = total([point.excess, point.cold])
        return total([own, _batching(point).times(in_all.value)]) if batched else own

    def used(owner: str) -> Callable[[Point], Amount]:
        return lambda point: point.owners[owner]

    return Predicted(
        [*_way_lines(tariff, sides), *(_batch_lines(packet, working, less) if batched else ())],
        related([_over(tariff, base, treated, due), _unsure(in_all, less)]),
        {owner: _over(tariff, base, treated, used(owner)) for owner in PARTS},
        [*unpriced, *(() if batched else (BATCHING,))],
        [
            f"{one.condition} had {packets:.2f} packets per operation"
            f"{' between its nodes' if one.nodes else ''}, which is far from what was weighed"
            for one, packets, *_ in sides
            if tariff.beyond(one.way, packets)
        ],
        left_out=dict.fromkeys(_not_weighed_cold(tariff, sides, batched=batched), COLD_NOT_WEIGHED),
    )


class _Side(NamedTuple):
    """A way that is not native's, with its packets, in the sum or taken from it."""

    paid: Paid
    packets: float
    sign: int
    whose: str


def _way_lines(tariff: Tariff, sides: Sequence[_Side]) -> list[PricedLine]:
    """What each way costs its packets, and what more where they find cold caches."""
    return [
        PricedLine(
            f"{whose}{what}{_path(tariff, one)}",
            sign * packets,
            _amount(tariff, one, of).times(sign),
        )
        for what, of in (("", _excess), (f"{COLD}: ", _cold))
        for one, packets, sign, whose in sides
        if of is _excess or tariff.costs_more_cold(one.way)
    ]


def _batch_lines(packet: Amount, working: Amount | None, less: Amount) -> list[PricedLine]:
    """What packets cost that batching saves, and what more where they find cold caches.

    Args:
        working: what a packet costs a server that works; None: unknown.
    """
    prices = {BATCHED: packet}
    if working is not None:
        prices[f"{COLD}: {BATCHED}"] = total([working, packet.times(-1)])
    return [
        PricedLine(what, less.value, total([less.times(each.value), _unsure(each, less)]))
        for what, each in prices.items()
    ]


def _unsure(packet: Amount, less: Amount) -> Amount:
    """The error that a packet's price adds to so many."""
    return packet._replace(value=0.0).times(less.value)


def _not_weighed_cold(tariff: Tariff, sides: Sequence[_Side], *, batched: bool) -> Iterator[str]:
    """The lines of cold caches without a price."""
    for one, *_ in sides:
        if not tariff.knows_cold(one.way):
            yield f"{COLD}: {_path(tariff, one)}"
    if batched and tariff.packet_us().value and tariff.working_packet_us() is None:
        yield f"{COLD}: {BATCHED}"


def mean(parts: Sequence[tuple[float, Predicted]]) -> Predicted:
    """The mean of several pairs, each with its share, and with the work beside the packets.

    All prices are of the same rounds, so that their errors add up as they are.
    """
    return _with_operations(_of_ways(parts), averaged([(share, one.done) for share, one in parts]))


def _of_ways(parts: Sequence[tuple[float, Predicted]]) -> Predicted:
    if len(parts) == 1:
        return parts[0][1]
    far = sum(bool(one.far) for _, one in parts)
    told = f"{far} of {len(parts)} pairs had packets per operation far from what was weighed"
    unpriced = Counter(what for _, one in parts for what in one.unpriced)
    return Predicted(
        merged(line.times(share) for share, one in parts for line in one.lines),
        related(one.us.times(share) for share, one in parts),
        {owner: related(one.owners[owner].times(share) for share, one in parts) for owner in PARTS},
        [
            what if often == len(parts) else f"{what}, in {often} of {len(parts)} pairs"
            for what, often in unpriced.items()
        ],
        [told] if far else [],
        left_out={what: why for _, one in parts for what, why in one.left_out.items()},
    )


def _with_operations(ways: Predicted, done: Operations) -> Predicted:
    """With the work beside the packets. Counts are of the same deployments, so that errors add up
    as they are."""
    lines, owners = done.lines, done.owners
    return replace(
        ways,
        lines=[*ways.lines, *lines],
        us=related([ways.us, *(line.amount for line in lines)]),
        owners={
            owner: related([one, owners[owner]]) if owner in owners else one
            for owner, one in ways.owners.items()
        },
        left_out={**ways.left_out, **done.left_out},
    )


def _excess(point: Point) -> Amount:
    return point.excess


def _cold(point: Point) -> Amount:
    return point.cold


def _batching(point: Point) -> Amount:
    """Packets that native would need at such batching; counted, so without an error here."""
    return Amount(point.natively, 0.0, point.excess.df)


def _over(
    tariff: Tariff, base: Sequence[Paid], treated: Sequence[Paid], of: Callable[[Point], Amount]
) -> Amount:
    """The treatment's less the baseline's; prices of one side's ways are of the same rounds."""
    of_each = (related(_amount(tariff, one, of) for one in side) for side in (treated, base))
    more, less = of_each
    return total([more, less.times(-1)])


def _amount(tariff: Tariff, paid: Paid, of: Callable[[Point], Amount]) -> Amount:
    """The amount at its packets; the error of their number is part of its error."""
    packets = paid.packets
    if packets is None:
        return tariff.nothing
    middle, low, high = (
        of(_point(tariff, paid, max(packets.value + step * packets.error, 1e-9)))
        for step in (0, -1, 1)
    )
    slope = (high.value - low.value) / 2
    return Amount(middle.value, math.hypot(middle.error, slope), min(middle.df, packets.df))


def _point(tariff: Tariff, paid: Paid, packets: float) -> Point:
    """The point of a way; between nodes the asking node plays the weighed client's part, and works
    like the one that answers."""
    found = tariff.at(paid.way, packets, between_nodes=paid.nodes)
    if not paid.nodes:
        return found
    both = related([found.owners["server"], found.owners["client"]])
    return replace(found, owners={**found.owners, "server": both, "client": tariff.nothing})


def _path(tariff: Tariff, paid: Paid) -> str:
    path = tariff.paths[paid.way] or paid.way
    return f"between nodes: {path}" if paid.nodes else path
