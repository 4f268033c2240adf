"""The bill: what a platform should add to an operation, by the prices of `tare weigh`.

The module decides which packets the bill covers, and sets the measured difference beside it. Its
amounts are those of `tare.analysis.priced_pair`. Where nodes of a cluster reach each other in
another way than clients do, that way has a line of its own (tare.analysis.between_nodes). Without
its price the bill covers the clients' packets alone, and names what it has no line for. A
difference that is averaged over pairs of conditions has the mean of their bills.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tare.analysis.between_nodes import billed_side, unpriced_nodes
from tare.analysis.billed_ways import way_taken
from tare.analysis.catalogue import OTHERS, SERVICE_DEMAND
from tare.analysis.counted import counting_us
from tare.analysis.model.bill import Bill, BillLine, BillOwner, Bills, NoBill
from tare.analysis.operation_lines import OperationPrices, StubCounts
from tare.analysis.part_tariff import PartTariff
from tare.analysis.price_doubts import price_doubts
from tare.analysis.priced_pair import Predicted, mean, priced
from tare.analysis.tariff import NATIVE, PARTS, Tariff

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from tare.analysis.amounts import Amount
    from tare.analysis.inference.contrasts import CellPair, Contrasts
    from tare.analysis.model import Effect, Why
    from tare.analysis.model.bill import BillVerdict
    from tare.analysis.trials import Trial
    from tare.records.run_prices import RunPrices

    Rows = Sequence[Sequence[CellPair]]

NOT_COUNTED = "packets are counted in slices only, and have to be in two deployments at least"
NOT_APART = "the clients' packets were not counted apart from those between nodes"
_MEASURED = {
    "server": "cpu.server_per_op",
    "client": "cpu.client_per_op",
    "engine": "cpu.engine_per_op",
    "kernel": OTHERS,
    "softirq": "cpu.softirq_per_op",
}
"""Part of a price to the metric that measures the same part in a trial."""


class Billing:
    """The prices of a run, and the counts of its trials."""

    def __init__(self, prices: RunPrices, trials: Sequence[Trial]) -> None:
        self._tariff = Tariff(prices.ways, prices.working)
        self._quiet = Tariff(prices.ways)
        self._operations = OperationPrices(PartTariff(prices.parts), StubCounts(prices.ways))
        own: dict[str, list[Trial]] = defaultdict(list)
        for one in trials:
            if one.done:
                own[one.condition].append(one)
        self._sides = {
            name: billed_side(way_taken(group[0].manifest), group) for name, group in own.items()
        }

    def bill(self, effect: Effect, rows: Rows, why: Why | None = None) -> Bill | str:
        """The bill of a difference of service demand; or the reason why there is none.

        Args:
            rows: the pairs of measured conditions that it averages: first each row, then the rows.
            why: what was measured beside the difference.
        """
        parts: list[tuple[float, Predicted]] = []
        tariff = self._tariff_of({name for row in rows for pair in row for name in pair})
        for row in rows:
            for baseline, treatment in row:
                one = self._predicted(tariff, baseline, treatment)
                if isinstance(one, str):
                    return one
                parts.append((1 / (len(rows) * len(row)), one))
        found = mean(parts)
        ci = found.us.interval()
        return Bill(
            baseline=effect.baseline,
            treatment=effect.treatment,
            lines=[_line(*line) for line in found.lines],
            us=found.us.value,
            ci=ci,
            baseline_us=effect.baseline_value,
            measured_us=effect.difference,
            measured_ci=effect.difference_ci,
            verdict=_verdict(effect, ci, found.unpriced),
            unexplained_us=effect.difference - found.us.value,
            unpriced=list(found.unpriced),
            owners=list(_owners(found, why)),
            notes=list(found.far),
            left_out=dict(found.left_out),
        )

    def _tariff_of(self, conditions: Iterable[str]) -> Tariff:
        """All prices; of quiet servers alone unless cold caches are known of every way: the lines
        of one side without the other's would be a difference that nobody weighed."""
        sides = [self._sides[name].way for name in conditions]
        ways = [way for side in sides for way in (side, side.between) if way and way.name]
        known = all(way.name == NATIVE or self._tariff.knows_cold(way.name) for way in ways)
        return self._tariff if known else self._quiet

    def _predicted(self, tariff: Tariff, baseline: str, treatment: str) -> Predicted | str:
        """The prediction for one pair; or the reason why there is none."""
        sides = self._sides[baseline], self._sides[treatment]
        for side in sides:
            if why := side.way.unpriced(tariff):
                return why
        whole = all(side.way.whole for side in sides)
        # between the nodes of one cluster nothing depends on the endpoint of its clients
        same = sides[0].deployments == sides[1].deployments
        unpriced = [] if whole or same else unpriced_nodes(tariff, sides)
        base, treated = (
            side.paid(name, nodes=whole or not (same or unpriced))
            for name, side in zip((baseline, treatment), sides, strict=True)
        )
        for one in (*base, *treated):
            if one.packets is None and (whole or one.way != NATIVE):
                return NOT_COUNTED if whole else NOT_APART
        ways = priced(tariff, base, treated, unpriced)
        done = (side.doing(paid) for side, paid in zip(sides, (base, treated), strict=True))
        return replace(ways, done=self._operations.lines(*done))


