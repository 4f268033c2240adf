"""Does `tare weigh` find known prices on this machine?

    python -m bench.known_prices again             20 weighings of no extra cost, 24 s each
    python -m bench.known_prices cost              the same with an extra cost of 1 microsecond

Native is weighed against a second native way, called native again. With `again`, both are
identical. With `cost`, native again keeps the CPU busy for longer, in the same loop; each server
measures the real time of its loop.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.price_doubts import doubts
from tare.analysis.prices import AGAIN, prices
from tare.analysis.tariff import NATIVE
from tare.lab.weighing import weigh
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.records.prices import Interval

_BASE_NS, _MORE_NS = 4_000, 1_000
"""native's work, and native again's extra work: a loop that only one of them ran would cost more
than its own time"""


@dataclass(frozen=True)
class Known:
    """A known price and the measured one, in microseconds per operation."""

    in_flight: int
    truth_us: float
    cost: Interval
    round_trip: Interval
    doubts: list[str]

    @property
    def error_us(self) -> float:
        return self.cost.value - self.truth_us

    @property
    def held(self) -> tuple[bool, bool]:
        """Whether the CPU time's interval holds the truth, and the round trip's holds 0."""
        held = self.cost.low <= self.truth_us <= self.cost.high
        return held, self.round_trip.low <= 0 <= self.round_trip.high


def known_cost(
    place: Path, seconds: float, rounds: int, in_flight: Sequence[int], more_ns: int = _MORE_NS
) -> list[Known]:
    """Weigh a native again that costs this many nanoseconds more.

    Args:
        place: directory for the servers' reports.
    """

    def told(way: str, number: int) -> list[str]:
        spends = _BASE_NS + (more_ns if way == AGAIN else 0)
        return ["--spend", f"{spends}ns", "--report", str(_report(place, way, number))]

    spending = more_ns > 0
    weighed = (
        weigh([NATIVE], seconds, rounds, in_flight=in_flight, told=told)
        if spending
        else weigh([NATIVE], seconds, rounds, in_flight=in_flight)
    )
    found = prices(weighed, MeasuredMachine.of(local_facts()))
    truth = 0.0
    if spending:
        again, native = (
            np.mean([_spent_us(_report(place, way, number)) for number in range(rounds)])
            for way in (AGAIN, NATIVE)
        )
        truth = float(again - native)
    return [
        Known(one.in_flight, truth, one.added, one.round_trip_added, doubts(found))
        for one in found.prices
        if one.way == AGAIN and one.added is not None and one.round_trip_added is not None
    ]


def _report(place: Path, way: str, number: int) -> Path:
    return place / f"{way.replace(' ', '-')}-{number}.json"


def _spent_us(report: Path) -> float:
    """Median time that a timed request kept the server's CPU busy, microseconds."""
    return float(json.loads(report.read_text(encoding="utf-8"))["spent_us"]["p50"])


def _known(given: argparse.Namespace, more_ns: int) -> None:
    lines: list[Known] = []
    for _ in range(given.weighings):
        with tempfile.TemporaryDirectory() as place:
            found = known_cost(
                Path(place), given.seconds, given.rounds, given.in_flight or [1], more_ns
            )
        for one in found:
            print(json.dumps(_line(one)), flush=True)
        lines += found
    for in_flight in sorted({one.in_flight for one in lines}):
        own = [one for one in lines if one.in_flight == in_flight]
        clock = [sum(held) for held in zip(*(one.held for one in own), strict=True)]
        halves = [
            np.median([(each.high - each.low) / 2 for each in found])
            for found in ([one.cost for one in own], [one.round_trip for one in own])
        ]
        worst = max(abs(one.error_us) for one in own)
        print(
            f"{in_flight} in flight: of {len(own)} intervals of CPU time {clock[0]} hold the "
            f"truth, of the round trip {clock[1]} hold 0; half-widths ±{halves[0]:.2f} and "
            f"±{halves[1]:.2f} us in the median; CPU time was found within {worst:.2f} us"
        )


def _line(one: Known) -> dict[str, object]:
    cost, trip = (
        [round(value, 2) for value in (each.value, each.low, each.high)]
        for each in (one.cost, one.round_trip)
    )
    return {
        "in_flight": one.in_flight,
        "truth us": round(one.truth_us, 2),
        "CPU us": cost,
        "round trip us": trip,
        "holds": one.held,
        "doubts": one.doubts,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["again", "cost"])
    parser.add_argument("--weighings", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=24.0, help="length of a weighing")
    told = "operations in flight; repeatable; native again is weighed with the smallest"
    parser.add_argument("--in-flight", type=int, action="append", help=told)
    parser.add_argument("--more", type=int, default=_MORE_NS, help="extra ns of native again")
    given = parser.parse_args()
    _known(given, given.more if given.what == "cost" else 0)


if __name__ == "__main__":
    main()
