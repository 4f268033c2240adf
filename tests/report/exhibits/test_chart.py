"""Charts as SVG: every mark is drawn, labelled and traced to its trials, not by colour alone."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tare.analysis.model import Chart, Exhibit, Layer
from tare.report.exhibits.chart import draw_chart
from tare.report.exhibits.styles import styles


def layer(kind: Any, series: str = "native", **changes: Any) -> Layer:
    """Two marks, at 0 and 1."""
    fields: dict[str, Any] = {
        "x": [0, 1],
        "y": [10, 20],
        "low": [8, 17],
        "high": [12, 23],
        "labels": ["first", "second"],
        "conditions": [["native.t1"], ["native.t2"]],
        "trials": [["D1-a", "D2-a"], ["D1-b"]],
    }
    return Layer(kind=kind, series=series, **{**fields, **changes})


def chart(*layers: Layer, **changes: Any) -> Chart:
    fields: dict[str, Any] = {"title": "T", "x_title": "x", "y_title": "Latency", "y_unit": "us"}
    return Chart(layers=list(layers), **{**fields, **changes})


def drawn(one: Chart, width: int = 360) -> ET.Element:
    exhibit = Exhibit(name="box-1", kind="box", title="E", caption="", charts=[one])
    markup = draw_chart(one, styles(exhibit, {}), width).markup()
    return ET.fromstring(markup)  # noqa: S314 - our own drawing


def classes(root: ET.Element, css: str) -> list[ET.Element]:
    return [e for e in root.iter() if css in e.get("class", "").split()]


@pytest.mark.parametrize("kind", ["points", "bars", "intervals", "boxes"])
@pytest.mark.parametrize("width", [360, 900])
def test_each_mark_says_what_it_is_and_where_it_comes_from(kind: str, width: int) -> None:
    one = layer(kind, quartiles=[(9, 11), (18, 22)] if kind == "boxes" else [])
    marks = classes(drawn(chart(one, categories=["a", "b"]), width), "mark")
    assert [m.get("data-condition") for m in marks] == ["native.t1", "native.t2"]
    assert [m.get("data-trials") for m in marks] == ["D1-a D2-a", "D1-b"]
    first = (marks[0].get("data-label") or "").split("\n")
    assert first[0] == "first"
    assert first[1].startswith("Latency: 10.0 \u00b5s [8.00 \u00b5s, 12.0 \u00b5s]")


def test_a_line_with_points_is_told_by_its_points() -> None:
    root = drawn(chart(layer("line"), layer("points")))
    (line,) = classes(root, "plot")[0].findall(".//*[@class='curve']")
    assert line.get("data-label") is None
    assert len(classes(root, "mark")) == 2


def test_a_lonely_line_and_its_band_are_told_as_a_whole() -> None:
    root = drawn(chart(layer("band"), layer("line")))
    labels = [e.get("data-label") for e in classes(root, "curve") if e.get("data-label")]
    assert labels == ["first"]
    assert len(classes(root, "ribbon")) == 1


def test_series_differ_by_more_than_colour() -> None:
    layers = [layer("points", series=name) for name in ("a", "b", "c", "d")]
    exhibit = Exhibit(name="n", kind="box", title="E", caption="", charts=[chart(*layers)])
    found = styles(exhibit, {}).values()
    assert len({one.marker for one in found}) == 4
    assert len({one.texture for one in found}) == 4
    assert len({one.css.split()[1] for one in found}) == 4


def test_a_condition_has_the_colour_that_it_has_everywhere() -> None:
    one = layer("bars", series="docker", condition="docker")
    exhibit = Exhibit(name="n", kind="box", title="E", caption="", charts=[chart(one)])
    assert styles(exhibit, {"native": "c0", "docker": "c4"})["docker"].css.startswith("c4 ")


def test_a_series_keeps_its_look_where_others_are_left_out() -> None:
    one = layer("bars", series="docker", place=2)
    exhibit = Exhibit(name="n", kind="box", title="E", caption="", charts=[chart(one)])
    assert styles(exhibit, {})["docker"].css.startswith("c2 ")


def test_bars_of_several_series_stand_beside_each_other() -> None:
    root = drawn(chart(layer("bars", "a"), layer("bars", "b"), categories=["one", "two"]))
    bars = classes(classes(root, "plot")[0], "bar")
    edges = sorted((float(b.get("x", 0)), float(b.get("width", 0))) for b in bars)
    assert len(edges) == 4
    for (x, width), (following, _) in itertools.pairwise(edges):
        assert x + width <= following


def test_changes_stand_on_the_line_of_no_change() -> None:
    one = layer("bars", y=[5, -5], low=[], high=[])
    root = drawn(chart(one, categories=["a", "b"], reference=0.0, y_unit="%"))
    (zero,) = classes(root, "zero")
    up, down = classes(classes(root, "plot")[0], "bar")
    level = float(zero.get("y1", 0))
    assert float(up.get("y", 0)) + float(up.get("height", 0)) == pytest.approx(level, abs=0.11)
    assert float(down.get("y", 0)) == pytest.approx(level, abs=0.11)


def test_ranks_have_the_best_on_top_and_are_not_zoomed() -> None:
    one = layer("points", y=[1, 3], low=[], high=[])
    root = drawn(chart(one, categories=["a", "b"], y_down=True, y_unit="count"))
    assert (classes(root, "plot")[0].get("data-y") or "").startswith("category")
    best, worst = [
        float((m[-1].get("d") or "").split()[1].split("m")[0]) for m in classes(root, "mark")
    ]
    assert best < worst


def test_compactions_are_shaded_and_named() -> None:
    root = drawn(chart(layer("line"), events=[(0.2, 0.5, "compaction")]))
    (shade,) = classes(root, "event")
    assert shade[0].text == "compaction"


def test_names_cannot_become_markup() -> None:
    evil = '<script>alert("x")</script>'
    root = drawn(
        chart(
            layer("points", series=evil, labels=[evil, evil], conditions=[[evil], []]),
            title=evil,
            categories=[evil, evil],
        )
    )
    assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_a_value_that_nothing_can_show_is_not_drawn_off_the_chart() -> None:
    one = layer("points", low=[None, float("-inf")], high=[None, 30.0])
    root = drawn(chart(one))
    assert len(classes(root, "mark")) == 2
    assert not classes(root, "whisker")


def test_a_reader_who_hears_the_chart_knows_axes_and_series() -> None:
    root = drawn(chart(layer("points")))
    assert root.get("aria-label") == "T"
    assert "Latency over x, for native" in (root[0].text or "")


def test_a_band_needs_no_error_bars_beside_it() -> None:
    root = drawn(chart(layer("band"), layer("line"), layer("points")))
    assert len(classes(root, "mark")) == 2
    assert not classes(root, "whisker")
