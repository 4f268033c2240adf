"""The bill: what a platform should add to an operation, by the prices of `tare weigh`.

What a way to a server adds to one operation depends on how many packets the operation needs: with
one operation in flight there are two, with many in flight one packet, and one wake-up, serve
several. So the excess of a way over native is a function of the packets per operation, weighed at
several of them; between these it is a straight line, beyond them in proportion. A trial's own
packets are counted by the kernel. Then

    predicted = excess(treatment's way, its packets) - excess(baseline's way, its packets)
              + (its packets - the baseline's) x what a packet more costs natively.

Intervals add up in squares, with the fewest degrees of freedom of all that is added: Student's t
over the weighing's rounds and over the run's deployments, which are independent of each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.amounts import Amount, amount_of, total
from tare.analysis.metrics import SERVICE_DEMAND
from tare.analysis.model.bill import Bill, BillLine, Bills

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tare.analysis.model import Effect
    from tare.analysis.model.bill import BillVerdict
    from tare.analysis.trials import Trial
    from tare.records.prices import Price, Weighing

PACKETS = "net.server_packets_per_op"
COUNTED = "packets"
NATIVE = "native"
_BEYOND = 1.1
"""Packets per operation beyond the weighed ones by more than a tenth are told."""


@dataclass(frozen=True)
class Weighed:
    """One way with so many operations in flight: packets per operation, and excess over native."""

    packets: float
    excess: Amount


class Tariff:
    """What each way costs, by packets per operation, microseconds."""

    def __init__(self, weighing: Weighing) -> None:
        self._df = weighing.rounds - 1
        counted = [one for one in weighing.prices if _packets_in(one) > 0]
        native = [one for one in counted if one.way == NATIVE]
        self._natively = sorted((_packets_in(one), one.demand.value) for one in native)
        self._ways: dict[str, list[Weighed]] = defaultdict(list)
        self.paths: dict[str, str] = {}
        levels = {one.in_flight: one for one in native}
        for one in counted:
            if one.in_flight in levels:
                self._ways[one.way].append(self._excess(one, levels[one.in_flight]))
                self.paths[one.way] = one.path
        for way in self._ways.values():
            way.sort(key=lambda weighed: weighed.packets)

    def __contains__(self, way: str) -> bool:
        return way in self._ways

    @property
    def ways(self) -> list[str]:
        """Their names, as they were weighed."""
        return list(self._ways)

    def packet_us(self) -> float:
        """What one packet more costs natively; 0 where only one number of them was weighed."""
        (few, less), (many, more) = self._natively[0], self._natively[-1]
        return (more - less) / (many - few) if many > few else 0.0

    def excess(self, way: str, packets: float) -> Amount:
        """Over native, at so many packets per operation."""
        points = self._ways[way]
        below = max((one for one in points if one.packets <= packets), default=None, key=_packets)
        above = min((one for one in points if one.packets >= packets), default=None, key=_packets)
        if below is None or above is None:
            nearest = points[0] if below is None else points[-1]
            share = packets / nearest.packets
            return nearest.excess.times(share)
        if above.packets == below.packets:
            return below.excess
        share = (packets - below.packets) / (above.packets - below.packets)
        return total([below.excess.times(1 - share), above.excess.times(share)])

    def beyond(self, way: str, packets: float) -> bool:
        """Whether so many, or so few, packets per operation are far from all that were weighed."""
        points = self._ways[way]
        return not points[0].packets / _BEYOND <= packets <= points[-1].packets * _BEYOND

    def _excess(self, one: Price, native: Price) -> Weighed:
        """At equal packets: packets more or fewer than native's are no price of the way."""
        packets = _packets_in(one)
        if one.way == NATIVE or one.added is None:
            return Weighed(packets, Amount(0.0, 0.0, self._df))
        more = packets - _packets_in(native)
        added = amount_of(one.added, self._df)
        return Weighed(packets, added._replace(value=added.value - more * self.packet_us()))


def _packets_in(price: Price) -> float:
    return price.counts[COUNTED].value if COUNTED in price.counts else 0.0


def _packets(weighed: Weighed) -> float:
    return weighed.packets


def way_of(setup: Mapping[str, Any]) -> str:
    """The way of a condition's clients as `tare weigh` names it; empty: of none that it weighs.

    Args:
        setup: the condition's resolved document.
    """
    platform, database = setup.get("platform", {}), setup.get("database", {})
    if platform.get("machines", "local") != "local" or database.get("nodes", 1) != 1:
        return ""
    if platform.get("plugin") or platform.get("address") or setup.get("clusters", 1) != 1:
        return ""
    if setup.get("client", {}).get("runtime", "native") != "native":
        return ""
    runtime, network = platform.get("runtime", NATIVE), platform.get("network", "host")
    if runtime == NATIVE:
        return NATIVE
    return f"{runtime}.{platform.get('endpoint') or network}"


