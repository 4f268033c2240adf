"""Advice from this machine's own prices: what a way would cost an operation of the user's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.amounts import amount_of, total
from tare.databases.registry import USUAL
from tare.errors import UsageError
from tare.knowledge.wording import interval, percent
from tare.machines.facts import local_facts
from tare.records.prices import prices_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tare.analysis.amounts import Amount
    from tare.databases.names import DatabaseName
    from tare.knowledge.measured import Measured
    from tare.records.prices import Price, Weighing

LIMIT = (
    "That is the way alone. A busy server batches its answers, as with many in flight, and the "
    "database itself may pay more than the way: a study says what it pays in all."
)
LIMIT_OF_SETS = (
    "That is the way between client and server alone. What members send each other passes their "
    "own ways, and the database may pay many times as much: a study says what it pays in all."
)


def price_lines(
    platform: str,
    network: str,
    round_trips: float,
    operation_us: float | None,
    database: DatabaseName = USUAL,
    row_bytes: int | None = None,
) -> Iterator[str]:
    """One line for each way of the platform weighed here and each number in flight.

    Args:
        network: which of the platform's ways; empty: all.
        round_trips: round trips of an operation over this way.
        operation_us: CPU time of the whole operation; None: unknown.
        database: whose protocol is spoken.
        row_bytes: size of each answer; None: the size that was weighed.
    """
    if not (math.isfinite(round_trips) and math.isfinite(operation_us or 0.0)):
        raise UsageError(
            "--round-trips and --operation-us are numbers",
            why=f"{round_trips:g}, {operation_us:g}",
            remedy="like --round-trips 2 --operation-us 230",
        )
    weighing = prices_here(database, local_facts())
    weigh = "tare weigh" + (f" --database {database}" if database != USUAL else "")
    if weighing is None:
        yield f"This machine's own prices are not known yet: {weigh} (two minutes)."
        return
    prices = [one for one in weighing.prices if _asked(one, platform, network)]
    if not prices:
        yield f"No way into {platform} was weighed here: {weigh} {platform}."
        return
    yield (
        f"By this machine's own prices ({weighing.made:%Y-%m-%d}, {weigh}), an operation of "
        f"{round_trips:g} round trip{'' if round_trips == 1 else 's'} costs more than natively:"
    )
    further = None
    if row_bytes is not None and row_bytes != weighing.row_bytes:
        further = prices_here(database, local_facts(), operation="kilobyte")
        if further is None:
            yield f"  (rows of {weighing.row_bytes:,} bytes; of others: {weigh} --what bytes)"
    for found, one in (*((weighing, one) for one in prices), *_of_working(database, prices)):
        if one.added is not None:
            alone = amount_of(one.added, found.rounds - 1)
            of_bytes = None
            # further bytes were weighed over native
            if further and row_bytes is not None and one.in_flight == 1 and not one.over:
                of_bytes = _of_bytes(one, further, row_bytes - weighing.row_bytes)
            more = total([alone, *([of_bytes] if of_bytes else [])]).times(round_trips)
            rows = row_bytes if of_bytes else weighing.row_bytes
            sized = f", rows of {rows:,} bytes" if further is not None else ""
            works = f", to a server that works (than {one.over} there)" if one.over else ""
            low, high = more.interval()
            share = f", {100 * more.value / operation_us:+.1f}%" if operation_us else ""
            yield (
                f"  {one.way}, {one.in_flight} in flight{works}{sized}: {more.value:+.2f} us "
                f"[{low:+.2f}, {high:+.2f}] of CPU time{share}"
            )
    yield LIMIT if database == USUAL else LIMIT_OF_SETS


def in_all_lines(measured: Iterable[Measured]) -> Iterator[str]:
    """One line for each run of Tare that measured an operation's whole extra CPU time near the
    question: the way, and what the database pays for it; empty if no run did."""
    lines = [
        f"  {run.run}{'' if run.valid else ' (NOT VALID)'}: {percent(one.ratio)}"
        f"{interval(one.ci)}, {one.where}"
        for run in measured
        for one in run.values
        if one.family == "cpu_per_op"
    ]
    if lines:
        yield "What CPU time an operation paid more in all, where Tare measured that (see above):"
        yield from lines


def _of_working(database: DatabaseName, asked: Iterable[Price]) -> Iterator[tuple[Weighing, Price]]:
    """The latest prices of these ways to a server that works, over its own loopback device, with
    their weighing."""
    worked = prices_here(database, local_facts(), operation="working")
    ways = {one.way for one in asked}
    if worked is not None:
        yield from ((worked, one) for one in worked.prices if one.way in ways and one.over)


def _of_bytes(price: Price, further: Weighing, more: int) -> Amount | None:
    """What this number of extra bytes in an answer costs on this way; None: not weighed."""
    for one in further.prices:
        if one.way == price.way and one.added is not None:
            return amount_of(one.added, further.rounds - 1).times(more / 1000)
    return None


def _asked(price: Price, platform: str, network: str) -> bool:
    return price.runtime == platform and network in ("", price.endpoint)
