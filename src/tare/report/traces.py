"""The trials behind every number, so that a reader can go back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis, Effect


def levels_apart(analysis: Analysis, effect: Effect) -> tuple[dict[str, str], dict[str, str]]:
    """The treatment's levels that differ from the baseline's, and the levels that both have.

    Factors with one level in all conditions are in neither. In an averaged effect, the names of
    both sides are their levels joined by dots.
    """
    levels = {c.condition: c.levels for c in analysis.conditions}
    own = levels.get(effect.treatment, effect.levels)
    other = levels.get(effect.baseline)
    if other is None:
        parts = effect.baseline.split(".")
        whole = len(parts) == len(effect.levels)
        other = dict(zip(effect.levels, parts, strict=True)) if whole else {}
        own = effect.levels
    own = {factor: level for factor, level in own.items() if factor not in effect.over}
    differing = {f: level for f, level in own.items() if other.get(f) != level}
    if not other and effect.factor in own:
        differing = {effect.factor: own[effect.factor]}
    held = {f: level for f, level in own.items() if f not in differing and _varies(levels, f)}
    return differing, held


def _varies(levels: Mapping[str, Mapping[str, str]], factor: str) -> bool:
    found: set[str | None] = set()
    for own in levels.values():
        found.add(own.get(factor))
        if len(found) > 1:
            return True
    return not found


def effect_trials(analysis: Analysis) -> list[list[int]]:
    """Per effect, the places in `analysis.trials` of the trials that entered it."""
    done = [(i, t) for i, t in enumerate(analysis.trials) if t.status == "done"]
    levels = {c.condition: c.levels for c in analysis.conditions}
    by_condition: dict[str, list[int]] = {}
    for i, trial in done:
        by_condition.setdefault(trial.condition, []).append(i)
    sides: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    found = []
    for effect in analysis.effects:
        rows: set[int] = set()
        for side in (effect.baseline, effect.treatment):
            key = side, tuple(effect.levels)
            if key not in sides:
                names = effect.conditions_of(side, levels)
                sides[key] = [i for name in names for i in by_condition.get(name, [])]
            rows.update(sides[key])
        cells = set() if effect.over else {(p.round, p.block) for p in effect.pairs}
        found.append(
            sorted(
                i
                for i in rows
                if not cells or (analysis.trials[i].round, analysis.trials[i].block) in cells
            )
        )
    return found