def make_bills(
    weighing: Weighing | None, trials: Sequence[Trial], effects: Sequence[Effect]
) -> Bills | None:
    """A bill for each measured difference of service demand between ways that have prices.

    None: nothing was weighed, or no trial counted its packets.
    """
    if weighing is None:
        return None
    tariff = Tariff(weighing)
    ways = {one.condition: way_of(one.manifest.setup) for one in trials if one.done}
    packets = {name: found for name in ways if (found := _packets_of(trials, name)) is not None}
    bills = [
        _bill(tariff, effect, ways, packets)
        for effect in effects
        if effect.metric == SERVICE_DEMAND
        and not effect.over
        and all(
            name in packets and ways.get(name, "") in tariff
            for name in (effect.baseline, effect.treatment)
        )
    ]
    if not bills:
        return None
    return Bills(
        of=bills,
        made=weighing.made.isoformat(timespec="seconds"),
        row_bytes=weighing.row_bytes,
        in_flight=sorted({one.in_flight for one in weighing.prices}),
        rounds=weighing.rounds,
    )


def _packets_of(trials: Sequence[Trial], condition: str) -> Amount | None:
    """Per operation, over the deployments; None where fewer than two counted them."""
    own: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.condition == condition and trial.done and PACKETS in trial.beside:
            own[trial.manifest.deployment].append(trial.beside[PACKETS])
    means = [float(np.mean(values)) for values in own.values()]
    if len(means) < 2:
        return None
    error = float(np.std(means, ddof=1)) / math.sqrt(len(means))
    return Amount(float(np.mean(means)), error, len(means) - 1)


def _bill(
    tariff: Tariff, effect: Effect, ways: Mapping[str, str], packets: Mapping[str, Amount]
) -> Bill:
    base, treated = packets[effect.baseline], packets[effect.treatment]
    from_way, to_way = ways[effect.baseline], ways[effect.treatment]
    lines = []
    amounts = []
    for way, number, sign in ((to_way, treated, 1), (from_way, base, -1)):
        if way == NATIVE:
            continue
        amount = _paid(tariff, way, number)
        amounts.append(amount._replace(value=sign * amount.value))
        lines.append(_line(_called(tariff, way, sign), sign * number.value, amounts[-1]))
    if effect.baseline != effect.treatment:
        more = treated.value - base.value
        error = math.hypot(treated.error, base.error)
        each = tariff.packet_us()
        amounts.append(Amount(more, error, min(treated.df, base.df)).times(each))
        lines.append(_line("packets more or fewer", more, amounts[-1]))
    predicted = total(amounts)
    measured, measured_ci = effect.difference, effect.difference_ci
    return Bill(
        baseline=effect.baseline,
        treatment=effect.treatment,
        lines=lines,
        us=predicted.value,
        ci=predicted.interval(),
        baseline_us=effect.baseline_value,
        measured_us=measured,
        measured_ci=measured_ci,
        verdict=_verdict(effect, predicted.interval(), measured_ci),
        unexplained_us=measured - predicted.value,
        notes=[
            f"{name} had {packets[name].value:.2f} packets per operation, which is far from what "
            "was weighed"
            for name in (effect.baseline, effect.treatment)
            if ways[name] != NATIVE and tariff.beyond(ways[name], packets[name].value)
        ],
    )


def _paid(tariff: Tariff, way: str, packets: Amount) -> Amount:
    """The way's excess; how well the packets are known is part of its error."""
    excess = tariff.excess(way, packets.value)
    low, high = packets.value - packets.error, packets.value + packets.error
    slope = (tariff.excess(way, high).value - tariff.excess(way, low).value) / 2
    return Amount(excess.value, math.hypot(excess.error, slope), min(excess.df, packets.df))


def _called(tariff: Tariff, way: str, sign: int) -> str:
    path = tariff.paths[way] or way
    return path if sign > 0 else f"the baseline's {path}"


def _line(what: str, count: float, amount: Amount) -> BillLine:
    return BillLine(
        what=what,
        count=count,
        unit="packets",
        price_us=amount.value / count if count else 0.0,
        us=amount.value,
        ci=amount.interval(),
    )


def _verdict(
    effect: Effect, predicted: tuple[float, float], measured: tuple[float, float]
) -> BillVerdict:
    if effect.verdict == "inconclusive":
        return "bill only"
    overlap = predicted[0] <= measured[1] and measured[0] <= predicted[1]
    return "consistent" if overlap else "contradicted"
