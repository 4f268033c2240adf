"""Names for levels and for the two sides of a comparison that a reader understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.host_groups import of_emulated
from tare.report.escaping import plain
from tare.report.traces import levels_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.analysis.model import Analysis, Effect

EMULATED = " (emulated)"
"""behind the name of a side in virtual machines whose processor was QEMU's emulation"""
_WORD = 3
"""A word of at most so many letters (on, off, one) means nothing without its factor."""


def level_name(factor: str, level: str, *, among_others: bool = False) -> str:
    """The level; with its factor if it means nothing without: 'threads 16', 'clusters two'."""
    short = level.isalpha() and len(level) <= _WORD
    alone = level[:1].isalpha() and not short and not among_others
    return plain(level) if alone else f"{plain(factor)} {plain(level)}"


def listed(levels: Mapping[str, str], ambiguous: Iterable[str] = ()) -> str:
    """Levels as one name; a level that several factors have is named with its factor."""
    shared = set(ambiguous)
    names = (level_name(f, level, among_others=level in shared) for f, level in levels.items())
    return ", ".join(names)


def ambiguous_levels(analysis: Analysis) -> set[str]:
    """Levels that several factors have, such as native of client and of server."""
    owner: dict[str, str] = {}
    return {
        level
        for c in analysis.conditions
        for factor, level in c.levels.items()
        if owner.setdefault(level, factor) != factor
    }


def condition_labels(analysis: Analysis) -> dict[str, str]:
    """Conditions to the reader's names: 'client native, server docker, threads 10'.

    Conditions whose levels are clear by themselves keep their names and are not in it. Levels that
    all conditions share are left out.
    """
    shared = ambiguous_levels(analysis)
    bare = any(not level[:1].isalpha() for c in analysis.conditions for level in c.levels.values())
    if not shared and not bare:
        return {name: f"{plain(name)}{EMULATED}" for name in analysis.emulated}
    every = [c.levels for c in analysis.conditions]
    varying = {f for own in every for f in own if len({o.get(f) for o in every}) > 1}
    return {
        c.condition: listed({f: v for f, v in c.levels.items() if f in varying}, shared)
        + (EMULATED if c.condition in analysis.emulated else "")
        for c in analysis.conditions
        if len(c.levels) > 1 or c.condition in analysis.emulated
    }


def sides(analysis: Analysis, effect: Effect) -> tuple[str, str]:
    """Treatment and baseline as a reader says them, each marked where it was emulated."""
    treatment, baseline = _sides(analysis, effect)
    treated, base = effect.levels, _baseline_levels(analysis, effect)
    return (
        treatment + (EMULATED if of_emulated(analysis, effect.treatment, treated) else ""),
        baseline + (EMULATED if of_emulated(analysis, effect.baseline, base) else ""),
    )


def _baseline_levels(analysis: Analysis, effect: Effect) -> Mapping[str, str]:
    """The levels of an effect's baseline; empty: not known."""
    for one in analysis.conditions:
        if one.condition == effect.baseline:
            return one.levels
    parts = effect.baseline.split(".")
    return dict(zip(effect.levels, parts, strict=True)) if len(parts) == len(effect.levels) else {}


def _sides(analysis: Analysis, effect: Effect) -> tuple[str, str]:
    """Treatment and baseline as a reader says them: ('server docker, threads 10', 'native').

    The treatment is named by the levels that differ and those at which it was compared, in the
    order of the study's factors; the baseline by its levels of the factors that differ. In studies
    of one factor both have the names of their conditions.
    """
    names = plain(effect.treatment), plain(effect.baseline)
    if effect.aa or len(effect.levels) < 2:
        return names
    other = _baseline_levels(analysis, effect)
    if not other:
        return names
    differing, held = levels_apart(analysis, effect)
    if not differing or any(factor not in other for factor in differing):
        return names
    shared = ambiguous_levels(analysis)
    base = {factor: other[factor] for factor in differing}
    named = differing | held
    in_order = {f: named[f] for f in {**effect.levels, **named} if f in named}
    return listed(in_order, shared), listed(base, shared)


def pair_names(analysis: Analysis) -> dict[tuple[str, str], tuple[str, str]]:
    """(treatment, baseline) of every effect to the reader's names, see `sides`."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for effect in analysis.effects:
        pair = effect.treatment, effect.baseline
        if pair not in found:
            found[pair] = sides(analysis, effect)
    return found
