"""The content of figures; each figure is also a separate SVG file."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tare.report.figures import make_figures, standalone
from tare.report.forest import forest_panels
from tare.report.latency import distribution_groups, latency_panels
from tare.report.palette import condition_classes
from tare.report.svg import Panel
from tare.report.timeline import thin, timeline_panels

from .sample import CONDITIONS, sample_analysis


def classes(panel: Panel) -> list[str]:
    return [e.get("class", "") for e in panel.root.iter()]


def texts(panel: Panel) -> list[str]:
    return [e.text or "" for e in panel.root.iter("text")]


def test_the_forest_has_a_drawing_per_metric_and_a_row_per_treatment() -> None:
    panels = forest_panels(sample_analysis())
    assert [p.title for p in panels] == [
        "Effects on Service demand",
        "Effects on Throughput",
        "Effects on Mean latency",
        "Effects on 99th percentile latency",
        "Effects on Server CPU per operation",
    ]
    assert classes(panels[1]).count("point") == 4
    assert classes(panels[1]).count("margin") == 4
    assert classes(panels[1]).count("floor") == 8
    assert classes(panels[4]).count("margin") == 0


def test_each_row_carries_its_verdict_as_text_and_the_control_its_mark() -> None:
    first = forest_panels(sample_analysis())[1]
    assert texts(first).count("different") == 2
    assert texts(first).count("equivalent") == 2
    assert "native-again (A/A)" in texts(first)
    assert "\u221212.3%  [\u221215.1%, \u22129.4%]" in texts(first)


def test_only_differences_are_coloured() -> None:
    first = forest_panels(sample_analysis())[1]
    rows = [c for c in classes(first) if c.split()[:1] in (["cost"], ["gain"], ["tie"])]
    assert rows == ["tie weak", "tie weak", "cost", "cost"]


def test_an_endless_interval_is_cut_with_arrows_and_leaves_the_others_readable() -> None:
    analysis = sample_analysis()
    bridge = next(e for e in analysis.effects if e.treatment == "docker-bridge")
    bridge.ci = (1e-9, 1e9)
    panel = forest_panels(analysis)[0]
    assert classes(panel).count("arrow") == 2
    xs = [float(e.get("cx", "nan")) for e in panel.root.iter("circle")]
    assert max(xs) - min(xs) > 40


def test_everything_is_drawn_inside_its_panel() -> None:
    analysis = sample_analysis()
    drawings = [p for f in make_figures(analysis).values() for p in [*f.wide, *f.narrow]]
    assert len(drawings) > 3
    for panel in drawings:
        assert len([*panel.root.iter()]) > 10
        for element in panel.root.iter():
            for name, limit in (("x", panel.width), ("cx", panel.width), ("x1", panel.width),
                                ("x2", panel.width), ("y", panel.height), ("cy", panel.height),
                                ("y1", panel.height), ("y2", panel.height)):  # fmt: skip
                assert 0 <= float(element.get(name, "0")) <= limit


def test_latency_has_a_line_per_condition_and_no_second_kind_in_a_closed_loop() -> None:
    analysis = sample_analysis()
    assert list(distribution_groups(analysis)) == ["All operations", "Reads", "Updates"]
    panels = latency_panels(analysis, condition_classes(analysis), 360)
    assert sum(c.startswith("line ") for c in classes(panels[0])) == len(CONDITIONS)


def test_latency_shows_response_time_beside_service_time_in_an_open_loop() -> None:
    analysis = sample_analysis()
    for one in analysis.distributions:
        if one.kind == "response":
            one.quantiles = [(p, value * 3) for p, value in one.quantiles]
    groups = distribution_groups(analysis)
    assert list(groups)[:2] == ["All operations, response time", "All operations, service time"]


def test_no_percentile_is_drawn_that_the_count_cannot_resolve() -> None:
    analysis = sample_analysis()
    for one in analysis.distributions:
        one.count = 1000
    panel = latency_panels(analysis, condition_classes(analysis), 360)[0]
    assert "99.9" in texts(panel)
    assert "99.99" not in texts(panel)


def test_time_series_have_a_drawing_per_condition_with_all_its_trials() -> None:
    analysis = sample_analysis()
    panels = timeline_panels(analysis, condition_classes(analysis))
    assert [p.title for p in panels] == [f"Time series of {name}" for name in CONDITIONS]
    titles = [t for t in texts(panels[0]) if "CPU" in t or "Disk" in t or t == "Throughput"]
    assert titles == ["Throughput", "Database CPU", "Machine CPU", "Disk writes"]
    done = sum(s.condition == "native" for s in analysis.series)
    assert sum(c.startswith("trial ") for c in classes(panels[0])) == done * 5
    assert {p.height for p in panels} == {panels[0].height}


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=400), st.integers(2, 100))
def test_thinning_keeps_the_extremes(values: list[float | None], points: int) -> None:
    kept = thin(values, points)
    assert kept == sorted(set(kept))
    assert len(kept) <= max(points, 2)
    present = [v for v in values if v is not None]
    if present:
        shown = [v for i in kept if (v := values[i]) is not None]
        assert (min(shown), max(shown)) == (min(present), max(present))


def test_the_baseline_is_neutral_and_its_repetition_looks_like_it() -> None:
    found = condition_classes(sample_analysis())
    assert found["native"] == "c0"
    assert found["native-again"] == "c0 again"
    assert len(set(found.values())) == len(found)


def test_of_several_factors_the_root_of_all_comparisons_is_neutral() -> None:
    analysis = sample_analysis()
    analysis.baseline = "platform: native, threads: t16"
    assert condition_classes(analysis)["native"] == "c0"


def test_labels_of_the_axis_do_not_overlap() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        one.ci = (0.3, 3.0)
    panels = forest_panels(analysis)
    assert panels != []
    for panel in panels:
        axis = [e for e in panel.root.iter("text") if "muted middle" in e.get("class", "")]
        xs = sorted(float(e.get("x", "nan")) for e in axis)
        assert len(xs) > 1
        assert all(right - left >= 44 for left, right in itertools.pairwise(xs))
        assert "0%" in texts(panel)


def test_many_conditions_still_differ() -> None:
    analysis = sample_analysis()
    first = analysis.conditions[2]
    analysis.conditions = [
        first.model_copy(update={"condition": f"c{i}", "aa_of": None}) for i in range(14)
    ]
    found = condition_classes(analysis)
    assert len({found[f"c{i}"] for i in range(14)}) == 14


def test_a_figure_is_a_well_formed_svg_with_its_own_style() -> None:
    analysis = sample_analysis()
    analysis.conditions[2].condition = "<b>&'\x00"
    analysis.series[2].condition = "<b>&'\x00"
    figures = make_figures(analysis).values()
    assert len(figures) > 1
    for figure in figures:
        root = ET.fromstring(standalone(figure, "a <heading> & more"))  # noqa: S314 - our own text
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.get("width", "0")) > 300
        style = root.find("{http://www.w3.org/2000/svg}style")
        assert style is not None
        assert "prefers-color-scheme: dark" in (style.text or "")
