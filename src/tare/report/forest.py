"""The forest plot: per metric, every treatment's effect with interval, margin and noise floor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers, words
from tare.report.escaping import plain
from tare.report.extent import drawn_effects, drawn_pairs
from tare.report.labels import sides
from tare.report.scales import Scale, change_ticks
from tare.report.svg import Panel, add, describe, label, number, panel, tooltip

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from tare.analysis.model import Analysis, Effect, Metric

WIDTH = 360
_TOP, _ROW, _AXIS, _SIDE = 50, 70, 22, 14
# Inside a row: base lines of its two lines of text, and its track.
_NAME, _VERDICT, _TRACK, _TRACK_HEIGHT = 13, 28, 35, 22
# An interval wider than this many times the largest estimate, margin or floor is cut, with an
# arrow: otherwise one hopeless effect makes all others unreadable.
_CUT = 3.0
_LABEL = 44  # least distance of two labels of the axis


def forest_panels(analysis: Analysis) -> list[Panel]:
    """One drawing per metric that has effects: primary ones, then the usual, then the others."""
    place = {c.condition: i for i, c in enumerate(analysis.conditions)}
    # by its place in the analysis the page's script knows an effect
    places = {id(e): i for i, e in enumerate(analysis.effects)}
    panels = []
    for drawn in drawn_effects(analysis):
        effects = [e for i in drawn.places if _drawable(e := analysis.effects[i])]
        effects.sort(key=lambda e: (not e.aa, place.get(e.treatment, len(place))))
        title = plain(drawn.metric.title) + (", level by level" if drawn.single else "")
        if effects:
            panels.append(_draw(analysis, drawn.metric, title, effects, places))
    return panels


def averages_shown(analysis: Analysis, at_most: int) -> int:
    """How many drawings stand first: those of the averages, where single levels follow."""
    drawn = drawn_effects(analysis)
    return min(at_most, sum(not one.single for one in drawn))


def _drawable(effect: Effect) -> bool:
    return math.isfinite(effect.ratio) and effect.ratio > 0


def _draw(
    analysis: Analysis, metric: Metric, title: str, effects: list[Effect], places: dict[int, int]
) -> Panel:
    height = _TOP + _ROW * len(effects) + _AXIS
    drawing = panel(f"Effects on {title}", WIDTH, height)
    drawing.root.set("data-row", str(_ROW))  # the script moves rows up when some are hidden
    says = (
        f"{e.treatment} over {e.baseline}: {numbers.change(e.ratio)} {numbers.interval(e.ci)}, "
        f"{e.verdict}"
        for e in effects
    )
    describe(drawing.root, "; ".join(says))
    margins = [e.margin for e in effects if e.margin is not None]
    floors = [f.floor for f in analysis.noise_floor if f.metric == metric.name]
    scale = _scale(effects, margins, floors)
    bottom = height - _AXIS
    label(drawing.root, 0, 16, title, "title", length=44)
    _directions(drawing.root, metric)
    for row, effect in enumerate(effects):
        top = _TOP + row * _ROW
        group = add(drawing.root, "g", "row")
        group.set("data-m", f"e{places[id(effect)]}")
        add(group, "rect", "area", x=0, y=top, width=WIDTH, height=_ROW - 6)
        _bands(group, scale, margins, floors, top + _TRACK)
        _row(group, analysis, effect, scale, top)
    _axis(add(drawing.root, "g", "foot"), scale, bottom)
    return drawing


def _scale(effects: list[Effect], margins: list[float], floors: list[float]) -> Scale:
    reach = [abs(math.log(e.ratio)) for e in effects]
    reach += [abs(math.log1p(-m)) for m in margins if m < 1] + [math.log1p(f) for f in floors]
    limit = _CUT * max([*reach, 0.01])
    ends = [math.log(x) for e in effects for x in e.ci if math.isfinite(x) and x > 0]
    ends += [math.log(p.ratio) for e in effects for p in e.pairs if p.ratio > 0]
    ends += [math.log1p(s * m) for m in margins for s in (1.0, -1.0) if m < 1]
    ends += [s * math.log1p(f) for f in floors for s in (1.0, -1.0)]
    low, high = min([*ends, -0.005]), max([*ends, 0.005])
    pad = 0.04 * (high - low)
    return Scale(max(low - pad, -limit), min(high + pad, limit), _SIDE, WIDTH - _SIDE)


def _directions(root: ET.Element, metric: Metric) -> None:
    better_right = metric.better == "higher"
    left, right = ("worse", "better") if better_right else ("better", "worse")
    label(root, 0, 34, f"\u2190 {left}", "small muted")
    label(root, WIDTH, 34, f"{right} \u2192", "small muted end")


def _bands(
    root: ET.Element, scale: Scale, margins: list[float], floors: list[float], top: float
) -> None:
    """The track of one row: grid, the margin as a filled band, the floor as dashed lines."""
    bottom = top + _TRACK_HEIGHT
    track = add(root, "rect", "track", x=0, y=top, width=WIDTH, height=_TRACK_HEIGHT, rx=2)
    track.set("aria-hidden", "true")
    if margins and margins[0] < 1:
        left, right = scale(math.log1p(-margins[0])), scale(math.log1p(margins[0]))
        band = add(root, "rect", "margin", x=left, y=top, width=right - left, height=bottom - top)
        tooltip(band, f"margin: within {numbers.share(margins[0])} counts as equivalent")
    for tick in change_ticks(scale.low, scale.high):
        x = scale(math.log(tick))
        add(root, "line", _tick_class(tick), x1=x, x2=x, y1=top, y2=bottom)
    if floors:
        for sign in (1.0, -1.0):
            end = sign * math.log1p(max(floors))
            if scale.holds(end):
                x = scale(end)
                line = add(root, "line", "floor", x1=x, x2=x, y1=top, y2=bottom)
                tooltip(line, f"noise floor: {numbers.share(max(floors))} (A/A pairs)")


def _axis(root: ET.Element, scale: Scale, bottom: float) -> None:
    taken: list[float] = []
    for tick in sorted(change_ticks(scale.low, scale.high), key=lambda t: abs(t - 1)):
        x = scale(math.log(tick))
        if any(abs(x - other) < _LABEL for other in taken):
            continue
        taken.append(x)
        text = numbers.change(tick).replace(".0%", "%")
        place = "start" if x < 20 else "end" if x > WIDTH - 20 else "middle"
        at = 0 if place == "start" else WIDTH if place == "end" else x
        label(root, at, bottom + 12, text, f"small muted {place}")


def _tick_class(tick: float) -> str:
    return "zero" if abs(tick - 1) < 1e-9 else "grid"


def _row(root: ET.Element, analysis: Analysis, effect: Effect, scale: Scale, top: float) -> None:
    tone = words.tone(analysis, effect)
    weak = " weak" if effect.verdict != "different" else ""
    group = add(root, "g", f"{tone}{weak}")
    treatment, baseline = sides(analysis, effect)
    name = treatment + (" (A/A)" if effect.aa else "")
    if effect.over and not effect.aa:
        name += ", average"
    label(group, 0, top + _NAME, name, "name", length=26)
    figures = f"{numbers.change(effect.ratio)}  {numbers.interval(effect.ci)}"
    label(group, WIDTH, top + _NAME, figures, "figures end")
    label(group, 0, top + _VERDICT, effect.verdict, "verdict")
    if effect.baseline != words.reference(analysis):
        over = f"over {baseline}"
        label(group, WIDTH, top + _VERDICT, over, "small muted end", length=30)
    y = top + _TRACK + _TRACK_HEIGHT / 2
    dots = [
        f"M{number(scale(math.log(pair.ratio)))} {number(y)}h0"
        for pair in drawn_pairs(effect)
        if pair.ratio > 0 and scale.holds(math.log(pair.ratio))
    ]
    if dots:  # one path with round caps for all of them: a page may have thousands
        add(group, "path", "pairs").set("d", "".join(dots))
    _interval(group, effect, scale, y)
    if scale.holds(math.log(effect.ratio)):
        x = scale(math.log(effect.ratio))
        if effect.aa:
            add(group, "rect", "point", x=x - 4, y=y - 4, width=8, height=8)
        else:
            add(group, "circle", "point", cx=x, cy=y, r=5)


def _interval(group: ET.Element, effect: Effect, scale: Scale, y: float) -> None:
    if any(math.isnan(end) for end in effect.ci):
        return
    ends = [
        -math.inf if end <= 0 else math.inf if math.isinf(end) else math.log(end)
        for end in effect.ci
    ]
    xs = [scale(end) for end in ends]
    add(group, "line", "interval", x1=xs[0], x2=xs[1], y1=y, y2=y)
    for x, end, way in zip(xs, ends, (-1, 1), strict=True):
        if scale.holds(end):
            add(group, "line", "interval", x1=x, x2=x, y1=y - 4, y2=y + 4)
        else:
            arrow = add(group, "path", "arrow")
            arrow.set("d", f"M{x + 8 * way:.1f} {y}l{-8 * way} -4.5v9z")
