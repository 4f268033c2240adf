"""Why conditions that a finding needs have no values in a run: left out, not selected, failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import first_of, listing
from tare.knowledge.replication.matching import names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.knowledge.replication.matching import Pair
    from tare.knowledge.replication.measured import MeasuredRun

MOST_NAMED = 3


def why_missing(metric: str, pairs: Sequence[Pair], run: MeasuredRun) -> str:
    """The reason why none of the pairs could be compared."""
    names = names_in(pairs)
    done = {trial.condition for trial in run.trials}
    missing = [name for name in names if name not in done]
    if not missing:
        return f"no such measurement: {metric}"
    left_out = {one.condition: one.why for one in run.analysis.left_out}
    reasons = list(dict.fromkeys(left_out[name] for name in missing if name in left_out))
    if reasons:
        return f"left out: {'; '.join(reasons)}"
    present = {one.condition for one in run.analysis.conditions}
    absent = [name for name in missing if name not in present]
    if absent:
        said = levels_missing([(name, name) for name in absent], [(n, n) for n in done], run)
        return f"not in this run: {said or first_of(absent, MOST_NAMED)}"
    return f"no trial was done of {first_of(missing, MOST_NAMED)}"


def levels_missing(missing: Sequence[Pair], measured: Sequence[Pair], run: MeasuredRun) -> str:
    """The levels that all measured conditions lack, and missing ones have: compaction twcs."""
    lost, have = _levels(missing, run), _levels(measured, run)
    gone = {
        factor: [level for level in levels if level in lost[factor] - have[factor]]
        for factor, levels in run.study.factors.items()
    }
    return ", ".join(f"{factor} {listing(levels)}" for factor, levels in gone.items() if levels)


def _levels(pairs: Iterable[Pair], run: MeasuredRun) -> dict[str, set[str]]:
    """Factor to its levels in these conditions: a name is its levels, joined by dots."""
    found: dict[str, set[str]] = {factor: set() for factor in run.study.factors}
    for name in names_in(pairs):
        for factor, level in zip(found, name.split("."), strict=False):
            found[factor].add(level)
    return found
