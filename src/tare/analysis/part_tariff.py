"""Native costs of the kernel's services, and what a platform adds to each, microseconds.

Prices of `tare weigh --what system,storage`, arranged for the counts of trials. Futex calls are
priced as the mean of one that wakes nobody and one whose value has changed. What a call beside does
to wake or wait is in the price of a context switch, which is a hand-over without its two calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.analysis.amounts import Amount, amount_of, related
from tare.analysis.tariff import NATIVE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.records.part_prices import PartPrice, PartWeighing, WeighedPart


@dataclass(frozen=True)
class Service:
    """A service that trials count.

    Attributes:
        counted: name of its count after ROLE_.
        title: in the plural.
        pieces: the pieces of its price, each with how often.
        part: the part of `tare weigh` that its pieces are from.
        call: it is a system call.
        per: how much of the count is one service, such as bytes in a kilobyte.
        within: another count, to how much of this count is in the price of each of it.
    """

    counted: str
    title: str
    pieces: Mapping[str, float]
    part: WeighedPart = "system"
    call: bool = True
    per: float = 1.0
    within: Mapping[str, float] = field(default_factory=dict)


KB = 1000.0
APPENDED, READ, FLUSHED = 4 << 10, 4 << 10, 8 << 20
"""bytes of one weighed append, read and flush (tare-micro's storage.rs and reads.rs)"""
SERVICES = (
    Service(
        "switches",
        "context switches",
        {"switch": 1, "futex_wake": -1, "futex_wait": -1},
        call=False,
    ),
    Service("futex_calls", "futex calls", {"futex_wake": 0.5, "futex_wait": 0.5}),
    Service("epoll_calls", "waits by epoll", {"epoll_wait": 1}),
    Service("read_calls", "reads", {"read": 1}),
    Service("write_calls", "writes", {"write": 1}),
    Service("sendmsg_calls", "writes of several buffers", {"sendmsg": 1}),
    Service("faults", "page faults", {"fault_4k": 1}, call=False),
    Service("sync_calls", "syncs", {"append": 1}, "storage"),
    Service(
        "written_bytes",
        "kilobytes written to files",
        {"flush": KB / FLUSHED},
        "storage",
        call=False,
        per=KB,
        within={"sync_calls": APPENDED},
    ),
    Service(
        "read_bytes",
        "kilobytes read from the disk",
        {"read_cold": KB / READ},
        "storage",
        call=False,
        per=KB,
    ),
)
ALL_CALLS = "calls"
CALLS = tuple(one for one in SERVICES if one.call)
"""System calls; what a sync writes is in its price, too."""
_TOLLED = ("futex_wake", "futex_wait", "epoll_wait", "read", "write", "sendmsg")
"""Pieces of one call each, whose mean excess is taken for calls without a price of their own."""


class PartTariff:
    """The prices of weighings of parts."""

    def __init__(self, weighings: Sequence[PartWeighing]) -> None:
        self._prices: dict[tuple[str, str], PartPrice] = {
            (one.piece, one.platform): one for weighing in weighings for one in weighing.prices
        }

    def natively(self, service: Service) -> Amount | None:
        """Price of one in a native process; None: a piece of it was not weighed."""
        return self._sum(service.pieces, NATIVE, added=False)

    def added(self, service: Service, runtime: str, storage: str) -> Amount | None:
        """What a platform adds to one; None: it was not weighed there."""
        platform = f"{runtime}.{storage}" if service.part == "storage" else runtime
        return self._sum(service.pieces, platform, added=True)

    def added_to_any_call(self, runtime: str) -> Amount | None:
        """What a platform adds to a system call of unknown kind."""
        return self._sum(dict.fromkeys(_TOLLED, 1 / len(_TOLLED)), runtime, added=True)

    def _sum(self, pieces: Mapping[str, float], platform: str, *, added: bool) -> Amount | None:
        amounts = []
        for piece, often in pieces.items():
            if (piece, platform) not in self._prices:
                return None
            price = self._prices[piece, platform]
            cost = price.cpu.added if added else price.cpu.ns
            if cost is None:
                return None
            amounts.append(amount_of(cost, price.rounds - 1).times(often / 1000))
        return related(amounts)
