"""The median run is one run, chosen by its throughput (Grambow 2018, section 4.2)."""

from __future__ import annotations

from tests.analysis.exhibits.scene import column, exhibit, trial

THROUGHPUT = [100, 300, 200, 500, 400]
LATENCY = [9, 1, 7, 3, 5]  # the median of the latencies is 5, that of the median run is 1
DONE = [
    trial("native.t10", k, {"throughput": ops, "read.mean": us})
    for k, (ops, us) in enumerate(zip(THROUGHPUT, LATENCY, strict=True), start=1)
]
SHOW = "{kind: median-run, metrics: [read.mean], where: {threads: t10}}"


def test_the_latency_is_that_of_the_run_with_the_median_throughput() -> None:
    found = exhibit(SHOW, DONE)
    assert found.grids[0].rows[0][:4] == ["native", "D2-B01-native.t10", 5, 300]
    assert column(found.grids[0], "Mean latency, read") == [1]


def test_all_repetitions_are_plotted_beside_it() -> None:
    others, line, median = exhibit(SHOW, DONE).charts[0].layers
    assert (others.minor, sorted(others.y)) == (True, [3, 5, 7, 9])
    assert (line.kind, line.y, median.y) == ("line", [1], [1])


def test_of_an_even_number_the_lower_of_the_middle_runs_is_taken() -> None:
    found = exhibit(SHOW, DONE[:4])  # 100, 200, 300, 500
    assert found.grids[0].rows[0][1] == "D3-B01-native.t10"


def test_factors_without_a_role_become_panels() -> None:
    done = [*DONE, trial("native.t20", 1, {"throughput": 1, "read.mean": 2})]
    found = exhibit("{kind: median-run, metrics: [read.mean]}", done)
    assert [chart.title for chart in found.charts] == ["threads t10", "threads t20"]


def test_metrics_of_several_units_have_charts_of_their_own() -> None:
    show = "{kind: median-run, metrics: [throughput, read.mean], where: {threads: t10}}"
    assert [chart.y_unit for chart in exhibit(show, DONE).charts] == ["operations/s", "us"]
