"""One effect on a track: margin, noise floor, ticks, interval and estimate, on a scale of logs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.scales import Scale, change_ticks
from tare.report.svg import add, label, tooltip

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Iterable, Sequence

    from tare.analysis.model import Effect

# An interval wider than this many times the largest estimate, margin or floor is cut, with an
# arrow: otherwise one hopeless effect would make all others unreadable.
_CUT = 3.0
_LABEL = 44  # least distance of two labels of the axis
_EDGE = 20  # nearer to an edge, a label stands beside its tick, not below it


def drawable(effect: Effect) -> bool:
    """Whether the effect has a place on a scale of logs."""
    return math.isfinite(effect.ratio) and effect.ratio > 0


def effect_scale(
    effects: Sequence[Effect],
    floors: Sequence[float],
    ends: tuple[float, float],
    *,
    blocks: bool = True,
) -> Scale:
    """The scale on which effects of one metric are compared by eye.

    Args:
        floors: noise floors, as changes.
        ends: the pixels between which it is drawn.
        blocks: whether ratios of single blocks are drawn too.
    """
    margins = [e.margin for e in effects if e.margin is not None]
    reach = [abs(math.log(e.ratio)) for e in effects]
    reach += [abs(math.log1p(-m)) for m in margins if m < 1] + [math.log1p(f) for f in floors]
    limit = _CUT * max([*reach, 0.01])
    found = [math.log(x) for e in effects for x in e.ci if math.isfinite(x) and x > 0]
    if blocks:
        found += [math.log(p.ratio) for e in effects for p in e.pairs if p.ratio > 0]
    found += [math.log1p(s * m) for m in margins for s in (1.0, -1.0) if m < 1]
    found += [s * math.log1p(f) for f in floors for s in (1.0, -1.0)]
    low, high = min([*found, -0.005]), max([*found, 0.005])
    pad = 0.04 * (high - low)
    return Scale(max(low - pad, -limit), min(high + pad, limit), *ends)


def draw_bands(
    root: ET.Element,
    scale: Scale,
    margins: Sequence[float],
    floors: Sequence[float],
    box: tuple[float, float, float],
) -> None:
    """The track: ticks, the margin as a filled band, the floor as dashed lines.

    Args:
        box: top, width and height, in pixels.
    """
    top, width, height = box
    bottom = top + height
    track = add(root, "rect", "track", x=0, y=top, width=width, height=height, rx=2)
    track.set("aria-hidden", "true")
    if margins and margins[0] < 1:
        left, right = scale(math.log1p(-margins[0])), scale(math.log1p(margins[0]))
        band = add(root, "rect", "margin", x=left, y=top, width=right - left, height=height)
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


def draw_axis(root: ET.Element, scale: Scale, bottom: float, width: float) -> None:
    """The labels of the ticks; 0% is the first to get room."""
    taken: list[float] = []
    for tick in _nearest_first(change_ticks(scale.low, scale.high)):
        x = scale(math.log(tick))
        if any(abs(x - other) < _LABEL for other in taken):
            continue
        taken.append(x)
        text = numbers.change(tick).replace(".0%", "%")
        place = "start" if x < _EDGE else "end" if x > width - _EDGE else "middle"
        at = 0 if place == "start" else width if place == "end" else x
        label(root, at, bottom + 12, text, f"small muted {place}")


def _nearest_first(ticks: Iterable[float]) -> list[float]:
    return sorted(ticks, key=lambda tick: abs(tick - 1))


def _tick_class(tick: float) -> str:
    return "zero" if abs(tick - 1) < 1e-9 else "grid"


def draw_estimate(group: ET.Element, effect: Effect, scale: Scale, y: float) -> None:
    """The interval, cut with an arrow where it leaves the track, and its point: of A/A a square."""
    _interval(group, effect, scale, y)
    if not scale.holds(math.log(effect.ratio)):
        return
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
