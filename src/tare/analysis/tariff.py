"""The cost of each way to a server, by the number of packets per operation.

With one operation in flight an operation needs two packets. With many in flight one packet, and one
wake-up, serve several. A way was weighed at several such numbers. Between them its cost is a
straight line over its own packets per operation; beyond them it is in proportion. Where a server
works for each request, its packets find cold caches, and each costs so much more on this way than
over the loopback device of the same server. That is the server's part: the weighed client does
nothing else, and the packets that it sends find warm caches. Between nodes both ends work, so that
the server's part is paid twice. Over loopback devices themselves, native or in a container, packets
pass the same code of the kernel, so no way pays more there than native does.
Amounts weighed in the same rounds may err together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.amounts import Amount, amount_of, related, total
from tare.runtimes.registry import BARE
from tare.study.platform import OWN_LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.records.prices import Interval, Price, Weighing

COUNTED = "packets"
NATIVE = BARE
OWNERS = ("server", "client", "engine", "kernel")
SOFTIRQ = "softirq"
PARTS = (*OWNERS, SOFTIRQ)
"""Parts of a price by who used them, and in soft interrupts, a mode of any owner's time."""
_FEWEST = 1e-6
"""Packets per operation: with fewer, nothing was counted."""
_BEYOND = 1.1
"""Packets per operation beyond the weighed numbers by more than a tenth are far from them, and two
numbers that differ by less are one."""


@dataclass(frozen=True)
class Point:
    """A way at so many packets per operation; amounts are microseconds, `excess` is over native.

    Attributes:
        natively: packets that native needed with as many operations in flight; they show how well
            replies are batched, the same for all ways.
        cold: what the way costs beyond `excess` where the server works for each request (between
            nodes, both ends), so that packets find cold caches; 0 where that is not known
            (`Tariff.knows_cold`).
        owners: the part of both of each of `PARTS`.
    """

    packets: float
    natively: float
    excess: Amount
    cold: Amount
    owners: Mapping[str, Amount]

    def times(self, factor: float) -> Point:
        """The point times a factor."""
        return Point(
            self.packets * factor,
            self.natively * factor,
            self.excess.times(factor),
            self.cold.times(factor),
            {name: one.times(factor) for name, one in self.owners.items()},
        )

    def and_of(self, other: Point) -> Point:
        """The sum of both."""
        return Point(
            self.packets + other.packets,
            self.natively + other.natively,
            related([self.excess, other.excess]),
            related([self.cold, other.cold]),
            {name: related([one, other.owners[name]]) for name, one in self.owners.items()},
        )


class Tariff:
    """The ways of a weighing, and what they cost more where a server works."""

    def __init__(self, weighing: Weighing, working: Weighing | None = None) -> None:
        self._df = weighing.rounds - 1
        self._cold = _cold_packets(weighing, working)
        self._working_packet = _working_packet(working) if working else None
        counted = [one for one in weighing.prices if packets_of(one)]
        native = {one.in_flight: one for one in counted if one.way == NATIVE}
        self._native = sorted(
            (packets_of(one), amount_of(one.demand, self._df)) for one in native.values()
        )
        self._ways: dict[str, list[Point]] = defaultdict(list)
        self._nodes: dict[str, list[Point]] = defaultdict(list)
        self.paths: dict[str, str] = {}
        for one in counted:
            if one.in_flight in native:
                each, beside = self._cold.get(one.way), native[one.in_flight]
                self._ways[one.way].append(self._point(one, beside, each))
                both = each and each.at_both_ends()
                self._nodes[one.way].append(self._point(one, beside, both))
                self.paths[one.way] = one.path
        for points in (*self._ways.values(), *self._nodes.values()):
            points.sort(key=lambda point: point.packets)

    def __contains__(self, way: str) -> bool:
        return way in self._ways

    @property
    def ways(self) -> list[str]:
        """The names of the weighed ways."""
        return list(self._ways)

    @property
    def nothing(self) -> Amount:
        """The amount that native itself pays."""
        return Amount(0.0, 0.0, self._df)

    def packet_us(self) -> Amount:
        """Native cost of one packet more, by less batching; 0 where only one number of packets was
        weighed."""
        (few, less), (many, more) = self._native[0], self._native[-1]
        if many <= few * _BEYOND:
            return self.nothing
        return related([more, less.times(-1)]).times(1 / (many - few))

    def working_packet_us(self) -> Amount | None:
        """The same where servers work; None: not weighed."""
        return self._working_packet

    def knows_cold(self, way: str) -> bool:
        """Whether it is known what a way's packets cost more where a server works."""
        return way in self._cold

    def costs_more_cold(self, way: str) -> bool:
        """Whether they cost more, as far as known; never over a loopback device."""
        return self._cold.get(way) is not None

    def at(self, way: str, packets: float, *, between_nodes: bool = False) -> Point:
        """The way at so many packets per operation, to a client or another node that works, too."""
        points = (self._nodes if between_nodes else self._ways)[way]
        shares = shares_at([one.packets for one in points], packets)
        return reduce(Point.and_of, (points[place].times(share) for place, share in shares))

    def beyond(self, way: str, packets: float) -> bool:
        """Whether so many, or so few, packets per operation are far from all weighed numbers."""
        points = self._ways[way]
        return not points[0].packets / _BEYOND <= packets <= points[-1].packets * _BEYOND

    def _point(self, one: Price, native: Price, each: _ColdPacket | None) -> Point:
        nothing = self.nothing
        added = nothing if one.added is None else amount_of(one.added, self._df)
        owners = {
            name: amount_of(one.parts[name], self._df) if name in one.parts else nothing
            for name in PARTS
        }
        if one.way == NATIVE:
            added, owners = nothing, dict.fromkeys(PARTS, nothing)
        packets = packets_of(one)
        if each is None:
            return Point(packets, packets_of(native), added, nothing, owners)
        owners = {
            name: total([own, each.owners[name].times(packets)]) for name, own in owners.items()
        }
        return Point(packets, packets_of(native), added, each.us.times(packets), owners)


