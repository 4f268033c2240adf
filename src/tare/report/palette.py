"""One colour per condition, the same in every figure and table; the baseline is neutral."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tare.report.words import reference

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Exhibit

# Number of coloured classes (.c1 to .c6) in figure.css; .c0 is the neutral one. Further conditions
# repeat the colours with another dash pattern (.d1 to .d4), so that no two look alike by hue alone.
HUES = 6
DASHES = 5


def condition_classes(analysis: Analysis) -> dict[str, str]:
    """Condition name to CSS classes. An A/A repetition has its original's colour, dashed.

    Where exhibits draw treatments as lines, a line's conditions, and the average over them, have
    the line's colour. So a treatment has one colour on the whole page. Conditions of one colour
    differ by their dashes.
    """
    places = _places(analysis)
    conditions = {c.condition for c in analysis.conditions}
    first = reference(analysis)
    classes = {first: "c0"}
    repeated = {c.condition: c.aa_of for c in analysis.conditions if c.aa_of is not None}
    names = [c.condition for c in analysis.conditions]
    names += [t.condition for t in analysis.trials] + [d.condition for d in analysis.distributions]
    names += [e.baseline for e in analysis.effects] + [e.treatment for e in analysis.effects]
    names += [s.condition for s in analysis.series]
    used = 0
    alike: Counter[int] = Counter({0: 1})  # conditions of each treatment's colour
    for name in names:
        if name in classes or name in repeated:
            continue
        if name in places:
            hue = places[name] % (HUES + 1)
            dash = alike[hue] % DASHES if name in conditions else 0
            alike[hue] += name in conditions
        else:
            hue, dash = used % HUES + 1, used // HUES % DASHES
            used += 1
        classes[name] = f"c{hue}" + (f" d{dash}" if dash else "")
    for name, original in repeated.items():
        own = classes.get(original or "", "c0").split()[0]
        classes.setdefault(name, f"{own} again")
    return classes


def _places(analysis: Analysis) -> dict[str, int]:
    """Conditions, and averages over conditions, to the place of their line in the exhibits."""
    levels = {c.condition: c.levels for c in analysis.conditions}
    sides = {
        name: effect.conditions_of(name, levels)
        for effect in analysis.effects
        if not effect.aa
        for name in (effect.baseline, effect.treatment)
    }
    compared = {(e.baseline, e.treatment) for e in analysis.effects if not e.aa}
    found: dict[str, int] = {}
    for exhibit in analysis.exhibits:
        lines = _lines(exhibit)
        own = {name: {lines[one] for one in side if one in lines} for name, side in sides.items()}
        # lines that are not the treatments, such as numbers of threads, have looks of their own
        if lines and not any(own[base] & own[treated] for base, treated in compared):
            for name, place in lines.items():
                found.setdefault(name, place)
    for name, side in sides.items():
        places = {found[one] for one in side if one in found}
        if len(places) == 1:
            found.setdefault(name, places.pop())
    return found


def _lines(exhibit: Exhibit) -> dict[str, int]:
    """Condition to the place of the line that shows it."""
    return {
        name: layer.place
        for chart in exhibit.charts
        for layer in chart.layers
        if layer.place is not None
        for names in layer.conditions
        for name in names
    }
