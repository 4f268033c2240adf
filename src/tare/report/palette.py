"""One colour per condition, the same in every figure and table; the baseline is neutral."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report.words import reference

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

# Number of coloured classes (.c1 to .c6) in figure.css; .c0 is the neutral one. Further conditions
# repeat the colours with another dash pattern (.d1, .d2), so that no two look alike by hue alone.
HUES = 6
DASHES = 3


def condition_classes(analysis: Analysis) -> dict[str, str]:
    """Condition name to CSS classes. An A/A repetition has its original's colour, dashed."""
    classes = {reference(analysis): "c0"}
    repeated = {c.condition: c.aa_of for c in analysis.conditions if c.aa_of is not None}
    names = [c.condition for c in analysis.conditions]
    names += [t.condition for t in analysis.trials] + [d.condition for d in analysis.distributions]
    names += [e.baseline for e in analysis.effects] + [e.treatment for e in analysis.effects]
    names += [s.condition for s in analysis.series]
    used = 0
    for name in names:
        if name in classes or name in repeated:
            continue
        dash = used // HUES % DASHES
        classes[name] = f"c{used % HUES + 1}" + (f" d{dash}" if dash else "")
        used += 1
    for name, original in repeated.items():
        hue = classes.get(original or "", "c0").split()[0]
        classes.setdefault(name, f"{hue} again")
    return classes
