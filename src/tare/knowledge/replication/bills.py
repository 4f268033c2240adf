"""Puts a bill beside an undecided finding: the prices' prediction for the compared conditions.

The bill is of service demand, whatever the finding's metric. Ways to a server add CPU time, and
throughput, latency and CPU use come from it in part. None of these follows from the bill, and it
decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.bill import Billing
from tare.analysis.billed_ways import way_of
from tare.analysis.catalogue import SERVICE_DEMAND
from tare.analysis.price_doubts import price_doubts
from tare.knowledge.replication.matching import names_in
from tare.knowledge.replication.measured import ComparisonRequest, effects_of
from tare.study.metric_names import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model.bill import Bill
    from tare.knowledge.replication.measured import MeasuredRun
    from tare.records.run_prices import RunPrices

NOT_WEIGHED = "the run has no prices; those that `tare weigh` keeps go with the next run"
NOT_MEASURED = "service demand was not measured"
TOO_FEW = "too few trials for an interval of service demand"


def bills_beside(
    run: MeasuredRun, prices: RunPrices | None, undecided: Mapping[str, ComparisonRequest]
) -> dict[str, Bill | str]:
    """Finding to its bill, or to the reason for having none.

    Args:
        prices: the run's; None: none.
        undecided: finding to the pairs of conditions that its row shows.
    """
    found: dict[str, Bill | str] = {}
    asked: dict[str, ComparisonRequest] = {}
    done = run.done(SERVICE_DEMAND)
    for name, one in undecided.items():
        if not _of_time(one.metric):
            found[name] = f"prices are of CPU time, and {one.metric} is not"
        elif not done.issuperset(names_in(one.pairs)):
            found[name] = NOT_MEASURED
        elif prices is None:
            found[name] = _never_weighed(run, one) or NOT_WEIGHED
        else:
            asked[name] = ComparisonRequest(SERVICE_DEMAND, one.rows)
    if prices is None or not asked:
        return found
    billing = Billing(prices, run.trials)
    effects = effects_of(run, asked.values())
    for name, one in asked.items():
        effect = effects.get(one.key)
        found[name] = (
            TOO_FEW if effect is None else _doubted(billing.bill(effect, one.rows), prices)
        )
    return found


def _never_weighed(run: MeasuredRun, one: ComparisonRequest) -> str:
    """Why no prices would bill these conditions; empty: prices of their ways would."""
    setups = (run.conditions[name].setup for name in names_in(one.pairs))
    ways = (way_of(setup.model_dump(mode="json")) for setup in setups)
    return next((way.why for way in ways if way.why), "")


def _doubted(bill: Bill | str, prices: RunPrices) -> Bill | str:
    """The bill, with the doubts about its prices."""
    against = price_doubts(prices)
    if isinstance(bill, str) or not against:
        return bill
    notes = [*bill.notes, f"its prices are not valid: {'; '.join(against)}"]
    return bill.model_copy(update={"notes": notes})


def _of_time(metric: str) -> bool:
    """Whether CPU time is a part of it: true of throughput, latency and CPU use."""
    operation, _, kind = metric.rpartition(".")
    return metric in (SERVICE_DEMAND, "throughput") or operation == "cpu" or kind in KINDS
