"""The record of a deployment's warm-up, over all kinds of load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.records.manifest import WarmUp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.load.flatness import Calm, Warmth


def warm_up_record(calm: Sequence[Calm], full: Sequence[tuple[str, Warmth]]) -> WarmUp:
    """The parts of the warm-up, in the order in which they were run.

    Args:
        calm: the gentle parts, one for each kind of load.
        full: the parts under the full load, with the name of the workload.
    """
    gentle = sum(part.seconds for part in calm)
    windows: list[dict[str, float]] = []
    reasons = []
    before = 0.0
    for workload, warmth in full:
        windows += [
            {
                "t": before + window.t,
                "ops_per_s": window.ops_per_s,
                "server_cpu_us_per_op": window.cpu_us_per_op,
            }
            for window in warmth.windows
        ]
        before += warmth.seconds
        if why := warmth.why_not_flat():
            reasons.append(why if len(full) == 1 else f"{workload}: {why}")
    return WarmUp(
        flat=all(warmth.flat for _, warmth in full) if full else None,
        seconds=gentle + before,
        gentle_seconds=gentle,
        operations=sum(part.operations for part in calm)
        + sum(warmth.operations for _, warmth in full),
        windows=windows,
        reason="; ".join(reasons),
    )
