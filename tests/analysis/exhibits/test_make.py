"""One exhibit per entry of the study, and never an empty figure."""

from __future__ import annotations

from typing import get_args

import pytest

from tare.analysis.exhibits.make import KINDS
from tare.study.question import ExhibitKind
from tests.analysis.exhibits.scene import exhibit, exhibits, study, trial, trials


def test_every_kind_that_a_study_can_ask_for_is_made() -> None:
    assert set(KINDS) == set(get_args(ExhibitKind))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_without_any_trial_the_caption_says_so(kind: str) -> None:
    found = exhibit(f"{{kind: {kind}}}", [])
    assert (found.charts, found.grids) == ([], [])
    assert "The run has no trials" in found.caption


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_one_trial_without_any_value_gives_no_empty_figure(kind: str) -> None:
    found = exhibit(f"{{kind: {kind}}}", [trial("native.t10", 1, {})])
    assert (found.charts, found.grids) == ([], [])
    assert found.caption


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_one_trial_alone_is_no_error(kind: str) -> None:
    values = {"throughput": 1.0, "read.mean": 2.0, "read.p95": 3.0, "all.mean": 2.0}
    found = exhibit(f"{{kind: {kind}}}", [trial("native.t10", 1, values)])
    assert all(chart.layers for chart in found.charts)
    assert all(len(row) == len(grid.columns) for grid in found.grids for row in grid.rows)
    assert all(len(grid.units) == len(grid.columns) for grid in found.grids)


def test_names_are_file_names_and_count_each_kind() -> None:
    asked = study("{kind: box}", "{kind: spread}", "{kind: box, title: Mine}")
    found = exhibits(asked, trials({"native.t10": [1, 2]}))
    assert [one.name for one in found] == ["box-1", "spread-1", "box-2"]
    assert found[2].title == "Mine"


def test_the_title_says_what_it_is_limited_to() -> None:
    show = "{kind: box, where: {threads: [t10, t20], platform: native}}"
    found = exhibit(show, trials({"native.t10": [1, 2]}))
    assert found.title == "Box plots: threads t10 or t20, platform native"


def test_failed_trials_show_nothing() -> None:
    failed = trial("native.t10", 1, {"throughput": 5.0})
    failed.manifest = failed.manifest.model_copy(update={"status": "failed"})
    assert "no trials" in exhibit("{kind: box}", [failed]).caption
