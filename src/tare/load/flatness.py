"""When a server is warm: its CPU per operation and its throughput have stopped moving.

A Java server's first million operations cost three times as much as its third million, because its
code is still being compiled (measured for Cassandra 5.0). The rule looks at windows of a few
seconds: the mean of the last two must differ from the mean of the two before by less than the
bound, both in CPU per operation and in throughput. A slow drift below the bound per two windows
goes unseen; the analysis looks for the rest of it as a trend over blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tare.study.schema import WINDOWS

SPAN = WINDOWS // 2
"""windows in each of the two means that are compared"""
JITTER_S = 0.5
"""readings come about once a second: half a second decides to which window one belongs"""
QUIET = 0.15
"""cores per node: a compiler that uses less has finished the backlog of a cold server"""


@dataclass(frozen=True)
class Window:
    """One window of a warm-up."""

    t: float
    """seconds since the warm-up began, at the window's end"""
    ops_per_s: float
    cpu_us_per_op: float
    """server CPU per operation, microseconds"""


@dataclass
class Warmth:
    """Collects readings during a warm-up and says when it is over."""

    at_least: float
    at_most: float
    window: float
    bound: float
    windows: list[Window] = field(default_factory=list)
    operations: int = 0
    _start: tuple[float, float] | None = None
    _begin: tuple[float, int, float] | None = None

    def reading(
        self, t: float, operations: int, cpu_s: float, compiler_s: float | None = None
    ) -> None:
        """Take a reading: time (s, any origin), operations in all, server CPU seconds in all."""
        if self._begin is None or self._start is None:
            self._start = (t, cpu_s)
            self._begin = (t, operations, cpu_s)
            return
        self.operations = operations
        since, done, used = self._begin
        if t - since >= self.window - JITTER_S:
            count = operations - done
            if count > 0:
                self.windows.append(
                    Window(t - self._start[0], count / (t - since), (cpu_s - used) * 1e6 / count)
                )
            self._begin = (t, operations, cpu_s)

    @property
    def seconds(self) -> float:
        return self.windows[-1].t if self.windows else 0.0

    @property
    def flat(self) -> bool:
        """Whether the last windows agree within the bound, after at least the least time."""
        if self.seconds < self.at_least - JITTER_S or len(self.windows) < 2 * SPAN:
            return False
        return max(self.changes()) <= self.bound

    def changes(self) -> tuple[float, float]:
        """Relative change of CPU per operation and of throughput over the last windows."""
        last, before = self.windows[-SPAN:], self.windows[-2 * SPAN : -SPAN]
        return (
            _change([w.cpu_us_per_op for w in before], [w.cpu_us_per_op for w in last]),
            _change([w.ops_per_s for w in before], [w.ops_per_s for w in last]),
        )

    def why_not_flat(self) -> str:
        """Why it is not flat, as a sentence; empty when it is."""
        if self.flat:
            return ""
        if len(self.windows) < 2 * SPAN:
            return f"only {len(self.windows)} windows were seen"
        cpu, throughput = self.changes()
        return (
            f"after {self.seconds:.0f} s, server CPU per operation still changed by {cpu:.1%} and "
            f"throughput by {throughput:.1%} over {SPAN} windows (bound {self.bound:.1%})"
        )


@dataclass
class Calm:
    """Follows the JIT compiler under a gentle load and says when it has little left to do."""

    window: float
    nodes: int
    seconds: float = 0.0
    operations: int = 0
    flat: bool = False
    _start: float | None = None
    _begin: tuple[float, float] | None = None

    def reading(
        self, t: float, operations: int, cpu_s: float, compiler_s: float | None = None
    ) -> None:
        """As Warmth.reading. If the compiler cannot be seen, the gentle load runs its full time."""
        if self._start is None:
            self._start = t
        self.seconds = t - self._start
        self.operations = operations
        if compiler_s is None:
            return
        if self._begin is None:
            self._begin = (t, compiler_s)
            return
        since, used = self._begin
        if t - since >= self.window - JITTER_S:
            self.flat = (compiler_s - used) / (t - since) < QUIET * self.nodes
            self._begin = (t, compiler_s)


def _change(before: Sequence[float], last: Sequence[float]) -> float:
    earlier = sum(before) / len(before)
    return abs(sum(last) / len(last) / earlier - 1.0) if earlier else float("inf")
