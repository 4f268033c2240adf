"""A factorial study's answer: tables of treatments by levels, and summary sentences."""

from __future__ import annotations

from tare.report.answer_grid import answer_grids, leading, summary
from tests.browser.sample import factorial_analysis

from .sample import sample_analysis

TITLES = ["Service demand", "Throughput", "Mean latency", "99th percentile latency"]


def test_few_treatments_are_answered_by_sentences() -> None:
    assert answer_grids(sample_analysis()) == []


def test_a_table_per_primary_metric_has_treatments_down_and_levels_across() -> None:
    grids = answer_grids(factorial_analysis())
    assert [g.title for g in grids] == TITLES
    first = grids[1]
    assert first.columns == ["t16", "t64", "t256"]
    names = ["native-again (A/A)", "docker-host", "docker-bridge", "docker-published"]
    assert [name for name, _ in first.rows] == names
    cell = first.rows[2][1][0]
    assert cell is not None
    assert (cell.change, cell.verdict, cell.mark, cell.tone) == (
        "\u221212.3%",
        "different",
        "\u25cf",
        "cost",
    )


def test_more_levels_than_fit_across_go_down() -> None:
    analysis = factorial_analysis()
    more = [f"t{n}" for n in range(8)]
    base = [e for e in analysis.effects if e.levels["threads"] == "t16" and not e.aa]
    analysis.conditions = [
        c.model_copy(update={"condition": f"{p}.{t}", "levels": {"platform": p, "threads": t}})
        for t in more
        for c in analysis.conditions[:5]
        for p in [c.levels["platform"]]
    ]
    analysis.effects = [
        e.model_copy(
            update={
                "treatment": f"{e.levels['platform']}.{t}",
                "baseline": f"native.{t}",
                "levels": e.levels | {"threads": t},
            }
        )
        for t in more
        for e in base
    ]
    grid = answer_grids(analysis)[0]
    assert grid.columns == ["docker-host", "docker-bridge", "docker-published"]
    assert [name for name, _ in grid.rows] == more


def test_treatments_without_shared_levels_stand_by_metric() -> None:
    analysis = sample_analysis()
    analysis.effects = [
        e.model_copy(update={"treatment": f"{e.treatment}-{i}", "levels": {"platform": f"p{i}"}})
        for i in range(3)
        for e in analysis.effects
        if not e.aa
    ]
    (grid,) = answer_grids(analysis)
    assert grid.columns == TITLES
    assert len(grid.rows) == 3


def test_two_factors_each_get_their_own_tables_and_sentence() -> None:
    analysis = factorial_analysis()
    rises = [
        e.model_copy(
            update={
                "treatment": f"{e.levels['platform']}.t64",
                "baseline": f"{e.levels['platform']}.t16",
                "levels": e.levels | {"threads": "t64"},
                "factor": "threads",
            }
        )
        for e in analysis.effects
        if e.levels["threads"] == "t16" and not e.aa
    ]
    analysis.effects += rises
    titles = [g.title for g in answer_grids(analysis)]
    assert titles[:2] == ["Service demand, by platform", "Throughput, by platform"]
    assert "Throughput, by threads" in titles
    assert [text.split(":")[0] for text in summary(analysis)] == ["platform", "threads"]


def test_factors_compared_jointly_share_one_table() -> None:
    analysis = factorial_analysis()
    baseline = "native.t16"
    for effect in analysis.effects:
        effect.baseline = baseline
    analysis.effects = [e for e in analysis.effects if e.treatment != baseline and not e.aa]
    (first, *_) = answer_grids(analysis)
    assert first.columns == TITLES
    assert first.rows[0][0] == "platform docker-host, threads t16"


def test_the_summary_counts_verdicts_and_names_the_worst() -> None:
    (text,) = summary(factorial_analysis())
    assert text.startswith(
        "36 comparisons on primary metrics: 24 different, 3 different within the margin, "
        "6 equivalent, 3 inconclusive."
    )
    assert "What costs most: docker-published, t16, 99th percentile latency 30.5% higher" in text


def test_averages_over_every_other_factor_lead() -> None:
    analysis = factorial_analysis()
    analysis.effects[3].over = ["threads"]
    analysis.effects[3].levels = {"platform": "docker-published"}
    analysis.effects[3].treatment, analysis.effects[3].baseline = "docker-published", "native"
    assert leading(analysis) == {3}
