"""Lines of a bill for the work of servers and clients beyond the price of their packets.

The servers and clients of `tare weigh` wait, read, write and switch, too. The price of their
packets includes that work, and it was counted as in a trial. So of each service

    (count - what the stub makes at as many packets) of the treatment
  - (count - what the stub makes at as many packets) of the baseline

is priced natively. What the platform adds to each service is priced for the server's excess of
either side alone. Weighed clients run natively, so what a container adds to a client's calls is
priced for all of its calls.

Counts of one service are of the same deployments, and prices are of the same rounds. Sums over
services and roles therefore add their errors up as they are. A product's error is of the first
order.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.amounts import Amount, amount_of, related, total
from tare.analysis.part_tariff import ALL_CALLS, CALLS, SERVICES, Service
from tare.analysis.tariff import NATIVE, packets_of, shares_at
from tare.monitor.process_counts import CLIENT, MOST_PROCESSES, ROLES, SERVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.part_tariff import PartTariff
    from tare.records.prices import Price, Weighing

NO_PACKETS = (
    "it is not known how much of it the price of the packets holds, as they were not counted"
)
NOT_COUNTED = (
    "it was not counted (Tare was not root, or the servers were on other machines or of more than "
    f"{MOST_PROCESSES} processes), or in fewer than two deployments"
)
SYSTEM_CALLS = "system calls"
_TOLL = "what "
"""Prefix of a line for what a platform adds"""
_OF_ROLE = {SERVER: "of the servers", CLIENT: "of the clients"}


class Doer(NamedTuple):
    """One side of a bill.

    Attributes:
        way: the weighed way of its packets.
        packets: billed packets per operation; None: not counted.
        runtime, storage: of its servers.
        counts: per operation, by name.
        why_no_calls: why system calls are not among them.
        nodes: the way between its nodes, and the packets on it, where that is billed.
        client: runtime of its clients.
    """

    way: str
    packets: Amount | None
    runtime: str
    storage: str
    counts: Mapping[str, Amount]
    why_no_calls: str
    nodes: tuple[str, Amount | None] | None = None
    client: str = NATIVE


class PricedLine(NamedTuple):
    """A service that is paid for, how often, and its microseconds."""

    what: str
    often: float
    amount: Amount
    unit: str = "packets"

    def times(self, share: float) -> PricedLine:
        """The line times a share."""
        return self._replace(often=share * self.often, amount=self.amount.times(share))


def merged(lines: Iterable[PricedLine]) -> list[PricedLine]:
    """Lines of the same name as one line each; errors add up as they are."""
    found: dict[tuple[str, str], list[PricedLine]] = {}
    for one in lines:
        found.setdefault((one.what, one.unit), []).append(one)
    return [
        PricedLine(what, sum(one.often for one in own), related(one.amount for one in own), unit)
        for (what, unit), own in found.items()
    ]


class Part(NamedTuple):
    """The part of a line that one owner pays.

    Attributes:
        needs: names that, when left out, drop this part.
    """

    line: PricedLine
    owner: str
    needs: frozenset[str]

    def times(self, share: float) -> Part:
        """The part times a share."""
        return self._replace(line=self.line.times(share))


class Operations(NamedTuple):
    """Operations of a pair of conditions, or the mean of several pairs.

    Attributes:
        parts: parts of one line go together.
        left_out: names without a line, and why.
    """

    parts: Sequence[Part] = ()
    left_out: Mapping[str, str] = {}

    @property
    def lines(self) -> list[PricedLine]:
        """The lines of the bill, the services first."""
        return merged(
            sorted((one.line for one in self.parts), key=lambda line: line.what.startswith(_TOLL))
        )

    @property
    def owners(self) -> dict[str, Amount]:
        """Server and client to the microseconds that they pay."""
        found: dict[str, list[Amount]] = {}
        for one in self.parts:
            found.setdefault(one.owner, []).append(one.line.amount)
        return {owner: related(own) for owner, own in found.items()}


def averaged(pairs: Sequence[tuple[float, Operations]]) -> Operations:
    """The mean of several pairs, each with its share.

    A name that one pair leaves out is left out of all: a mean over the others would count it there
    as nothing. Errors add up as they are.
    """
    why: dict[str, str] = {}
    often: Counter[str] = Counter()
    for _, one in pairs:
        why |= one.left_out
        often.update(one.left_out.keys())
    parts = [part.times(share) for share, one in pairs for part in one.parts]
    some = {what: f"{what} (in {of} of {len(pairs)} pairs)" for what, of in often.items()}
    return Operations(
        [part for part in parts if part.needs.isdisjoint(why)],
        {what if often[what] == len(pairs) else some[what]: told for what, told in why.items()},
    )


class StubCounts:
    """What servers and clients of a weighing did per operation, by packets per operation."""

    def __init__(self, weighing: Weighing) -> None:
        self._df = weighing.rounds - 1
        self.why_no_calls = weighing.why_no_calls
        self._ways: dict[str, list[Price]] = {}
        for one in weighing.prices:
            if packets_of(one):
                self._ways.setdefault(one.way, []).append(one)
        for points in self._ways.values():
            points.sort(key=packets_of)

    def at(self, way: str, packets: float, name: str) -> Amount | None:
        """The count at so many packets; None where it was not counted."""
        points = [
            (packets_of(one), amount_of(one.counts[name], self._df))
            for one in self._ways.get(way, ())
            if name in one.counts
        ]
        if not points:
            return None
        shares = shares_at([weighed for weighed, _ in points], packets)
        return related(points[place][1].times(share) for place, share in shares)


class OperationPrices:
    """Prices of services, and their counts of the stub."""

    def __init__(self, parts: PartTariff, stub: StubCounts) -> None:
        self._parts = parts
        self._stub = stub

    def lines(self, base: Doer, treated: Doer) -> Operations:
        """The lines of a treatment over its baseline."""
        made = _Made()
        for service in SERVICES:
            self._of_service(service, base, treated, made)
        self._of_other_calls(base, treated, made)
        for call in CALLS:
            if call.part == "system":  # no client syncs files
                self._of_clients(call, base, treated, made)
        return Operations(made.parts, made.left_out)

    def _of_service(self, service: Service, base: Doer, treated: Doer, made: _Made) -> None:
        natively = self._parts.natively(service)
        for role in ROLES:
            what = f"{service.title} {_OF_ROLE[role]}"
            name = f"{role}_{service.counted}"
            sides = [self._beyond_in(side, role, service) for side in (base, treated)]
            if all(
                _nothing(side, name, one) for side, one in zip((base, treated), sides, strict=True)
            ):
                continue  # nobody makes any, such as syncs in reads
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
            line = PricedLine(service.title, more.value, _product(more, natively), service.title)
            made.parts.append(Part(line, role, frozenset({what})))
            if role == SERVER:
                self._toll(service, (base, before), (treated, after), made)

    def _of_other_calls(self, base: Doer, treated: Doer, made: _Made) -> None:
        """Only what the platform adds is known of system calls without a kind of their own."""
        before, after = (self._others(side) for side in (base, treated))
        if isinstance(before, Amount) and isinstance(after, Amount):
            self._toll(None, (base, before), (treated, after), made)
            return
        why = before if isinstance(before, str) else str(after)
        for runtime in {base.runtime: None, treated.runtime: None}:
            if runtime != NATIVE:
                made.left_out[f"{_TOLL}{runtime} adds to other {SYSTEM_CALLS}"] = why

    def _of_clients(self, call: Service, base: Doer, treated: Doer, made: _Made) -> None:
        """What a container adds to its clients' calls; no weighed client pays it."""
        if base.client == treated.client == NATIVE:
            return
        name = f"{CLIENT}_{call.counted}"
        sides = [
            (side._replace(runtime=side.client), side.counts.get(name)) for side in (base, treated)
        ]
        (before, fewer), (after, more) = sides
        if fewer is not None and more is not None:
            self._toll(call, (before, fewer), (after, more), made, role=CLIENT)
            return
        for runtime in {base.client, treated.client} - {NATIVE}:
            what = f"{_TOLL}{runtime} adds to {call.title} {_OF_ROLE[CLIENT]}"
            made.left_out[what] = base.why_no_calls or treated.why_no_calls or NOT_COUNTED

    def _others(self, side: Doer) -> Amount | str:
        names = [f"{SERVER}_{ALL_CALLS}", *(f"{SERVER}_{one.counted}" for one in CALLS)]
        found = [self._beyond(side, name) for name in names]
        known = [one for one in found if isinstance(one, Amount)]
        if len(known) < len(found):
            return next(one for one in found if isinstance(one, str))
        return related([known[0], *(one.times(-1) for one in known[1:])])

    def _toll(
        self,
        service: Service | None,
        base: tuple[Doer, Amount],
        treated: tuple[Doer, Amount],
        made: _Made,
        role: str = SERVER,
    ) -> None:
        """What the platforms add to each call; native ones add nothing. On one platform both sides
        pay the same for each (storage matters only to stored data), and the difference of their
        numbers is paid for."""
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
            own = f"other {SYSTEM_CALLS}" if service is None else service.title
            name = f"{_TOLL}{side.runtime} adds to {own}"
            name += f" {_OF_ROLE[CLIENT]}" if role == CLIENT else ""
            if added is None:
                where = f"{side.runtime}.{side.storage}" if stored else side.runtime
                made.left_out[name] = f"it was not weighed on {where}"
                continue
            what = f"{_TOLL}{side.runtime} adds to {each}"
            line = PricedLine(what, number.value, _product(number, added), each)
            needs = {name, f"{own} {_OF_ROLE[role]}"}
            made.parts.append(Part(line, role, frozenset(needs)))

    def _beyond_in(self, side: Doer, role: str, service: Service) -> Amount | str:
        """A side's excess of a service, as `_beyond`, less what other services' prices hold."""
        left = self._beyond(side, f"{role}_{service.counted}")
        for other, each in service.within.items():
            found = self._beyond(side, f"{role}_{other}")
            if isinstance(left, str) or isinstance(found, str):
                return left if isinstance(left, str) else found
            held = found.times(-each)
            most = max(left.value, 0.0)  # a sync that found nothing to write holds nothing
            left = related([left, held._replace(value=max(held.value, -most))])
        return left if isinstance(left, str) else left.times(1 / service.per)

    def _beyond(self, side: Doer, name: str) -> Amount | str:
        """A side's count beyond what the price of its packets holds; or the reason why it is not
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
        None: not counted."""
        held = [self._stub.at(side.way, packets, name)]
        role, _, counted = name.partition("_")
        if side.nodes is not None and role == SERVER:
            way, between = side.nodes
            often = between.value if between is not None else 0.0
            held += [self._stub.at(way, often, f"{one}_{counted}") for one in ROLES]
        known = [one for one in held if one is not None]
        return related(known) if len(known) == len(held) else None


class _Made:
    """Parts of lines as they are made, and the names without a line."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.left_out: dict[str, str] = {}


def _nothing(side: Doer, name: str, beyond: Amount | str) -> bool:
    """Whether a side makes none, and the stub makes none as far as it was counted."""
    counted = side.counts.get(name)
    if counted is None or counted.value:
        return False
    return isinstance(beyond, str) or not beyond.value


def _product(count: Amount, price: Amount) -> Amount:
    error = math.hypot(count.value * price.error, price.value * count.error)
    return Amount(count.value * price.value, error, min(count.df, price.df))
