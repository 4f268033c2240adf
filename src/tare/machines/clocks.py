"""Measures by how much another machine's clock is ahead of this one's, with an error bound.

The other clock is read several times. Each time it was read between question and answer, so the
middle of both is wrong by at most half of their distance. That is a bound, not an estimate,
whatever the way there and back. The fastest answer gives the best bound, as in NTP's clock filter
(RFC 5905, section 10) and Cristian's algorithm (Distributed Computing 3, 1989).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.study.slice_schedule import LEAD_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.ssh import Connection

_SECONDS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
ROUNDS = 12
"""questions; a dozen take a tenth of a second nearby and some seconds around the world"""
MOST_UNCERTAIN_S = 0.010
"""Starts at one instant need a bound below this: a hundredth of the one-second windows of all
counts."""


MOST_UNCERTAIN_IN_SLICES_S = LEAD_S / 2
"""A clock that is known less well would thaw servers after their slice's load began."""


@dataclass(frozen=True)
class Offset:
    """The measured offset.

    Attributes:
        ahead_s: seconds that the other clock is ahead of this machine's; negative: behind.
        uncertain_s: the true offset differs by no more than this many seconds.
        rounds: questions that were answered.
    """

    ahead_s: float
    uncertain_s: float
    rounds: int

    @property
    def sure(self) -> bool:
        """Whether machines can start at one instant by it."""
        return self.uncertain_s <= MOST_UNCERTAIN_S

    @property
    def sure_in_slices(self) -> bool:
        """Whether a host can be driven in slices by it."""
        return self.uncertain_s <= MOST_UNCERTAIN_IN_SLICES_S

    def too_vague(self, most_s: float) -> str:
        """Why it cannot be used if it must be known to this many seconds."""
        return (
            f"its clock is known to ± {self.uncertain_s * 1e3:.1f} ms only, which must be "
            f"{most_s * 1e3:.0f} ms at most: the way there is slow"
        )

    def __str__(self) -> str:
        side = "ahead" if self.ahead_s >= 0 else "behind"
        return f"{abs(self.ahead_s) * 1e3:.1f} ms {side}, ± {self.uncertain_s * 1e3:.1f} ms"


SAME = Offset(0.0, 0.0, 0)
"""of this machine's own clock"""


def measure(
    ask: Callable[[], float], rounds: int = ROUNDS, clock: Callable[[], float] = time.time
) -> Offset:
    """Compare another clock with this one.

    Args:
        ask: reads the other clock, seconds since the epoch.
        rounds: how often.
        clock: this machine's, of the same epoch.
    """
    found: list[Offset] = []
    for _ in range(rounds):
        before = clock()
        there = ask()
        after = clock()
        if after >= before:  # else this clock was set meanwhile
            found.append(Offset(there - (before + after) / 2, (after - before) / 2, rounds))
    if not found:
        raise RuntimeUnavailableError(
            "the clock here goes backwards",
            why="it was set back during every question",
            remedy="let one daemon alone set it: systemctl status chrony ntpsec systemd-timesyncd",
        )
    return min(found, key=lambda one: one.uncertain_s)


def clock_offset(connection: Connection, rounds: int = ROUNDS) -> Offset:
    """By how much the clock of a host is ahead of this machine's.

    Raises:
        HostGoneError: the host does not answer.
        RuntimeUnavailableError: its `date` tells no fractions of a second.
    """

    def ask() -> float:
        text = connection.check("date", "+%s.%N")
        if not _SECONDS.fullmatch(text):
            raise RuntimeUnavailableError(
                "the clock there cannot be read",
                where=str(connection.host),
                why=f"date +%s.%N prints {text[:40]!r}",
                remedy="install GNU coreutils there",
            )
        return float(text)

    ask()  # the first may wait for the connection, or for `date` to be read from disk
    return measure(ask, rounds)


def refuse_unsure(offsets: dict[str, Offset]) -> None:
    """Refuse hosts whose clocks are not known well enough to start at one instant.

    Args:
        offsets: name of a host to its offset.

    Raises:
        RuntimeUnavailableError: a clock is not known well enough; it names the host.
    """
    for name, one in offsets.items():
        if not one.sure:
            raise RuntimeUnavailableError(
                "load clients cannot start at one instant",
                where=name,
                why=one.too_vague(MOST_UNCERTAIN_S),
                remedy="run Tare nearer to the hosts, or set client.machines to local",
            )
