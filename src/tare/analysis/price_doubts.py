"""Doubts about prices: other work, servers that stood still, native unlike itself, a pace that
depends on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy import special

from tare.analysis.amounts import amount_of
from tare.analysis.prices import AGAIN
from tare.monitor.background_load import BUSY_CORES

if TYPE_CHECKING:
    from tare.records.part_prices import PartWeighing
    from tare.records.prices import Interval, Price, Weighing
    from tare.records.run_prices import RunPrices


def doubts(found: Weighing) -> list[str]:
    """Each doubt as a clause; empty: none."""
    told = []
    if found.other_cores > BUSY_CORES:
        told.append(f"other programs disturbed it ({found.other_cores:.2g} cores)")
    if found.stood_still:
        told.append(
            f"nothing was answered for {found.gap_s:.2g} s, because something stopped a server or "
            "its client"
        )
    unlike = [
        f"{name}, {_driven(again)}"
        for again in found.prices
        # where ways are over another way of their own server, no price rests on native
        if again.way == AGAIN and not any(one.over for one in found.prices)
        for name, one in (("CPU time", again.added), ("round trip", again.round_trip_added))
        if one is not None and _beyond_chance(one, found.rounds - 1)
    ]
    if unlike:
        told.append(f"native again is not the same as native ({' and '.join(unlike)})")
    paced = [
        f"{one.way}, {_driven(one)}"
        for one in found.prices
        if one.pace is not None and _beyond_chance(one.pace, found.rounds - 1)
    ]
    if paced:
        told.append(
            f"the pace of the CPUs depended on the way ({' and '.join(paced)}), so that what was "
            "taken off for it may be what the way costs"
        )
    return told


def price_doubts(prices: RunPrices) -> list[str]:
    """Doubts about any of a run's prices."""
    working = [] if prices.working is None else doubts(prices.working)
    return [
        *doubts(prices.ways),
        *(f"servers that work: {one}" for one in working),
        *(told for one in prices.parts for told in part_doubts(one)),
    ]


def _driven(price: Price) -> str:
    return f"{price.in_flight} in flight{', TLS' if price.tls else ''}"


def part_doubts(found: PartWeighing) -> list[str]:
    """Doubts about the prices of a platform's parts."""
    if found.other_cores <= BUSY_CORES:
        return []
    parts = " and ".join(sorted({one.what for one in found.prices}))
    return [f"other programs disturbed the weighing of {parts} ({found.other_cores:.2g} cores)"]


def _beyond_chance(interval: Interval, df: int) -> bool:
    """Whether the 99.9% interval excludes 0: one in twenty of the shown ones does by chance."""
    amount = amount_of(interval, df)
    return abs(amount.value) > float(special.stdtrit(df, 0.9995)) * amount.error
