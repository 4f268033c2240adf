"""SVG elements: escaped by the XML library, coloured by CSS classes only."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.report.escaping import plain, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.report.scales import Scale

NAMESPACE = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure; sizes in pixels at scale 1."""

    title: str
    width: int
    height: int
    root: ET.Element
    condition: str = ""
    """Where the whole drawing is of one condition."""

    def markup(self) -> str:
        """The drawing as an inline <svg> element that scales with its box."""
        return ET.tostring(self.root, encoding="unicode")


@dataclass(frozen=True)
class Axis:
    """One axis of a plot, so that the page's script can read values off it and zoom.

    Attributes:
        scale: the quantity along the axis: the value, its log10 (log), or -log10(1 - p) (nines).
        kind: how a value becomes a position; category axes cannot be zoomed.
        unit: as in `Metric.unit`.
        key: plots of one figure with the same key are zoomed together.
    """

    scale: Scale
    kind: Literal["linear", "log", "nines", "category"] = "linear"
    unit: str = ""
    key: str = ""


def plot_area(root: ET.Element, x: Axis, y: Axis) -> ET.Element:
    """The part of a drawing that can be zoomed: marks go into it, in the drawing's coordinates.

    Ticks belong into `tick_group`s of the same drawing.
    """
    left, right = sorted((x.scale.start, x.scale.end))
    top, bottom = sorted((y.scale.start, y.scale.end))
    width, height = right - left, bottom - top
    area = add(root, "svg", "plot", x=left, y=top, width=width, height=height)
    area.set("viewBox", f"{number(left)} {number(top)} {number(width)} {number(height)}")
    for name, axis in (("x", x), ("y", y)):
        scale = axis.scale
        area.set(f"data-{name}", f"{axis.kind} {scale.low:.6g} {scale.high:.6g}")
        area.set(f"data-{name}-unit", plain(axis.unit))
        area.set(f"data-{name}-key", plain(axis.key or name))
    return area


def tick_group(root: ET.Element, which: Literal["x", "y"], axis: Axis) -> ET.Element:
    """The group for the grid lines and labels of an axis, which zooming draws anew."""
    group = add(root, "g", "ticks")
    group.set("data-axis", which)
    group.set("data-key", plain(axis.key or which))
    return group


def mark(
    element: ET.Element, text: str = "", *, condition: str = "", trials: Iterable[str] = ()
) -> ET.Element:
    """Makes a mark answer to hover, keyboard and filters.

    Args:
        element: the mark; it is returned.
        text: the text for the reader; parts after a line break are shown below the first.
        condition: the mark's condition; the mark is hidden with it.
        trials: the trials that the mark comes from.
    """
    if text:
        element.set("data-label", "\n".join(plain(line) for line in text.split("\n")))
    if condition:
        element.set("data-condition", plain(condition))
    names = " ".join(plain(name).replace(" ", "_") for name in trials)
    if names:
        element.set("data-trials", names)
    return element


def panel(title: str, width: int, height: int, condition: str = "") -> Panel:
    """An empty drawing, named for readers who hear it instead of seeing it."""
    root = ET.Element(
        "svg",
        {"viewBox": f"0 0 {width} {height}", "class": "panel", "role": "img"},
    )
    root.set("aria-label", plain(title))
    return Panel(title, width, height, root, condition)


def describe(root: ET.Element, text: str) -> None:
    """The drawing's content in words, for readers who cannot see it."""
    ET.SubElement(root, "desc").text = plain(text)


def add(parent: ET.Element, tag: str, css: str = "", **attributes: float | str) -> ET.Element:
    """A child element; numbers are rounded to a tenth of a pixel, '_' in names becomes '-'."""
    element = ET.SubElement(parent, tag)
    if css:
        element.set("class", css)
    for name, value in attributes.items():
        text = plain(value) if isinstance(value, str) else number(value)
        element.set(name.replace("_", "-"), text)
    return element


def label(
    parent: ET.Element, x: float, y: float, text: str, css: str = "", *, length: int = 200
) -> ET.Element:
    """A line of text, cut with an ellipsis at `length` characters (then the whole is a tooltip)."""
    element = add(parent, "text", css, x=x, y=y)
    element.text = shorten(text, length)
    if len(plain(text)) > length:
        tooltip(element, text)
    return element


def tooltip(parent: ET.Element, text: str) -> None:
    """The text that shows while the pointer rests on the element."""
    element = ET.SubElement(parent, "title")
    element.text = plain(text)


def polyline(parent: ET.Element, points: list[tuple[float, float] | None], css: str) -> ET.Element:
    """A path through the points; None is a gap."""
    parts: list[str] = []
    pen = "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        parts.append(f"{pen}{number(point[0])} {number(point[1])}")
        pen = "L"
    element = add(parent, "path", css)
    element.set("d", "".join(parts))
    return element


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
