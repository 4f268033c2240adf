"""Prices of two weighings side by side: two machines, two kernels, two dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field

from tare.analysis.amounts import amount_of, total
from tare.analysis.model.base import AnalysisPart
from tare.analysis.part_prices import shown_of
from tare.analysis.prices import compared_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare.records.part_prices import Cost, PartPrice, PartWeighing
    from tare.records.prices import Interval, Price, Weighing


Change = Literal["dearer", "cheaper", "not told apart"]


class Changed(AnalysisPart):
    """A number of a beside that of b."""

    a: float
    b: float
    difference: float = Field(description="b less a")
    ci: tuple[float, float] = Field(description="95% interval of the difference")
    verdict: Change = Field(description="of b beside a, by whether the interval excludes 0")


class ShareChange(Changed):
    """What is added as a share of what it is over, percent: free of how fast either machine was."""


class PriceChange(Changed):
    """One way with so many operations in flight; microseconds of CPU time per operation."""

    way: str
    in_flight: int
    tls: bool = False
    what: Literal["demand", "added"] = Field(
        description="native's service demand; of the others what they add"
    )
    over: str = Field(description="the way that they add it to; empty: of native itself")
    percent: ShareChange | None = Field(
        description="null: of native itself, or of prices of a version that had no shares"
    )


class PartChange(Changed):
    """One operation on one platform; nanoseconds."""

    piece: str
    title: str = Field(description="what one operation is")
    platform: str
    clock: Literal["cpu", "wall"] = Field(description="CPU time, or time that passes")
    what: Literal["cost", "added"] = Field(
        description="what it costs natively; of the others what they add to native's"
    )
    percent: ShareChange | None = Field(description="null: of native itself")


class PartComparison(AnalysisPart):
    """Prices of parts of weighing b beside those of weighing a."""

    changes: list[PartChange]
    differing: list[str] = Field(description="what else differs between the two, a sentence each")
    only: list[str] = Field(description="operations that only one of them has, with the platform")


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
            f"{f', over {over}' if over else ''}"
            for way, number, tls, over in [*first, *second]
            if (way, number, tls, over) not in both
        ],
    )


def _by_way(weighing: Weighing) -> dict[tuple[str, int, bool, str], Price]:
    return {(one.way, one.in_flight, one.tls, one.over): one for one in weighing.prices}


def compare_parts(a: PartWeighing, b: PartWeighing) -> PartComparison:
    """Operation by operation, by the time that each is shown with; the two are independent."""
    first, second = ({(one.piece, one.platform): one for one in each.prices} for each in (a, b))
    return PartComparison(
        changes=[
            change
            for key in first
            if key in second
            for change in _part_changes(first[key], second[key])
        ],
        differing=_apart([*_machines(a, b), ("idle CPUs", a.idle_cpus, b.idle_cpus)]),
        only=[
            f"{own[key].title} on {own[key].platform}"
            for own, other in ((first, second), (second, first))
            for key in own
            if key not in other
        ],
    )


def _part_changes(a: PartPrice, b: PartPrice) -> Iterator[PartChange]:
    df_a, df_b = a.rounds - 1, b.rounds - 1
    clocks: tuple[Literal["cpu", "wall"], ...] = ("cpu", "wall")
    for clock in clocks:
        costs: tuple[Cost, Cost] = (a.cpu, b.cpu) if clock == "cpu" else (a.wall, b.wall)
        if shown_of(a.piece) not in (clock, "both"):
            continue
        first, second = costs
        if first.added is None or second.added is None:
            told, share = _told(first.ns, second.ns, df_a, df_b), None
        else:
            told = _told(first.added, second.added, df_a, df_b)
            share = _share(first.percent, second.percent, df_a, df_b)
        yield PartChange(
            piece=a.piece,
            title=a.title,
            platform=a.platform,
            clock=clock,
            what="cost" if first.added is None else "added",
            percent=share,
            **told._asdict(),
        )


def _change(a: Price, b: Price, df_a: int, df_b: int) -> PriceChange:
    return PriceChange(
        way=a.way,
        in_flight=a.in_flight,
        tls=a.tls,
        what="demand" if a.added is None else "added",
        over=compared_with(a),
        percent=_share(a.percent, b.percent, df_a, df_b),
        **_told(_interval_of(a), _interval_of(b), df_a, df_b)._asdict(),
    )


def _share(
    first: Interval | None, second: Interval | None, df_a: int, df_b: int
) -> ShareChange | None:
    if first is None or second is None:
        return None
    return ShareChange(**_told(first, second, df_a, df_b)._asdict())


def _told(first: Interval, second: Interval, df_a: int, df_b: int) -> _Told:
    difference = total([amount_of(second, df_b), amount_of(first, df_a).times(-1)])
    low, high = difference.interval()
    verdict: Change = "dearer" if low > 0 else "cheaper" if high < 0 else "not told apart"
    return _Told(first.value, second.value, difference.value, (low, high), verdict)


class _Told(NamedTuple):
    a: float
    b: float
    difference: float
    ci: tuple[float, float]
    verdict: Change


def _interval_of(price: Price) -> Interval:
    return price.demand if price.added is None else price.added


def _differing(a: Weighing, b: Weighing) -> list[str]:
    facts = [
        *_machines(a, b),
        ("servers", _where(a), _where(b)),
        ("protocol", a.database, b.database),
        ("row", f"{a.row_bytes:,} bytes", f"{b.row_bytes:,} bytes"),
        ("larger row", f"{a.larger_row_bytes:,} bytes", f"{b.larger_row_bytes:,} bytes"),
        ("work of a server", f"{a.working_kib} KiB", f"{b.working_kib} KiB"),
        ("service", f"{a.service_us:g} us", f"{b.service_us:g} us"),
        ("servers and clients had a CPU each", a.pinned, b.pinned),
        ("servers stood still between slices", a.frozen, b.frozen),
        ("idle CPUs", a.idle_cpus, b.idle_cpus),
        ("the pace of the CPUs was a term of the fit", a.paced, b.paced),
    ]  # fmt: skip
    return _apart(facts)


def _where(one: Weighing) -> str:
    host = one.on_host
    return f"reached over SSH from {host.clients.hostname}" if host else "beside their clients"


def _machines(
    a: Weighing | PartWeighing, b: Weighing | PartWeighing
) -> list[tuple[str, object, object]]:
    first, second = a.machine.model_dump(), b.machine.model_dump()
    return [(name.replace("_", " "), one, second[name]) for name, one in first.items()]


def _apart(facts: Sequence[tuple[str, object, object]]) -> list[str]:
    return sorted(f"{name}: {one} and {other}" for name, one, other in facts if one != other)
