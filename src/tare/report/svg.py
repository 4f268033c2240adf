"""SVG elements: escaped by the XML library, coloured by CSS classes only."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from tare.report.text import plain, shorten

NAMESPACE = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure; sizes in pixels at scale 1."""

    title: str
    width: int
    height: int
    root: ET.Element

    def markup(self) -> str:
        """The drawing as an inline <svg> element that scales with its box."""
        return ET.tostring(self.root, encoding="unicode")


def panel(title: str, width: int, height: int) -> Panel:
    """An empty drawing, named for readers who hear it instead of seeing it."""
    root = ET.Element(
        "svg",
        {"viewBox": f"0 0 {width} {height}", "class": "panel", "role": "img"},
    )
    root.set("aria-label", plain(title))
    return Panel(title, width, height, root)


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
