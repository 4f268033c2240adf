"""The legend starts a new row before names would exceed the width of the drawing."""

from __future__ import annotations

import pytest

from tare.analysis.model import Chart, Layer
from tare.report.exhibits.legend import ROW, legend_height
from tare.report.exhibits.styles import Style


def rows(names: list[str], width: int) -> float:
    layers = [Layer(kind="points", series=name, x=[1.0], y=[1.0]) for name in names]
    chart = Chart(title="", x_title="", y_title="", layers=layers)
    styles = {name: Style("c0 s0", "circle", "") for name in names}
    return legend_height(chart, styles, width) / ROW


def test_names_that_fit_share_a_row() -> None:
    assert rows(["native", "docker"], 360) == 1


@pytest.mark.parametrize("width", [100, 200, 360])
def test_a_narrow_drawing_has_a_row_for_each(width: int) -> None:
    assert rows(["a" * 40, "b" * 40], width) == 2


def test_capitals_are_wider() -> None:
    """For example, K8ContainerDNSName is as wide as twenty small letters."""
    assert rows(["abcdefghijklmnop", "qrstuvwxyzabcdef"], 310) == 1
    assert rows(["ABCDEFGHIJKLMNOP", "QRSTUVWXYZABCDEF"], 310) == 2


def test_one_series_without_a_name_has_no_legend() -> None:
    assert rows([""], 360) == 0
