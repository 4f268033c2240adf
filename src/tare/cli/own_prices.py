"""Advice from this machine's own prices: what a way would cost an operation of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.tariff import NATIVE, Tariff
from tare.machines.facts import local_facts
from tare.records.prices import Weighing
from tare.records.quiet import kept_here

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKETS = 2.0
"""of a round trip whose request and answer are a packet each"""


def price_lines(
    platform: str, network: str, round_trips: float, operation_us: float | None
) -> Iterator[str]:
    """A line for each way of the platform that was weighed here, answers coming one at a time.

    Args:
        network: which of its ways; empty: all.
        round_trips: of an operation, over this way.
        operation_us: CPU time of the whole operation; None: not known.
    """
    weighing = kept_here(Weighing, local_facts())
    if weighing is None:
        yield "This machine's own prices are not known yet: tare weigh (two minutes)."
        return
    tariff = Tariff(weighing)
    ways = [way for way in tariff.ways if way != NATIVE and _asked(way, platform, network)]
    if not ways:
        yield f"No way into {platform} was weighed here: tare weigh {platform}."
        return
    yield (
        f"By this machine's own prices ({weighing.made:%Y-%m-%d}, tare weigh), an operation of "
        f"{round_trips:g} round trip{'' if round_trips == 1 else 's'}, answers one at a time, "
        "costs more:"
    )
    for way in ways:
        more = tariff.at(way, PACKETS).excess.times(round_trips)
        low, high = more.interval()
        share = f", {100 * more.value / operation_us:+.1f}%" if operation_us else ""
        yield f"  {way}: {more.value:+.2f} us [{low:+.2f}, {high:+.2f}] of CPU time{share}"


def _asked(way: str, platform: str, network: str) -> bool:
    runtime, _, endpoint = way.partition(".")
    return runtime == platform and network in ("", endpoint)
