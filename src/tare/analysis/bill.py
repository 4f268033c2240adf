"""The bill: what a platform should add to an operation, by the prices of `tare weigh`.

A trial's own packets are counted by the kernel. Then

    predicted = excess(treatment's way, its packets) - excess(baseline's way, its packets)
              + (how much less the treatment's answers are batched) x what a packet more costs,

by `tare.analysis.tariff`. Intervals add up in squares, with the fewest degrees of freedom of all
that is added: Student's t over the weighing's rounds and over the run's deployments, which are
independent of each other. A packet's cost c errs with the rounds that the excesses are of: to the
error of all the rest, n times that of c is added, as it is, for a difference of n packets. Of the
line n x c alone, n and c are independent, and the squares of its error are (c x error of n)^2 +
(n x error of c)^2 (the first order of a product).
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tare.analysis.amounts import Amount, related, total
from tare.analysis.catalogue import OTHERS, SERVICE_DEMAND
from tare.analysis.model.bill import Bill, BillLine, BillOwner, Bills
from tare.analysis.price_doubts import doubts
from tare.analysis.tariff import NATIVE, OWNERS, Point, Tariff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tare.analysis.model import Effect, Why
    from tare.analysis.model.bill import BillVerdict
    from tare.analysis.trials import Trial
    from tare.records.prices import Weighing

PACKETS = "net.server_packets_per_op"
_MEASURED = {
    "server": "cpu.server_per_op",
    "client": "cpu.client_per_op",
    "engine": "cpu.engine_per_op",
    "kernel": OTHERS,
}
"""Owner of a price's part to the metric that has the same of a trial."""


class BilledSide(NamedTuple):
    """One condition: its way, and its packets per operation."""

    way: str
    packets: Amount


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
    weighing: Weighing | None,
    trials: Sequence[Trial],
    effects: Sequence[Effect],
    why: Sequence[Why],
) -> Bills | None:
    """A bill for each measured difference of service demand between ways that have prices.

    None: nothing was weighed, or no trial counted its packets.
    """
    if weighing is None:
        return None
    tariff = Tariff(weighing)
    ways = {one.condition: way_of(one.manifest.setup) for one in trials if one.done}
    sides = {
        name: BilledSide(way, packets)
        for name, way in ways.items()
        if way in tariff and (packets := _packets_of(trials, name)) is not None
    }
    told = {(one.treatment, one.baseline): one for one in why}
    bills = [
        _bill(
            tariff,
            effect,
            sides[effect.baseline],
            sides[effect.treatment],
            told.get((effect.treatment, effect.baseline)),
        )
        for effect in effects
        if effect.metric == SERVICE_DEMAND
        and not effect.over
        and {effect.baseline, effect.treatment} <= sides.keys()
    ]
    if not bills:
        return None
    return Bills(
        of=bills,
        made=weighing.made.isoformat(timespec="seconds"),
        row_bytes=weighing.row_bytes,
        in_flight=sorted({one.in_flight for one in weighing.prices}),
        rounds=weighing.rounds,
        doubts=doubts(weighing),
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
    tariff: Tariff, effect: Effect, base: BilledSide, treated: BilledSide, why: Why | None
) -> Bill:
    paid = [
        (_path(tariff, treated.way), treated.packets.value, _amount(tariff, treated, _excess)),
        (
            f"the baseline's {_path(tariff, base.way)}",
            -base.packets.value,
            _amount(tariff, base, _excess).times(-1),
        ),
    ]
    priced = [line for line, side in zip(paid, (treated, base), strict=True) if side.way != NATIVE]
    less = total([_amount(tariff, treated, _batching), _amount(tariff, base, _batching).times(-1)])
    packet = tariff.packet_us()
    unsure = packet._replace(value=0.0).times(less.value)
    batched = total([less.times(packet.value), unsure])
    lines = [*priced, ("answers batched less or more", less.value, batched)]

    def due(point: Point) -> Amount:
        """Both lines of a side in one: they rest on the same packets."""
        return total([point.excess, _batching(point).times(packet.value)])

    sides = total([_amount(tariff, treated, due), _amount(tariff, base, due).times(-1)])
    predicted = related([sides, unsure])
    return Bill(
        baseline=effect.baseline,
        treatment=effect.treatment,
        lines=[_line(*line) for line in lines],
        us=predicted.value,
        ci=predicted.interval(),
        baseline_us=effect.baseline_value,
        measured_us=effect.difference,
        measured_ci=effect.difference_ci,
        verdict=_verdict(effect, predicted.interval(), effect.difference_ci),
        unexplained_us=effect.difference - predicted.value,
        owners=_owners(tariff, base, treated, why),
        notes=[
            f"{name} had {side.packets.value:.2f} packets per operation, which is far from what "
            "was weighed"
            for name, side in ((effect.baseline, base), (effect.treatment, treated))
            if side.way != NATIVE and tariff.beyond(side.way, side.packets.value)
        ],
    )


def _excess(point: Point) -> Amount:
    return point.excess


def _batching(point: Point) -> Amount:
    """Packets that native would need at such batching; counted, and so without an error here."""
    return Amount(point.natively, 0.0, point.excess.df)


def _amount(tariff: Tariff, side: BilledSide, of: Callable[[Point], Amount]) -> Amount:
    """At the side's packets; how well these are known is part of its error."""
    packets = side.packets
    middle, low, high = (
        of(tariff.at(side.way, max(packets.value + step * packets.error, 1e-9)))
        for step in (0, -1, 1)
    )
    slope = (high.value - low.value) / 2
    return Amount(middle.value, math.hypot(middle.error, slope), min(middle.df, packets.df))


def _owners(
    tariff: Tariff, base: BilledSide, treated: BilledSide, why: Why | None
) -> list[BillOwner]:
    """Who should use the excess of the ways, and who used more as measured; without batching."""
    splits = [one for one in why.splits if one.by == "unit"] if why else []
    measured = {part.metric.name: part for split in splits for part in split.parts}
    found = []
    for owner in OWNERS:
        part = measured.get(_MEASURED[owner])
        if part is None:
            continue

        def used(point: Point, owner: str = owner) -> Amount:
            return point.owners[owner]

        amount = total([_amount(tariff, treated, used), _amount(tariff, base, used).times(-1)])
        found.append(
            BillOwner(
                owner=owner,
                us=amount.value,
                ci=amount.interval(),
                measured_us=part.difference,
                measured_ci=part.ci,
            )
        )
    return found


def _path(tariff: Tariff, way: str) -> str:
    return tariff.paths[way] or way


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
