"""One-second series of a trial in windows of 30 s, or in equal parts of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tare.study.metric_names import SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.model import Series

Values = list[float | None]

FROM_SERIES = {
    "throughput": ("throughput", 1.0),
    "all.p99": ("p99", 1.0),
    "disk.write_kbps": ("disk_write", 1e-3),
}
"""Metric to the series that shows it over time, and the factor between their units."""
PAPER_WINDOW_S = 30.0
LEAST_WINDOWS, USUAL_WINDOWS = 4, 10


def series_values(series: Series, metric: str, values: Mapping[str, float]) -> Values | None:
    """The metric second by second, in its own unit; None where the records have no such series.

    Args:
        values: the trial's metrics. `cpu.util` follows from the busy cores and from the number of
            cores that a `cpu.util` of 100% means, which does not change during a trial. So does the
            use of the servers' CPUs, from the busy cores that no client used.
    """
    if metric in ("cpu.util", SERVER_UTIL):
        busy = series.values.get("machine_cpu")
        if metric == SERVER_UTIL:
            busy = _less(busy, series.values.get("client_cpu"))
        known = [v for v in busy or [] if v is not None]
        whole = values.get(metric, 0.0)
        if not busy or not known or whole <= 0 or not any(known):
            return None
        factor = whole / float(np.mean(known))
    elif metric in FROM_SERIES:
        name, factor = FROM_SERIES[metric]
        busy = series.values.get(name)
    else:
        return None
    if busy is None or all(v is None for v in busy):
        return None
    return [None if v is None else v * factor for v in busy]


def _less(whole: Values | None, part: Values | None) -> Values | None:
    """The difference, second by second, where both are there."""
    if whole is None or part is None:
        return None
    pairs = zip(whole, part, strict=True)
    return [None if a is None or b is None else a - b for a, b in pairs]


def window_length(longest_s: float, asked: float | None) -> float:
    """The window asked for; else 30 s as in the papers, or a tenth of a short measured part."""
    if asked is not None:
        return asked
    if longest_s >= LEAST_WINDOWS * PAPER_WINDOW_S:
        return PAPER_WINDOW_S
    return float(max(1, round(longest_s / USUAL_WINDOWS)))


def in_windows(values: Sequence[float | None], length: float) -> Values:
    """The mean of each whole window of `length` seconds; value k is the second that ends at k."""
    count = int(len(values) / length + 1e-9)
    return _means(values, [min(int((k + 0.5) / length), count) for k in range(len(values))], count)


def in_parts(values: Sequence[float | None], parts: int) -> Values:
    """The mean of each of `parts` equal parts of the whole."""
    total = len(values)
    return _means(values, [int((k + 0.5) * parts / total) for k in range(total)], parts)


def _means(values: Sequence[float | None], place: Sequence[int], count: int) -> Values:
    """Means by place; values in no whole window (place = count) are left out."""
    found: list[list[float]] = [[] for _ in range(count)]
    for value, at in zip(values, place, strict=True):
        if value is not None and at < count:
            found[at].append(value)
    return [float(np.mean(own)) if own else None for own in found]
