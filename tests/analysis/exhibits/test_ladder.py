"""Metrics against load steps, maxima over them, and means as bars."""

from __future__ import annotations

import pytest

from tests.analysis.exhibits.scene import STUDY, column, exhibit, exhibits, study, trial, trials

# latency 10, 20, 40 at 10, 20, 40 threads natively; twice that in Docker
DONE = trials(
    {
        "native.t10": [9, 11],
        "native.t20": [19, 21],
        "native.t40": [39, 41],
        "docker.t10": [20, 20],
        "docker.t20": [40, 40],
        "docker.t40": [80, 80],
    }
)


def test_a_line_per_platform_over_the_steps() -> None:
    chart = exhibit("{kind: ladder, metrics: [read.mean]}", DONE).charts[0]
    lines = {layer.series: (layer.x, layer.y) for layer in chart.layers if layer.kind == "line"}
    assert lines == {
        "native": ([10, 20, 40], [10, 20, 40]),
        "docker": ([10, 20, 40], [20, 40, 80]),
    }
    points = next(layer for layer in chart.layers if layer.kind == "points")
    assert points.high[0] == pytest.approx(10 + 12.706205, abs=1e-4)  # t(0.975, 1) times 1
    assert points.low[0] == 0.0, "a latency cannot be below 0"


def test_against_the_throughput_that_was_measured() -> None:
    """The scene's throughput is 1e6 over the latency, so that the fastest step comes last."""
    chart = exhibit("{kind: ladder, x: throughput, metrics: [read.mean]}", DONE).charts[0]
    docker = next(one for one in chart.layers if one.series == "docker")
    assert docker.x == [12500, 25000, 50000]
    assert docker.y == [80, 40, 20]
    assert (chart.x_title, chart.x_unit) == ("Throughput", "operations/s")


def test_the_table_is_that_of_the_paper_platforms_side_by_side() -> None:
    grid = exhibit("{kind: ladder, metrics: [read.mean]}", DONE).grids[0]
    assert grid.columns[0] == "threads"
    assert column(grid, "native: Mean latency, read") == [10, 20, 40]
    assert column(grid, "docker: Mean latency, read") == [20, 40, 80]


def test_imported_files_without_cpu_series_are_said_to_have_none() -> None:
    found = exhibit("{kind: ladder}", DONE)
    assert found.charts == []
    assert "Not in the records: values of cpu.util, all.mean, all.max" in found.caption


def test_the_maximum_says_at_which_step_it_was_reached() -> None:
    values = {"native.t10": 100, "native.t20": 300, "native.t40": 200, "docker.t10": 50}
    done = [
        trial(condition, k, {"throughput": value + k, "all.mean": 7.0})
        for condition, value in values.items()
        for k in (0, 2)
    ]
    found = exhibit("{kind: maximum}", done)
    grid = found.grids[0]
    assert column(grid, "Platform") == ["native", "docker"]
    assert column(grid, "Maximum") == [301, 51]
    assert column(grid, "Reached at") == ["t20", "t10"]
    assert column(grid, "Mean latency") == [7, 7]
    assert found.charts[0].categories == ["native", "docker"]


def test_bars_are_means_over_all_points_each_condition_alike() -> None:
    found = exhibit("{kind: mean-bars, metrics: [read.mean]}", DONE)
    bars = {layer.series: layer.y for layer in found.charts[0].layers}
    assert bars == {"native": [70 / 3], "docker": [140 / 3]}
    assert "Averaged over the levels of threads, each alike." in found.caption


def test_bars_along_a_factor() -> None:
    chart = exhibit("{kind: mean-bars, metrics: [read.mean], x: threads}", DONE).charts[0]
    assert chart.categories == ["t10", "t20", "t40"]
    assert [layer.y for layer in chart.layers] == [[10, 20, 40], [20, 40, 80]]


def test_the_baseline_is_first_and_looks_the_same_whatever_is_left_out() -> None:
    show = "{kind: mean-bars, metrics: [read.mean], where: {platform: [docker]}}"
    assert [layer.place for layer in exhibit(show, DONE).charts[0].layers] == [1]


def test_a_panel_per_number_of_clusters() -> None:
    """As Shirinbab 2020, Figures 4 to 9: 1, 2 and 4 clusters over the offered load."""
    text = STUDY.replace(
        "baseline: {platform: native, threads: t10}",
        "  clusters: {one: {clusters: 1}, two: {clusters: 2}}\n"
        "baseline: {platform: native, threads: t10, clusters: one}",
    ).replace("load.threads", "load.rate")
    values = {"native.t10.one": 10, "native.t20.one": 20, "docker.t10.two": 30}
    done = [trial(name, 1, {"all.mean": value}) for name, value in values.items()]
    asked = study("{kind: ladder, panels: clusters, metrics: [all.mean]}", text=text)
    found = exhibits(asked, done)[0]
    assert [chart.title for chart in found.charts] == [
        "Mean latency, clusters one",
        "Mean latency, clusters two",
    ]
    assert found.charts[0].x_title == "Offered load"
    assert found.charts[0].x_unit == "operations/s"
    assert found.charts[0].layers[0].y == [10, 20]
    assert found.grids[0].rows == [["one", "t10", 10, None], ["one", "t20", 20, None],
                                   ["two", "t10", None, 30]]  # fmt: skip