def make_bills(
    prices: RunPrices | None,
    trials: Sequence[Trial],
    effects: Sequence[Effect],
    why: Sequence[Why],
    contrasts: Contrasts,
) -> Bills | None:
    """A bill for each measured difference of service demand between single conditions, and for
    averages whose pairs are not compared by themselves; or the reason why there is no bill.

    None: nothing was weighed, or no difference was measured.
    """
    if prices is None:
        return None
    billing = Billing(prices, trials)
    told = {(one.treatment, one.baseline): one for one in why}
    bills: list[Bill] = []
    without: list[NoBill] = []
    for effect, rows in _differences(trials, effects, contrasts):
        found = billing.bill(effect, rows, told.get((effect.treatment, effect.baseline)))
        if isinstance(found, Bill):
            bills.append(found)
        else:
            none = NoBill(baseline=effect.baseline, treatment=effect.treatment, why=found)
            without.append(none)
    if not bills and not without:
        return None
    weighing, parts = prices.ways, prices.parts
    return Bills(
        of=bills,
        without=without,
        made=weighing.made.isoformat(timespec="seconds"),
        row_bytes=weighing.row_bytes,
        in_flight=sorted({one.in_flight for one in weighing.prices}),
        rounds=weighing.rounds,
        doubts=price_doubts(prices),
        counting_us=counting_us(trials),
        working_made=prices.working.made.isoformat(timespec="seconds") if prices.working else None,
        parts_made=min((one.made.isoformat(timespec="seconds") for one in parts), default=None),
    )


def _differences(
    trials: Sequence[Trial], effects: Sequence[Effect], contrasts: Contrasts
) -> Iterator[tuple[Effect, Rows]]:
    """Each difference that is billed, with the measured pairs that it averages."""
    done = {one.condition for one in trials if one.done}
    rows = {
        (one.baseline, one.treatment, one.over): _measured_rows(one.rows or (one.cells,), done)
        for one in contrasts.of
    }
    found = [
        (one, own)
        for one in effects
        if one.metric == SERVICE_DEMAND
        and (own := rows.get((one.baseline, one.treatment, tuple(one.over)))) is not None
    ]
    single = {own[0][0] for _, own in found if sum(map(len, own)) == 1}
    for effect, own in found:
        pairs = [pair for row in own for pair in row]
        if len(pairs) == 1 or (pairs and single.isdisjoint(pairs)):
            yield effect, own


def _measured_rows(rows: Rows, done: Collection[str]) -> Rows:
    """The pairs whose two conditions were both measured."""
    kept = [[pair for pair in row if pair[0] in done and pair[1] in done] for row in rows]
    return [row for row in kept if row]


def _owners(predicted: Predicted, why: Why | None) -> Iterator[BillOwner]:
    """Who should use the ways' excess, and who used more when measured; without batching."""
    splits = [one for one in why.splits if one.by in ("unit", "mode")] if why else []
    measured = {part.metric.name: part for split in splits for part in split.parts}
    for owner in PARTS:
        part = measured.get(_MEASURED[owner])
        if part is not None:
            amount = predicted.owners[owner]
            yield BillOwner(
                owner=owner,
                us=amount.value,
                ci=amount.interval(),
                measured_us=part.difference,
                measured_ci=part.ci,
            )


def _line(what: str, count: float, amount: Amount, unit: str) -> BillLine:
    return BillLine(
        what=what,
        count=count,
        unit=unit,
        price_us=amount.value / count if count else 0.0,
        us=amount.value,
        ci=amount.interval(),
    )


def _verdict(
    effect: Effect, predicted: tuple[float, float], unpriced: Sequence[str]
) -> BillVerdict:
    if unpriced:
        return "in part"
    if effect.verdict == "inconclusive":
        return "bill only"
    measured = effect.difference_ci
    overlap = predicted[0] <= measured[1] and measured[0] <= predicted[1]
    return "consistent" if overlap else "contradicted"
