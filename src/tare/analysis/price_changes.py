"""Prices of two weighings side by side: two machines, two kernels, two dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field

from tare.analysis.amounts import amount_of, total
from tare.analysis.model.base import AnalysisPart

if TYPE_CHECKING:
    from tare.records.prices import Interval, Price, Weighing


Change = Literal["dearer", "cheaper", "not told apart"]


class ShareChange(AnalysisPart):
    """What a way adds as a share of native's, percent: free of how fast either machine was."""

    a: float
    b: float
    difference: float = Field(description="b less a, percentage points")
    ci: tuple[float, float] = Field(description="95% interval of the difference")
    verdict: Change = Field(description="of b beside a, by whether the interval excludes 0")


class PriceChange(AnalysisPart):
    """One way with so many operations in flight; microseconds of CPU time per operation."""

    way: str
    in_flight: int
    tls: bool = False
    what: Literal["demand", "added"] = Field(
        description="native's service demand; of the others what they add to native's"
    )
    a: float
    b: float
    difference: float = Field(description="b less a")
    ci: tuple[float, float] = Field(description="95% interval of the difference")
    verdict: Change = Field(description="of b beside a, by whether the interval excludes 0")
    percent: ShareChange | None = Field(
        description="null: of native itself, or of prices of a version that had no shares"
    )


class PriceComparison(AnalysisPart):
    """Weighing b beside weighing a."""

    changes: list[PriceChange]
    differing: list[str] = Field(description="what else differs between the two, a sentence each")
    only: list[str] = Field(description="ways that only one of them has")


def compare_prices(a: Weighing, b: Weighing) -> PriceComparison:
    """Way by way; the two are independent of each other."""
    first, second = _by_way(a), _by_way(b)
    both = [key for key in first if key in second]
    return PriceComparison(
        changes=[
            _change(first[key], second[key], a.rounds - 1, b.rounds - 1)
            for key in both
            if (first[key].added is None) == (second[key].added is None)
        ],
        differing=_differing(a, b),
        only=[
            f"{way} with {number} in flight{' and TLS' if tls else ''}"
            for way, number, tls in [*first, *second]
            if (way, number, tls) not in both
        ],
    )


def _by_way(weighing: Weighing) -> dict[tuple[str, int, bool], Price]:
    return {(one.way, one.in_flight, one.tls): one for one in weighing.prices}


def _change(a: Price, b: Price, df_a: int, df_b: int) -> PriceChange:
    def told(first: Interval, second: Interval) -> _Told:
        difference = total([amount_of(second, df_b), amount_of(first, df_a).times(-1)])
        low, high = difference.interval()
        verdict: Change = "dearer" if low > 0 else "cheaper" if high < 0 else "not told apart"
        return _Told(first.value, second.value, difference.value, (low, high), verdict)

    share = a.percent and b.percent and told(a.percent, b.percent)
    return PriceChange(
        way=a.way,
        in_flight=a.in_flight,
        tls=a.tls,
        what="demand" if a.added is None else "added",
        percent=ShareChange(**share._asdict()) if share else None,
        **told(_interval_of(a), _interval_of(b))._asdict(),
    )


class _Told(NamedTuple):
    a: float
    b: float
    difference: float
    ci: tuple[float, float]
    verdict: Change


def _interval_of(price: Price) -> Interval:
    return price.demand if price.added is None else price.added


def _differing(a: Weighing, b: Weighing) -> list[str]:
    machines = a.machine.model_dump(), b.machine.model_dump()
    facts = [
        *((name.replace("_", " "), one, machines[1][name]) for name, one in machines[0].items()),
        ("protocol", a.database, b.database),
        ("row", f"{a.row_bytes:,} bytes", f"{b.row_bytes:,} bytes"),
        ("larger row", f"{a.larger_row_bytes:,} bytes", f"{b.larger_row_bytes:,} bytes"),
        ("service", f"{a.service_us:g} us", f"{b.service_us:g} us"),
        ("servers and clients had a CPU each", a.pinned, b.pinned),
        ("servers stood still between slices", a.frozen, b.frozen),
        ("idle CPUs", a.idle_cpus, b.idle_cpus),
        ("the pace of the CPUs was a term of the fit", a.paced, b.paced),
    ]  # fmt: skip
    return sorted(f"{name}: {one} and {other}" for name, one, other in facts if one != other)