class _ColdPacket(NamedTuple):
    """What a packet costs more on a way to a server that works: in all, and of each of `PARTS`."""

    us: Amount
    owners: Mapping[str, Amount]

    def at_both_ends(self) -> _ColdPacket:
        """The same where the client works like the server, so that either pays what the server
        does. It is taken that soft interrupts of the end that does not work find warm caches: all
        that were weighed are the server's."""
        server, client = self.owners["server"], self.owners["client"]
        twice = {"server": server, "client": server, SOFTIRQ: self.owners[SOFTIRQ].times(2)}
        return _ColdPacket(related([self.us, server, client.times(-1)]), {**self.owners, **twice})


def _cold_packets(weighing: Weighing, working: Weighing | None) -> dict[str, _ColdPacket | None]:
    """The ways of which it is known, one operation at a time: what was weighed over a loopback
    device with servers that work, and these devices, of which there is nothing (None)."""
    if working is None:
        return {}
    rounds = (working.rounds - 1, weighing.rounds - 1)
    quiet = {one.way: one for one in weighing.prices if one.in_flight == 1}
    native = quiet[NATIVE].path if NATIVE in quiet else None
    found: dict[str, _ColdPacket | None] = {}
    for cold in working.prices:
        way, over, packets = quiet.get(cold.way), quiet.get(cold.over), packets_of(cold)
        if way is None or way.path != cold.path or not packets:  # another network plugin, say
            continue
        if way.endpoint == OWN_LOOPBACK or way.path == native:
            found[cold.way] = None
        elif over is not None:
            more = _more(rounds, cold.added, way.added, over.added)
            owners = {
                name: _more(rounds, *(one.parts.get(name) for one in (cold, way, over)))
                for name in PARTS
            }
            found[cold.way] = _ColdPacket(
                more.times(1 / packets),
                {name: one.times(1 / packets) for name, one in owners.items()},
            )
    return found


def _working_packet(working: Weighing) -> Amount | None:
    """What a packet more costs a native server that works; None: not weighed with several in
    flight. With more, a packet costs more yet (docs/weigh.md)."""
    natives = [one for one in working.prices if one.way == NATIVE and packets_of(one)]
    alone = [packets_of(one) for one in natives if one.added is None]
    for one in natives:
        if one.added is not None and alone and alone[0] > packets_of(one) * _BEYOND:
            saved = amount_of(one.added, working.rounds - 1).times(-1)
            return saved.times(1 / (alone[0] - packets_of(one)))
    return None


def _more(
    rounds: tuple[int, int], cold: Interval | None, way: Interval | None, over: Interval | None
) -> Amount:
    """What a way costs more over another where servers work, less what it costs more where they do
    not; 0 if any is unknown.

    Args:
        rounds: degrees of freedom of both weighings.
        cold: over the other way; the others are over native.
    """
    if cold is None or way is None or over is None:
        return Amount(0.0, 0.0, rounds[0])
    usual = related([amount_of(way, rounds[1]), amount_of(over, rounds[1]).times(-1)])
    return total([amount_of(cold, rounds[0]), usual.times(-1)])


def shares_at(weighed: Sequence[float], packets: float) -> list[tuple[int, float]]:
    """The weighed numbers of packets, and their shares, that make up so many: between two of them a
    straight line, beyond them in proportion.

    Args:
        weighed: ascending.

    Returns:
        Places in `weighed`, each with its share.
    """
    above = bisect_left(weighed, packets)
    if above in (0, len(weighed)):
        nearest = min(above, len(weighed) - 1)
        return [(nearest, packets / weighed[nearest])]
    share = (packets - weighed[above - 1]) / (weighed[above] - weighed[above - 1])
    return [(above - 1, 1 - share), (above, share)]


def packets_of(price: Price) -> float:
    """Packets per operation of a weighed way; 0: none were counted, and nothing follows."""
    found = price.counts[COUNTED].value if COUNTED in price.counts else 0.0
    return found if found > _FEWEST else 0.0
