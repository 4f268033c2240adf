"""What changed together with an effect: CPU time in its parts, and counts per operation.

Service demand, the CPU time per operation, divides into parts that add up, and so does its change.
A part's share in that change is arithmetic. Everything else changed beside the effect and may not
be the cause. Decision 0007 has the reasons and the limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.catalogue import OTHERS, OWNERS, SERVICE_DEMAND, describe, in_beside_order
from tare.analysis.inference.contrast_estimates import logs_of
from tare.analysis.model import BesideChange, CostPart, CostSplit, CountChange, Why
from tare.analysis.why.changes import Differences, correlation, share, tables_of
from tare.analysis.why.explanation import explain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from tare.analysis.inference.contrast_estimates import Rules
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.estimates import Cell, Logs
    from tare.analysis.model import Metric
    from tare.analysis.trials import Trial
    from tare.analysis.why.changes import CountDifference

LEAST_PAIRS = 8
"""With fewer pairs less rounds no correlation is given: with 8, |r| must exceed 0.67 to be beyond
chance at 5% (t with 7 degrees of freedom)."""
CORRELATED = ("all.mean", "all.p99")
"""Latencies that counts are correlated with. Not throughput: it is the denominator of every count
per operation, and would correlate with all of them by construction (Pearson 1897)."""


@dataclass(frozen=True)
class _Kind:
    by: Literal["mode", "unit", "thread"]
    whole: Metric
    parts: tuple[str, ...]


KINDS = (
    _Kind(
        "unit",
        describe(SERVICE_DEMAND),
        (*OWNERS, OTHERS),
    ),
    _Kind(
        "mode",
        describe(SERVICE_DEMAND),
        ("cpu.user_per_op", "cpu.system_per_op", "cpu.softirq_per_op", "cpu.background_per_op"),
    ),
    _Kind(
        "thread",
        describe("cpu.server_per_op"),
        (
            "cpu.requests_per_op",
            "cpu.network_per_op",
            "cpu.gc_per_op",
            "cpu.compaction_per_op",
            "cpu.flush_per_op",
            "cpu.jit_per_op",
        ),
    ),
)
"""The divisions of a CPU time per operation. The parts of each add up to the whole."""


def make_why(trials: Sequence[Trial], contrasts: Contrasts, rules: Rules) -> list[Why]:
    """What changed with each treatment; nothing for averages over conditions.

    Trials without samples, counters and CPU times cannot show it; their treatments are absent.
    """
    tables = tables_of(trials)
    for kind in KINDS:  # a whole is the sum of its parts, where all of them are known
        tables[kind.by] = _added([tables.get(name, {}) for name in kind.parts])
    differences = {name: Differences(t, contrasts, rules) for name, t in tables.items()}
    logs = {name: _positive(table) for name, table in tables.items()}
    measured_logs = logs_of(trials)
    latencies = {name: measured_logs.get(name, {}) for name in CORRELATED}
    found = []
    for contrast in contrasts.of:
        if contrast.rows:
            continue
        measured = {n: d for n, own in differences.items() if (d := own.of(contrast)) is not None}
        splits = [s for kind in KINDS if (s := _split(kind, measured)) is not None]
        names = in_beside_order(measured.keys() - {kind.by for kind in KINDS})
        beside = [
            _beside(n, measured[n], len(names), _correlations(contrast, logs[n], latencies))
            for n in names
        ]
        if not beside:
            continue
        any_of = next(iter(measured.values()))
        one = Why(
            baseline=contrast.baseline,
            treatment=contrast.treatment,
            aa=contrast.aa,
            conditional=any_of.conditional,
            units=any_of.units,
            unit_of_analysis=any_of.unit,
            splits=splits,
            beside=beside,
            sentences=[],
        )
        found.append(one.model_copy(update={"sentences": explain(one)}))
    return found


def _added(tables: Sequence[Logs]) -> Logs:
    """Sums per condition and block, where every table has a value."""
    first, *rest = tables
    total: Logs = {}
    for condition, cells in first.items():
        others = [table.get(condition, {}) for table in rest]
        total[condition] = {
            cell: value + sum(other[cell] for other in others)
            for cell, value in cells.items()
            if all(cell in other for other in others)
        }
    return {condition: cells for condition, cells in total.items() if cells}


def _split(kind: _Kind, measured: Mapping[str, CountDifference]) -> CostSplit | None:
    if kind.by not in measured or any(name not in measured for name in kind.parts):
        return None
    whole = measured[kind.by]
    # without parts that nobody used, such as the engine's where there is none
    names = [name for name in kind.parts if any(measured[name].sides)]
    parts = []
    for name in names:
        part = measured[name]
        one = share(part, whole) if whole.clear() else None
        plain = part.value / whole.value if whole.clear() else None
        parts.append(
            CostPart(
                **_change(describe(name), part, len(names)),
                share=plain,
                share_ci=one[1:] if one else None,
            )
        )
    return CostSplit(by=kind.by, whole=CountChange(**_change(kind.whole, whole, 1)), parts=parts)


def _change(metric: Metric, found: CountDifference, listed: int) -> dict[str, Any]:
    return {
        "metric": metric,
        "baseline": found.sides[0],
        "treatment": found.sides[1],
        "difference": found.value,
        "ci": found.interval(),
        "clear": found.clear(listed),
    }


def _beside(
    name: str, found: CountDifference, listed: int, correlations: dict[str, float]
) -> BesideChange:
    base, treated = found.sides
    return BesideChange(
        **_change(describe(name), found, listed),
        ratio=treated / base if base > 0 and treated > 0 else None,
        correlation=correlations,
    )


def _correlations(
    contrast: Contrast, logs: Logs, latencies: Mapping[str, Logs]
) -> dict[str, float]:
    own = _pairs(contrast, logs)
    found = {
        name: correlation(own, _pairs(contrast, table), LEAST_PAIRS)
        for name, table in latencies.items()
    }
    return {name: r for name, r in found.items() if r is not None}


def _pairs(contrast: Contrast, logs: Logs) -> dict[Cell, float]:
    base, treated = logs.get(contrast.baseline, {}), logs.get(contrast.treatment, {})
    return {cell: treated[cell] - base[cell] for cell in base.keys() & treated.keys()}


def _positive(table: Logs) -> Logs:
    return {
        condition: {cell: math.log(value) for cell, value in cells.items() if value > 0}
        for condition, cells in table.items()
    }
