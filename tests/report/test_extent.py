"""Which parts of a large study one page draws."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tare.report import extent
from tare.report.answer_grid import answer_grids
from tare.report.page import render_html
from tests.report.sample import averaged_over, sample_analysis

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

PLATFORMS = ("native", "docker-host", "docker-bridge")
THREADS = tuple(f"t{n}" for n in range(12))


def ladder() -> Analysis:
    """Three platforms at twelve thread counts, compared at each count and averaged over all."""
    analysis = sample_analysis()
    levels = {f"{p}.{t}": {"platform": p, "threads": t} for p, t in product(PLATFORMS, THREADS)}
    analysis.conditions = [
        analysis.conditions[0].model_copy(update={"condition": name, "levels": own})
        for name, own in levels.items()
    ]
    of_throughput = analysis.effects[2].model_copy(update={"factor": "platform"})
    single = [
        of_throughput.model_copy(
            update={
                "treatment": f"{p}.{t}",
                "baseline": f"native.{t}",
                "levels": levels[f"{p}.{t}"],
            }
        )
        for p, t in product(PLATFORMS[1:], THREADS)
    ]
    averages = [averaged_over("threads", of_throughput, p) for p in PLATFORMS[1:]]
    series, distribution = analysis.series[0], analysis.distributions[0]
    analysis.effects = single + averages
    analysis.series = [series.model_copy(update={"condition": name}) for name in levels]
    analysis.distributions = [distribution.model_copy(update={"condition": n}) for n in levels]
    analysis.baseline = "platform: native, threads: t0"
    return analysis


def test_averages_are_drawn_before_single_levels() -> None:
    drawn = extent.drawn_effects(ladder())
    assert [(d.metric.name, d.single, len(d.places)) for d in drawn] == [
        ("service_demand", False, 2),
        ("service_demand", True, 24),
    ]


def test_the_answer_begins_with_the_averages() -> None:
    (grid,) = answer_grids(ladder())
    assert grid.leading == 1
    assert grid.rows[0][0] == "Average over threads"
    html = render_html(ladder())
    assert "Service demand, level by level" in html


def test_of_many_conditions_those_nearest_to_the_baseline_are_drawn() -> None:
    analysis = ladder()
    near = extent.nearest(analysis, 14)
    # the baseline, its eleven other loads, and both treatments at its load
    assert near == {*(f"native.{t}" for t in THREADS), "docker-host.t0", "docker-bridge.t0"}
    fitted = extent.fitted(analysis)
    assert len({d.condition for d in fitted.distributions}) == extent.LATENCY_LINES
    assert len({s.condition for s in fitted.series}) == extent.SERIES_PANELS
    assert "Of 36 conditions, the 18 nearest to the baseline are drawn" in render_html(analysis)


def test_of_few_conditions_all_are_drawn() -> None:
    analysis = sample_analysis()
    assert extent.fitted(analysis) == analysis
    assert extent.nearest_note(analysis, extent.LATENCY_LINES) == ""
