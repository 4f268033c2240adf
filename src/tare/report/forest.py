"""The forest plot: per metric, every treatment's effect with interval, margin and noise floor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers, words
from tare.report.escaping import plain
from tare.report.extent import drawn_effects, drawn_pairs
from tare.report.labels import sides
from tare.report.svg import Panel, add, describe, label, number, panel
from tare.report.track import draw_axis, draw_bands, draw_estimate, drawable, effect_scale

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from tare.analysis.model import Analysis, Effect, Metric
    from tare.report.scales import Scale

WIDTH = 360
_TOP, _ROW, _AXIS, _SIDE = 50, 70, 22, 14
# Inside a row: base lines of its two lines of text, and its track.
_NAME, _VERDICT, _TRACK, _TRACK_HEIGHT = 13, 28, 35, 22


def forest_panels(analysis: Analysis) -> list[Panel]:
    """One drawing per metric that has effects: primary ones, then the usual, then the others."""
    place = {c.condition: i for i, c in enumerate(analysis.conditions)}
    # the page's script identifies an effect by its place in the analysis
    places = {id(e): i for i, e in enumerate(analysis.effects)}
    panels = []
    for drawn in drawn_effects(analysis):
        effects = [e for i in drawn.places if drawable(e := analysis.effects[i])]
        effects.sort(key=lambda e: (not e.aa, place.get(e.treatment, len(place))))
        title = plain(drawn.metric.title) + (", level by level" if drawn.single else "")
        if effects:
            panels.append(_draw(analysis, drawn.metric, title, effects, places))
    return panels


def averages_shown(analysis: Analysis, at_most: int) -> int:
    """How many drawings stand first: those of the averages, where single levels follow."""
    drawn = drawn_effects(analysis)
    return min(at_most, sum(not one.single for one in drawn))


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
    scale = effect_scale(effects, floors, (_SIDE, WIDTH - _SIDE))
    bottom = height - _AXIS
    label(drawing.root, 0, 16, title, "title", length=44)
    _directions(drawing.root, metric)
    for row, effect in enumerate(effects):
        top = _TOP + row * _ROW
        group = add(drawing.root, "g", "row")
        group.set("data-m", f"e{places[id(effect)]}")
        add(group, "rect", "area", x=0, y=top, width=WIDTH, height=_ROW - 6)
        draw_bands(group, scale, margins, floors, (top + _TRACK, WIDTH, _TRACK_HEIGHT))
        _row(group, analysis, effect, scale, top)
    draw_axis(add(drawing.root, "g", "foot"), scale, bottom, WIDTH)
    return drawing


def _directions(root: ET.Element, metric: Metric) -> None:
    better_right = metric.better == "higher"
    left, right = ("worse", "better") if better_right else ("better", "worse")
    label(root, 0, 34, f"\u2190 {left}", "small muted")
    label(root, WIDTH, 34, f"{right} \u2192", "small muted end")


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
    draw_estimate(group, effect, scale, y)
