"""Names of metrics as a study writes them: kinds, operations, margins, which are primary."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS = ("mean", "p50", "p95", "p99", "p999", "max")
"""Kinds of latency; a margin on one stands for that of every operation."""
SHAPES = ("skewness", "kurtosis")
"""Higher moments of an operation's latencies: shown where an exhibit asks for them, no ratio."""
SERVER_UTIL = "cpu.server_util"
"""The CPU of the servers' machines as a user there sees it: sar and dstat of the papers."""
OPERATIONS = ("read", "update", "insert", "scan", "rmw", "write", "counter_read", "counter_write")
OF_THE_MACHINE = (
    "service_demand",
    "cpu.server_per_op",
    "cpu.engine_per_op",
    "cpu.client_per_op",
    SERVER_UTIL,
    "cpu.util",
    "cpu.softirq",
    "disk.write_kbps",
)
"""Metrics of CPUs and disks in Tare's own trials."""
PRIMARY = ("service_demand", "throughput", "all.p99")
"""Primary metrics of a study that names none, where a margin is declared for them."""


def margin_of(name: str, margins: Mapping[str, float]) -> float | None:
    """The declared margin, a fraction: the metric's own, else its kind's (read.p99: p99)."""
    if name in margins:
        return margins[name]
    operation, _, kind = name.rpartition(".")
    return margins.get(kind) if operation and kind in KINDS else None


def primary_metrics(margins: Mapping[str, float], named: Sequence[str] = ()) -> list[str]:
    """The primary metrics: those that the study names, else the usual ones with a margin."""
    return list(named) or [name for name in PRIMARY if margin_of(name, margins) is not None]


def secondary_margins(margins: Mapping[str, float], primary: Sequence[str]) -> list[str]:
    """The margins that no primary metric uses: a metric's own, or a kind of latency."""
    used = {name if name in margins else name.rpartition(".")[2] for name in primary}
    return [name for name in margins if name not in used]


def lowered(title: str) -> str:
    """A metric's title inside a sentence: 'Throughput' is 'throughput', 'CPU in use' stays."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
