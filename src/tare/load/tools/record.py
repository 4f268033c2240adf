"""A tool's result in the format of Tare's own client: the histogram log and the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import LoadError
from tare.load.tools.call import SEE_LOG
from tare.records.hlog import Latencies, read_hlog

if TYPE_CHECKING:
    from tare.load.tools.call import Lines, ToolOutcome
    from tare.load.tools.watch import Use

LOST_SHARE = 0.02
"""Largest share of a tool's printed operations that may be missing from its histograms."""
SATURATED = 0.9
"""Share of a core (for a thread), or of the tool's CPUs, at which the tool is the limit."""


def write_log(path: Path, histograms: list[Lines], start_unix: float, scheduled: bool) -> None:
    """Write the histograms as Tare's own client does: tags OP-st and OP-rt, nanoseconds.

    In a closed loop both times are the same: a tool that writes one of them means both.
    """
    kinds: dict[str, set[str]] = {}
    for one in histograms:
        kinds.setdefault(one.operation, set()).add(one.kind)
    text = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_unix:.3f} (seconds since epoch)]",
        f"#[BaseTime: {start_unix:.3f} (seconds since epoch)]",
        "#[Unit: nanoseconds]",
    ]
    for one in histograms:
        own = {one.kind} if scheduled or len(kinds[one.operation]) > 1 else {"st", "rt"}
        if scheduled and kinds[one.operation] == {"st"}:
            own = {"st", "rt"}
        text += [f"Tag={one.operation}-{kind},{line}" for line in one.lines for kind in sorted(own)]
    path.write_text("\n".join(text) + "\n", encoding="ascii")


def result(
    specification: dict[str, Any],
    outcome: ToolOutcome,
    use: Use,
    start_unix: float,
    version: str,
    timed: float | None = None,
) -> dict[str, Any]:
    """The event with which a load client ends.

    Args:
        specification: as tare-load would get it.
        outcome: the tool's output.
        use: CPU that it used.
        start_unix: when the measured part began.
        version: name and version of the tool.
        timed: length of the measured part, if the tool's own run time differs; seconds.

    Raises:
        LoadError: the histograms hold too few or too many of the operations that were printed.
    """
    reading = outcome.reading
    totals = read_hlog(Path(specification["hlog"])).totals
    operations = [
        _operation(name, totals, reading.errors_by_kind, outcome.failures_inside)
        for name in sorted({tag.rpartition("-")[0] for tag in totals})
    ]
    ok = sum(one["ok"] for one in operations)
    held = sum(one["held"] for one in operations)
    printed = reading.operations if reading.operations is not None else held
    if not ok:
        raise LoadError(
            "no operation of the tool succeeded",
            where=version,
            why=", ".join(f"{kind}: {n:,}" for kind, n in reading.errors_by_kind.items()),
            remedy=SEE_LOG,
        )
    if abs(held - printed) > LOST_SHARE * max(held, printed):
        raise LoadError(
            "the tool's result contradicts itself",
            where=version,
            why=f"its histograms hold {held:,} operations, it printed {printed:,}",
            remedy=SEE_LOG,
        )
    seconds = timed or reading.seconds or use.seconds
    errors = int(reading.values.get("errors", 0))
    # some tools' rates count failures, or the time to connect
    own = not errors and timed is None
    throughput = reading.values["throughput"] if own else ok / seconds
    reasons = _limits(use)
    return {
        "event": "result",
        "client": specification["client"],
        "tool": version.partition(" ")[0],
        "hlog": specification["hlog"],
        "measured_s": seconds,
        "start_unix": start_unix,
        "ok": ok,
        "errors": errors,
        "throughput": throughput,
        "operations": [{k: v for k, v in one.items() if k != "held"} for one in operations],
        "errors_by_kind": reading.errors_by_kind,
        # the last reading of a process that has ended is up to a second old
        "cpu_us_per_op": use.cores * seconds * 1e6 / ok,
        "cpu_share": use.busiest,
        "send_lateness_p99_us": None,
        "rate_error": _rate_error(specification["rate"], throughput),
        "saturated": bool(reasons),
        "saturation_reasons": reasons,
        "version": version,
    }


def _operation(
    name: str, totals: dict[str, Latencies], errors: dict[str, int], failures_inside: bool
) -> dict[str, Any]:
    response = totals.get(f"{name}-rt") or totals[f"{name}-st"]
    service = totals.get(f"{name}-st") or response
    failed = errors.get(f"{name.lower()} failed", 0)
    return {
        "operation": name,
        "held": response.total,
        "ok": max(response.total - failed, 0) if failures_inside else response.total,
        "errors": failed,
        "service_mean_us": service.mean_us() or 0.0,
        "response_mean_us": response.mean_us() or 0.0,
    }


def _limits(use: Use) -> list[str]:
    """Why the tool itself was probably the limit, as seen from outside."""
    found = []
    if use.busiest >= SATURATED:
        found.append(f"its busiest thread used {use.busiest:.0%} of a core")
    used = use.cores / use.cpus
    if used >= SATURATED:
        found.append(f"it used {used:.0%} of the {use.cpus} CPUs that it may use")
    return found


def _rate_error(asked: float | None, achieved: float) -> float | None:
    return None if not asked else achieved / asked - 1
