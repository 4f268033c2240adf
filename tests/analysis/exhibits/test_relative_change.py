"""Relative changes are the analysis' effects, laid out as Grambow 2018 prints them."""

from __future__ import annotations

import pytest

from tests.analysis.exhibits.scene import column, effect, exhibit, trials

PLATFORMS = ("native", "docker", "published")
DONE = trials({f"{p}.{t}": [10, 11] for p in PLATFORMS for t in ("t10", "t20")})
EFFECTS = [
    effect("read.mean", {"platform": "docker", "threads": "t10"}, 1.0142),
    effect("read.mean", {"platform": "docker", "threads": "t20"}, 0.9991),
    effect("read.mean", {"platform": "published", "threads": "t10"}, 1.2),
    effect("throughput", {"platform": "docker", "threads": "t10"}, 0.5),
]
SHOW = "{kind: relative-change, metrics: [read.mean]}"


def test_rows_are_steps_and_columns_are_treatments() -> None:
    found = exhibit(SHOW, DONE, EFFECTS)
    table = found.grids[0]
    assert table.columns == ["threads", "Metric", "native", "docker", "published"]
    assert column(table, "threads") == ["t10", "t20", "avg over threads"]
    assert column(table, "native") == [0, 0, 0]
    assert column(table, "docker") == pytest.approx([1.42, -0.09, 1.42])
    assert column(table, "published") == [pytest.approx(20), None, pytest.approx(20)]
    assert "because not all were compared there: threads t20." in found.caption


def test_where_all_were_compared_at_every_step_the_average_is_over_all() -> None:
    docker = EFFECTS[:2]
    found = exhibit(SHOW, DONE, docker)
    assert column(found.grids[0], "docker") == pytest.approx([1.42, -0.09, 0.665])
    assert "Left out" not in found.caption


def test_the_average_is_an_effect_of_its_own_where_the_analysis_has_it() -> None:
    averaged = effect("read.mean", {"platform": "docker"}, 1.03, over=["threads"])
    table, details = exhibit(SHOW, DONE, [*EFFECTS, averaged]).grids
    assert column(table, "docker")[2] == pytest.approx(3)
    assert details.rows[-1][:3] == ["avg over threads", "read.mean", "docker"]
    assert column(details, "Averaged over")[-1] == "threads"


def test_every_change_has_its_interval_and_verdict() -> None:
    details = exhibit(SHOW, DONE, EFFECTS).grids[1]
    assert column(details, "95% low")[0] == pytest.approx(-0.58)
    assert column(details, "95% high")[0] == pytest.approx(4.42)
    assert column(details, "Verdict")[0] == "different"


def test_bars_stand_on_no_change() -> None:
    chart = exhibit(SHOW, DONE, EFFECTS).charts[0]
    assert chart.reference == 0
    assert chart.categories == ["t10", "t20", "avg"]
    assert chart.layers[0].low[0] == pytest.approx(-0.58)


def test_what_was_not_compared_is_said() -> None:
    found = exhibit(SHOW, DONE, [])
    assert found.charts == []
    assert "No effect of the analysis compares these combinations." in found.caption
