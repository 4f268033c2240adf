"""Markers are visible filled outlines; no two series share a style."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tare.analysis.model import Chart, Exhibit, Layer
from tare.report.exhibits.shapes import marker
from tare.report.exhibits.styles import MARKERS, styles

MOVE = re.compile(r"[a-z]|-?[0-9.]+")


def outline(shape: str) -> str:
    drawn = marker(ET.Element("g"), shape, 0.0, 0.0, 4.0)
    return drawn.attrib["d"].removeprefix("M0 0").strip()


@pytest.mark.parametrize("shape", MARKERS)
def test_a_marker_is_a_closed_outline(shape: str) -> None:
    """The stroke has the paper's colour, so an open, unfilled line would be invisible."""
    path = outline(shape)
    assert path.count("m") == path.count("z") == 1
    assert path.endswith("z")


@pytest.mark.parametrize("shape", ["cross", "plus"])
def test_arms_are_as_wide_as_other_markers_and_stay_about_the_centre(shape: str) -> None:
    numbers = [float(one) for one in MOVE.findall(outline(shape)) if one[-1].isdigit()]
    steps = list(zip(numbers[::2], numbers[1::2], strict=True))
    corners = [steps[0]]
    for x, y in steps[1:]:
        corners.append((corners[-1][0] + x, corners[-1][1] + y))
    assert len(corners) == 12
    for axis in (0, 1):
        along = [corner[axis] for corner in corners]
        assert min(along) == pytest.approx(-max(along), abs=0.05)
        assert 4 <= max(along) <= 6


def test_thirteen_series_have_thirteen_looks() -> None:
    layers = [
        Layer(kind="points", series=f"s{place}", place=place, x=[1.0], y=[1.0])
        for place in range(13)
    ]
    chart = Chart(title="", x_title="", y_title="", layers=layers)
    exhibit = Exhibit(name="ladder-1", kind="ladder", title="", caption="", charts=[chart])
    found = styles(exhibit, {})
    by_points = {(style.css.split()[0], style.marker) for style in found.values()}
    assert len(by_points) == 13, "colour and marker, without dashes"
