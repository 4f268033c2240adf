"""Markers, hatched bars, whiskers and boxes as SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report.svg import add, number

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

_HATCH = 6.0
_CAP = 3.5


def marker(parent: ET.Element, shape: str, x: float, y: float, r: float) -> ET.Element:
    """A marker about (x, y). One absolute point, the rest relative: zooming moves it whole."""
    d, h = 2 * r, r * 0.9
    outlines = {
        "circle": f"m{-r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 {-d} 0z",
        "square": f"m{-h} {-h}h{2 * h}v{2 * h}h{-2 * h}z",
        "triangle": f"m0 {-1.2 * r}l{1.15 * r} {2 * r}h{-2.3 * r}z",
        "down": f"m0 {1.2 * r}l{1.15 * r} {-2 * r}h{-2.3 * r}z",
        "diamond": f"m0 {-1.3 * r}l{1.3 * r} {1.3 * r}l{-1.3 * r} {1.3 * r}l{-1.3 * r} {-1.3 * r}z",
        "cross": _arms(r, turned=True),
        "plus": _arms(r, turned=False),
    }
    element = add(parent, "path", "marker")
    element.set("d", f"M{number(x)} {number(y)}{_rounded(outlines[shape])}")
    return element


def _arms(r: float, *, turned: bool) -> str:
    """Four arms as a closed outline, for markers are filled; turned by 45 degrees or not."""
    half, reach = 0.42 * r, 1.35 * r
    arm, width = reach - half, 2 * half
    start = [(-half, -reach)]
    steps = [(width, 0), (0, arm), (arm, 0), (0, width), (-arm, 0), (0, arm)]
    steps += [(-width, 0), (0, -arm), (-arm, 0), (0, -width), (arm, 0)]
    moves = start + steps
    if turned:
        moves = [((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in moves]
    (x0, y0), *rest = moves
    return f"m{x0:f} {y0:f}" + "".join(f"l{x:f} {y:f}" for x, y in rest) + "z"


def _rounded(outline: str) -> str:
    """The outline with at most two decimals."""
    parts = outline.replace("a", " a ").replace("m", " m ").replace("l", " l ")
    parts = parts.replace("h", " h ").replace("v", " v ").replace("z", " z ")
    words = []
    for word in parts.split():
        words.append(word if word.isalpha() else f"{float(word):.2f}".rstrip("0").rstrip("."))
    return " ".join(words)


def bar(
    parent: ET.Element, left: float, right: float, base: float, top: float, texture: str
) -> None:
    """A bar from the base to the value, with lines over it."""
    high, low = min(base, top), max(base, top)
    height = max(low - high, 0.8)
    add(parent, "rect", "bar", x=left, y=high, width=right - left, height=height)
    if texture:
        lines = _lines(texture, left, right, high, high + height)
        if lines:
            add(parent, "path", "hatch").set("d", lines)


def _lines(texture: str, left: float, right: float, top: float, bottom: float) -> str:
    """Lines of a texture, cut off at the rectangle."""
    if texture == "lines":
        steps = int((bottom - top) / _HATCH)
        ys = [bottom - _HATCH * (i + 0.5) for i in range(steps + 1)]
        return "".join(
            f"M{number(left)} {number(y)}L{number(right)} {number(y)}" for y in ys if y > top
        )
    found = []
    width, height = right - left, bottom - top
    offset = _HATCH / 2
    while offset < width + height:
        # from the left or bottom edge to the top or right edge, at 45 degrees
        x1, y1 = max(0.0, offset - height), min(offset, height)
        x2, y2 = min(offset, width), max(0.0, offset - width)
        if texture == "rise":
            ends = (left + x1, top + y1), (left + x2, top + y2)
        else:
            ends = (right - x1, top + y1), (right - x2, top + y2)
        (a, b), (c, d) = ends
        found.append(f"M{number(a)} {number(b)}L{number(c)} {number(d)}")
        offset += _HATCH
    return "".join(found)


def whisker(parent: ET.Element, x: float, low: float, high: float, cap: float = _CAP) -> None:
    """A vertical interval with caps."""
    for x1, x2, y1, y2 in (
        (x, x, low, high),
        (x - cap, x + cap, low, low),
        (x - cap, x + cap, high, high),
    ):
        add(parent, "line", "whisker", x1=x1, x2=x2, y1=y1, y2=y2)


def box(
    parent: ET.Element,
    x: float,
    half: float,
    quartiles: tuple[float, float],
    median: float,
    ends: tuple[float, float],
) -> None:
    """A box from quartile to quartile, its median and whiskers; all in pixels."""
    bottom, top = max(quartiles), min(quartiles)
    low, high = max(ends), min(ends)
    whisker_parts = ((bottom, low), (top, high))
    for near, far in whisker_parts:
        add(parent, "line", "whisker", x1=x, x2=x, y1=near, y2=far)
        add(parent, "line", "whisker", x1=x - half / 2, x2=x + half / 2, y1=far, y2=far)
    height = max(bottom - top, 0.8)
    add(parent, "rect", "boxed", x=x - half, y=top, width=2 * half, height=height)
    add(parent, "line", "median", x1=x - half, x2=x + half, y1=median, y2=median)
