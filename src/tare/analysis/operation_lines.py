"""Lines of a bill for what servers and clients do beyond what the price of their packets holds.

The servers and clients of `tare weigh` wait, read, write and switch, too. That is in the price of
their packets, and what they did of it was counted as a trial's is. So of each service

    (count - what the stub makes at as many packets) of the treatment
  - (count - what the stub makes at as many packets) of the baseline

is priced natively, and what the platform adds to each is priced for the server's excess of either
side alone. Clients of a billed way run natively.

Counts of one service are those of the same deployments, and prices those of the same rounds: sums
over services and roles add their errors up as they are. A product's error is of the first order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.amounts import Amount, amount_of, related, total
from tare.analysis.part_tariff import ALL_CALLS, CALLS, SERVICES, Service
from tare.analysis.tariff import COUNTED, NATIVE
from tare.monitor.process_counts import CLIENT, MOST_PROCESSES, ROLES, SERVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.part_tariff import PartTariff
    from tare.records.prices import Interval, Weighing

NO_PACKETS = (
    "it is not known how much of it the price of the packets holds, as they were not counted"
)
NOT_COUNTED = (
    "it was not counted (Tare was not root, the servers were on other machines or of more than "
    f"{MOST_PROCESSES} processes, or the run is of an older version), or in fewer than two "
    "deployments"
)
SYSTEM_CALLS = "system calls"
_OF_ROLE = {SERVER: "of the servers", CLIENT: "of the clients"}


class Doer(NamedTuple):
    """One side of a bill.

    Attributes:
        way: the weighed one of its packets.
        packets: of the billed ones, per operation; None: not counted.
        runtime, storage: of its servers.
        counts: per operation, by name.
        why_no_calls: why system calls are not among them.
        nodes: the way between its nodes, and what of the packets passes that, where it is billed.
    """

    way: str
    packets: Amount | None
    runtime: str
    storage: str
    counts: Mapping[str, Amount]
    why_no_calls: str
    nodes: tuple[str, Amount | None] | None = None


class PricedLine(NamedTuple):
    """What is paid for, how often, and its microseconds."""

    what: str
    often: float
    amount: Amount
    unit: str = "packets"


class Operations(NamedTuple):
    """Of a pair of conditions.

    Attributes:
        owners: server and client to the microseconds that they pay.
        left_out: what no line is of, and why.
    """

    lines: Sequence[PricedLine]
    owners: Mapping[str, Amount]
    left_out: Mapping[str, str]


class StubCounts:
    """What servers and clients of a weighing did per operation, by packets per operation: between
    the numbers in flight that were weighed a straight line, beyond them in proportion."""

    def __init__(self, weighing: Weighing) -> None:
        self._df = weighing.rounds - 1
        self.why_no_calls = weighing.why_no_calls
        self._ways: dict[str, list[Mapping[str, Interval]]] = {}
        for one in weighing.prices:
            if COUNTED in one.counts and one.counts[COUNTED].value > 0:
                self._ways.setdefault(one.way, []).append(one.counts)
        for points in self._ways.values():
            points.sort(key=lambda counts: counts[COUNTED].value)

    def at(self, way: str, packets: float, name: str) -> Amount | None:
        """So much of it; None where it was not counted."""
        points = [
            (one[COUNTED].value, amount_of(one[name], self._df))
            for one in self._ways.get(way, ())
            if name in one
        ]
        if not points:
            return None
        below = [one for one in points if one[0] <= packets]
        above = [one for one in points if one[0] >= packets]
        if not below or not above:
            nearest, counted = points[0] if above else points[-1]
            return counted.times(packets / nearest)
        (low, few), (high, many) = below[-1], above[0]
        if high == low:
            return few
        share = (packets - low) / (high - low)
        return related([few.times(1 - share), many.times(share)])


class OperationPrices:
    """Prices of services, and what the stub made of them."""

    def __init__(self, parts: PartTariff, stub: StubCounts) -> None:
        self._parts = parts
        self._stub = stub

    def lines(self, base: Doer, treated: Doer) -> Operations:
        """Of a treatment over its baseline."""
        made = _Made()
        for service in SERVICES:
            self._of_service(service, base, treated, made)
        self._of_other_calls(base, treated, made)
        return Operations(
            [*made.lines, *made.tolls()],
            {role: related(own) for role, own in made.owners.items() if own},
            made.left_out,
        )

    def _of_service(self, service: Service, base: Doer, treated: Doer, made: _Made) -> None:
        natively = self._parts.natively(service)
        found: list[tuple[float, Amount]] = []
        for role in ROLES:
            what = f"{service.title} {_OF_ROLE[role]}"
            name = f"{role}_{service.counted}"
            sides = [self._beyond(side, name) for side in (base, treated)]
            if all(
                _nothing(side, name, one) for side, one in zip((base, treated), sides, strict=True)
            ):
                continue  # nobody makes any, as syncs of reads
            before, after = sides
            if isinstance(before, str) or isinstance(after, str):
                made.left_out[what] = next(one for one in sides if isinstance(one, str))
                continue
            if natively is None:
                made.left_out[what] = (
                    f"{service.part} has no price here: tare weigh --what {service.part}"
                )
                continue
            more = total([after, before.times(-1)])
            found.append((more.value, _product(more, natively)))
            made.owners[role].append(found[-1][1])
            if role == SERVER:
                self._toll(service, (base, before), (treated, after), made)
        if found:
            count, amount = sum(one for one, _ in found), related(one for _, one in found)
            made.lines.append(PricedLine(service.title, count, amount, service.title))

    def _of_other_calls(self, base: Doer, treated: Doer, made: _Made) -> None:
        """Of those without a kind what the platform adds is known alone."""
        before, after = (self._others(side) for side in (base, treated))
        if before is not None and after is not None:
            self._toll(None, (base, before), (treated, after), made)

    def _others(self, side: Doer) -> Amount | None:
        names = [f"{SERVER}_{ALL_CALLS}", *(f"{SERVER}_{one.counted}" for one in CALLS)]
        found = [self._beyond(side, name) for name in names]
        known = [one for one in found if isinstance(one, Amount)]
        if len(known) < len(found):
            return None
        return related([known[0], *(one.times(-1) for one in known[1:])])

    def _toll(
        self,
        service: Service | None,
        base: tuple[Doer, Amount],
        treated: tuple[Doer, Amount],
        made: _Made,
    ) -> None:
        """What the platforms add to each; native ones nothing. On one platform, of which storage
        matters to what is stored alone, both sides pay the same for each, and the difference of
        their numbers is paid for."""
        each = SYSTEM_CALLS if service is None or service in CALLS else service.title
        (before, fewer), (after, more) = base, treated
        stored = service is not None and service.part == "storage"
        if before.runtime == after.runtime and (before.storage == after.storage or not stored):
            paid = [(after, total([more, fewer.times(-1)]))]
        else:
            paid = [(before, fewer.times(-1)), (after, more)]
        for side, number in paid:
            if side.runtime == NATIVE:
                continue
            added = (
                self._parts.added_to_any_call(side.runtime)
                if service is None
                else self._parts.added(service, side.runtime, side.storage)
            )
            if added is None:
                own = f"other {SYSTEM_CALLS}" if service is None else service.title
                where = f"{side.runtime}.{side.storage}" if stored else side.runtime
                made.left_out[f"what {side.runtime} adds to {own}"] = (
                    f"it was not weighed on {where}"
                )
                continue
            amount = _product(number, added)
            what = f"what {side.runtime} adds to {each}"
            made.toll(PricedLine(what, number.value, amount, each))
            made.owners[SERVER].append(amount)

    def _beyond(self, side: Doer, name: str) -> Amount | str:
        """What a side makes beyond what the price of its packets holds; or why that is not
        known."""
        calls = name.endswith("calls")
        if name not in side.counts:
            if calls and side.why_no_calls:
                return side.why_no_calls
            return NOT_COUNTED
        if side.packets is None:
            return NO_PACKETS
        held = self._held(side, side.packets.value, name)
        if held is None:
            why = self._stub.why_no_calls if calls else ""
            return "of the stub, whose packets are priced, it was not counted" + (
                f": {why}" if why else ""
            )
        return total([side.counts[name], held.times(-1)])

    def _held(self, side: Doer, packets: float, name: str) -> Amount | None:
        """What the prices of its packets hold; between nodes the weighed client is a server, too.
        None: it was not counted."""
        held = [self._stub.at(side.way, packets, name)]
        role, _, counted = name.partition("_")
        if side.nodes is not None and role == SERVER:
            way, between = side.nodes
            often = between.value if between is not None else 0.0
            held += [self._stub.at(way, often, f"{one}_{counted}") for one in ROLES]
        known = [one for one in held if one is not None]
        return related(known) if len(known) == len(held) else None


class _Made:
    """Lines as they are made; what platforms add is put together by what it is added to."""

    def __init__(self) -> None:
        self.lines: list[PricedLine] = []
        self.owners: dict[str, list[Amount]] = {role: [] for role in ROLES}
        self.left_out: dict[str, str] = {}
        self._tolls: dict[str, list[PricedLine]] = {}

    def toll(self, line: PricedLine) -> None:
        self._tolls.setdefault(line.what, []).append(line)

    def tolls(self) -> Iterable[PricedLine]:
        for what, own in self._tolls.items():
            amount = related(one.amount for one in own)
            yield PricedLine(what, sum(one.often for one in own), amount, own[0].unit)


def _nothing(side: Doer, name: str, beyond: Amount | str) -> bool:
    """Whether a side makes none, and nor does the stub as far as it was counted."""
    counted = side.counts.get(name)
    if counted is None or counted.value:
        return False
    return isinstance(beyond, str) or not beyond.value


def _product(count: Amount, price: Amount) -> Amount:
    error = math.hypot(count.value * price.error, price.value * count.error)
    return Amount(count.value * price.value, error, min(count.df, price.df))
