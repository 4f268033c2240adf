"""The style of each series of an exhibit: colour, dashes, marker, texture; never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.report.palette import HUES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Exhibit

# Marker outlines of radius 1, as relative path commands from the centre (so that zooming, which
# moves absolute points only, keeps their size).
MARKERS = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "down",
    "cross",
    "plus",
)
TEXTURES = ("", "rise", "lines", "fall")
DASHES = 5


@dataclass(frozen=True)
class Style:
    """How one series is drawn.

    Attributes:
        css: classes for its colour (c0 to c6) and dashes (s0 to s4).
        marker: one of MARKERS.
        texture: of its bars, one of TEXTURES.
    """

    css: str
    marker: str
    texture: str


def styles(exhibit: Exhibit, classes: Mapping[str, str]) -> dict[str, Style]:
    """Series name to its style, the same in all panels of the exhibit.

    Series that are conditions have the colours of these in the whole report, as long as a report
    has no more conditions than colours; else colours by their place, the baseline's neutral.
    """
    few = len(classes) <= HUES + 1
    layers = [layer for chart in exhibit.charts for layer in chart.layers]
    named = {layer.series: layer.condition for layer in layers}
    places = {layer.series: layer.place for layer in layers}
    by_condition = few and named and all(classes.get(name) for name in named.values())
    found = {}
    for order, (series, condition) in enumerate(named.items()):
        own = places[series]
        place = order if own is None else own
        hue = classes[condition].split()[0] if by_condition else f"c{place % (HUES + 1)}"
        css = f"{hue} s{place % DASHES}"
        # one more with every turn: a repeated colour has another marker
        marker = MARKERS[(place + place // len(MARKERS)) % len(MARKERS)]
        found[series] = Style(css, marker, TEXTURES[place % len(TEXTURES)])
    return found
