"""Drawings of prices: what each way or platform adds, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.tariff import NATIVE
from tare.report import numbers
from tare.report.scales import Scale, linear_ticks
from tare.report.svg import Panel, add, describe, label, panel

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Sequence

    from tare.records.prices import Interval

WIDTH = 360
_TOP, _ROW, _AXIS, _SIDE = 44, 44, 24, 14
_TRACK, _TRACK_HEIGHT = 20, 16
_CUT = 3.0
"""An axis reaches at most this many times the second largest price: otherwise docker-proxy would
make all other prices a line."""


class Added(NamedTuple):
    """One row: the price's name, and its distance above what it is compared with."""

    name: str
    interval: Interval


def added_panel(
    title: str, unit: str, rows: Sequence[Added], digits: int, over: str = NATIVE
) -> Panel:
    """A drawing of what is added, on one axis.

    Args:
        unit: of the intervals.
        digits: decimals of the numbers beside them.
        over: what it is added to.
    """
    height = _TOP + _ROW * len(rows) + _AXIS
    drawing = panel(title, WIDTH, height)
    describe(drawing.root, "; ".join(f"{row.name}: {_amount(row, digits)} {unit}" for row in rows))
    label(drawing.root, 0, 16, title, "title", length=44)
    label(drawing.root, 0, 34, f"over {over}, {unit}", "small muted")
    x = _scale(rows)
    for place, row in enumerate(rows):
        _draw(drawing.root, row, x, _TOP + place * _ROW, digits)
    _axis(drawing.root, x, height - _AXIS)
    return drawing


def _amount(row: Added, digits: int) -> str:
    one = row.interval
    text = f"{one.value:+.{digits}f} [{one.low:+.{digits}f}, {one.high:+.{digits}f}]"
    return text.replace("-", numbers.MINUS)


def _scale(rows: Sequence[Added]) -> Scale:
    reach = sorted(max(abs(row.interval.low), abs(row.interval.high)) for row in rows)
    limit = _CUT * reach[-2] if len(reach) > 1 and reach[-2] > 0 else reach[-1]
    low = min([0.0, *(row.interval.low for row in rows)])
    high = max([0.0, *(row.interval.high for row in rows)])
    low, high = max(low, -limit), min(high, limit)
    room = 0.04 * (high - low or 1.0)
    return Scale(low - room, high + room, _SIDE, WIDTH - _SIDE)


def _draw(root: ET.Element, row: Added, x: Scale, top: float, digits: int) -> None:
    one = row.interval
    above = one.low > 0
    tone = "cost" if above else "gain" if one.high < 0 else "tie weak"
    group = add(root, "g", tone)
    label(group, 0, top + 13, row.name, "name", length=32)
    label(group, WIDTH, top + 13, _amount(row, digits), "figures end")
    track = add(group, "rect", "track", x=0, y=top + _TRACK, width=WIDTH, height=_TRACK_HEIGHT)
    track.set("aria-hidden", "true")
    add(group, "line", "zero", x1=x(0), x2=x(0), y1=top + _TRACK, y2=top + _TRACK + _TRACK_HEIGHT)
    y = top + _TRACK + _TRACK_HEIGHT / 2
    add(group, "line", "interval", x1=x(one.low), x2=x(one.high), y1=y, y2=y)
    if x.holds(one.value):
        add(group, "circle", "point", cx=x(one.value), cy=y, r=4)
    else:
        end, way = (WIDTH - _SIDE, 1) if one.value > x.high else (_SIDE, -1)
        add(group, "path", "arrow").set("d", f"M{end + 8 * way} {y}l{-8 * way} -4.5v9z")


def _axis(root: ET.Element, x: Scale, bottom: float) -> None:
    ticks = linear_ticks(max(abs(x.low), abs(x.high)), 4)
    for tick in sorted({*ticks, *(-one for one in ticks)}):
        if x.holds(tick):
            place = "start" if x(tick) < 20 else "end" if x(tick) > WIDTH - 20 else "middle"
            text = f"{tick:g}".replace("-", numbers.MINUS)
            label(root, x(tick), bottom + 14, text, f"tiny muted {place}")
