"""The numbers behind the figures, as one JSON text for the page's script."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from tare.report import timeline
from tare.report.escaping import plain
from tare.report.extent import drawn_effects, drawn_pairs
from tare.report.labels import condition_labels, sides
from tare.report.latency import positions
from tare.report.traces import effect_trials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.analysis.model import Analysis, Distribution, Effect

_DIGITS = 5


def embedded(analysis: Analysis, classes: dict[str, str]) -> str:
    """Compact JSON that can stand inside a script element whatever the names contain.

    Numbers have five significant digits; values that are no numbers are null. Series are thinned to
    the drawn points. Effects, distributions and series have the order of the analysis, because the
    marks of the drawings refer to them by it.
    """
    traces: dict[tuple[int, ...], int] = {}
    rows = [traces.setdefault(tuple(trials), len(traces)) for trials in effect_trials(analysis)]
    metrics = {m.name: i for i, m in enumerate(analysis.metrics)}
    drawn = {i for one in drawn_effects(analysis) for i in one.places}
    points = timeline.points_per_line(analysis)
    labels = condition_labels(analysis)
    place: dict[str, int | str] = {c.condition: i for i, c in enumerate(analysis.conditions)}
    document = {
        "study": plain(analysis.study),
        "run": plain(analysis.run),
        "conditions": [
            {
                "name": plain(c.condition),
                "levels": {plain(f): plain(level) for f, level in c.levels.items()},
                "css": classes.get(c.condition, "c0"),
            }
            | ({"says": labels[c.condition]} if c.condition in labels else {})
            for c in analysis.conditions
        ],
        "metrics": [[plain(m.name), plain(m.title), plain(m.unit)] for m in analysis.metrics],
        "trials": [
            [plain(t.trial), place.get(t.condition, plain(t.condition)), t.round, t.block]
            for t in analysis.trials
        ],
        "traces": list(traces),
        "effects": [
            _effect(e, metrics.get(e.metric, -1), row, i in drawn) | _names(analysis, e)
            for i, (e, row) in enumerate(zip(analysis.effects, rows, strict=True))
        ],
        "series": [
            {
                "trial": plain(s.trial),
                "condition": plain(s.condition),
                "lines": {
                    name: _flat(timeline.drawn_points(s, name, points))
                    for name, _, _ in timeline.STRIPS
                    if name in s.values
                },
                "events": [[_short(a), _short(b), plain(what)] for a, b, what in s.events],
            }
            for s in analysis.series
        ],
        "strips": {name: [title, unit] for name, title, unit in timeline.STRIPS},
        "distributions": [_distribution(d) for d in analysis.distributions],
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":  # nothing in it can end the element or begin a comment
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _names(analysis: Analysis, effect: Effect) -> dict[str, list[str]]:
    """The reader's names of both sides, where they are not the names of their conditions."""
    names = sides(analysis, effect)
    own = plain(effect.treatment), plain(effect.baseline)
    return {} if names == own else {"says": list(names)}


def _effect(effect: Effect, metric: int, trace: int, drawn: bool) -> dict[str, Any]:
    pairs = drawn_pairs(effect) if drawn else []  # only their marks need them
    numbers = (effect.ratio, *effect.ci, effect.baseline_value, effect.treatment_value)
    return {
        "m": metric,
        "name": plain(effect.metric) if metric < 0 else "",
        "b": plain(effect.baseline),
        "t": plain(effect.treatment),
        "l": {plain(f): plain(level) for f, level in effect.levels.items()},
        "over": [plain(f) for f in effect.over],
        "v": effect.verdict,
        "n": [_short(n) for n in numbers],
        "p": _short(effect.p_adjusted if effect.p_adjusted is not None else effect.p),
        "units": [effect.deployments, effect.unit_of_analysis, effect.blocks],
        "pairs": [x for p in pairs for x in (p.round, p.block, _short(p.ratio))],
        "k": trace,
    }


def _distribution(one: Distribution) -> dict[str, Any]:
    return {
        "condition": plain(one.condition),
        "operation": plain(one.operation),
        "kind": one.kind,
        "count": one.count,
        "points": [
            number
            for nines, us in positions(one)
            for number in (_short(100 * (1 - 10**-nines), 9), _short(us))
        ],
    }


def _flat(points: Iterable[tuple[float, float | None]]) -> list[float | int | None]:
    return [number for t, value in points for number in (_short(t), _short(value))]


def _short(value: float | None, digits: int = _DIGITS) -> float | int | None:
    """The value in as few characters as its digits need."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
