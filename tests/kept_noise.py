"""A pilot of this machine as `tare doctor --noise` keeps it, with chosen numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine, keep
from tare.records.noise import MetricNoise, Noise

if TYPE_CHECKING:
    from pathlib import Path


def metric(per_pass: float, sd: float = 0.09) -> MetricNoise:
    return MetricNoise(
        sd=sd, correlations={1: 0.73, 10: 0.5, 40: None}, per_pass=per_pass, df=100.0
    )


def pilot(per_pass: float = 0.02, **changed: Any) -> Noise:
    """A pilot from three hours ago, on this machine, in slices of 250 ms."""
    fields: dict[str, Any] = {
        "made": datetime.now(UTC) - timedelta(hours=3, minutes=5),
        "machine": MeasuredMachine.of(local_facts()),
        "seconds": 59.87,
        "servers": 3,
        "slices": 59,
        "slice_s": 0.25,
        "drain_s": 0.03,
        "pinned": True,
        "frozen": True,
        "idle_cpus": "poll",
        "late": 0,
        "steal": 0.031,
        "other_cores": 0.02,
        "metrics": {"service_demand": metric(per_pass), "throughput": metric(2 * per_pass)},
    }
    return Noise(**(fields | changed))


def keep_pilot(cache: Path, per_pass: float = 0.02, **changed: Any) -> Noise:
    """Write it where `tare plan` looks for it."""
    noise = pilot(per_pass, **changed)
    keep(noise, cache)
    return noise
