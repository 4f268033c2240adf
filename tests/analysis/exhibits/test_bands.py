"""Series with 95% bands over repetitions, and means over intervals (Docker thesis)."""

from __future__ import annotations

import pytest

from tests.analysis.exhibits.scene import column, exhibit, series, trial

DONE = [trial("native.t10", k, {"throughput": 1.0}) for k in (1, 2, 3)]
# per window of 2 s: means 10, 12, 14 and 20, 20, 20
LINES = [
    series(one, throughput=[level - 1, level + 1, 20, 20])
    for one, level in zip(DONE, (10, 12, 14), strict=True)
]
BAND = "{kind: band, metrics: [throughput], window: 2s, where: {platform: native}}"


def test_the_band_is_the_interval_of_the_mean_over_repetitions() -> None:
    found = exhibit(BAND, DONE, lines=LINES)
    band, line, _ = found.charts[0].layers
    reach = 4.302653 * 2 / 3**0.5  # t(0.975, 2) s / sqrt(n), with s = 2
    assert (band.kind, line.kind) == ("band", "line")
    assert line.x == [1, 3]
    assert line.y == [12, 20]
    assert band.low == pytest.approx([12 - reach, 20])
    assert band.high == pytest.approx([12 + reach, 20])
    assert column(found.grids[0], "Repeated") == [3, 3]


def test_every_mark_knows_its_trials() -> None:
    layer = exhibit(BAND, DONE, lines=LINES).charts[0].layers[0]
    assert layer.trials[0] == [one.name for one in DONE]
    assert layer.conditions[0] == ["native.t10"]


def test_trials_of_one_deployment_are_no_repetitions_of_deployments() -> None:
    done = [trial("native.t10", k, {}, deployment=f"D{k // 3}") for k in (1, 2, 3)]
    lines = [series(one, throughput=[v, v]) for one, v in zip(done, (10, 14, 20), strict=True)]
    found = exhibit(BAND, done, lines=lines)
    assert found.charts[0].layers[1].y == [16]  # the mean of 12 and 20
    assert column(found.grids[0], "Repeated") == [2]


def test_compactions_are_shaded() -> None:
    lines = [LINES[0].model_copy(update={"events": [(1.0, 2.5, "compaction")]}), *LINES[1:]]
    found = exhibit(BAND, DONE, lines=lines)
    assert found.charts[0].events == [(1.0, 2.5, "compaction")]
    assert "Shaded: compactions" in found.caption


def test_a_series_that_was_not_recorded_is_named_and_nothing_empty_is_drawn() -> None:
    found = exhibit("{kind: band, metrics: [cpu.util]}", DONE, lines=LINES)
    assert found.charts == []
    assert found.grids == []
    assert "Not in the records: time series of cpu.util" in found.caption


def test_means_over_two_and_four_intervals() -> None:
    show = "{kind: interval-means, metrics: [throughput], intervals: [2, 4]}"
    found = exhibit(show, DONE, lines=LINES)
    halves, quarters = found.charts
    assert [layer.y for layer in halves.layers] == [[12, 20]]
    assert [layer.y for layer in quarters.layers] == [[11, 13, 20, 20]]
    assert column(found.grids[0], "native") == [12, 20, 11, 13, 20, 20]


def test_intervals_are_two_four_and_eight_unless_others_are_asked_for() -> None:
    lines = [series(one, throughput=[5.0] * 8) for one in DONE]
    found = exhibit("{kind: interval-means, metrics: [throughput]}", DONE, lines=lines)
    assert [len(chart.categories) for chart in found.charts] == [2, 4, 8]


def test_more_intervals_than_seconds_are_refused_with_the_reason() -> None:
    show = "{kind: interval-means, metrics: [throughput], intervals: [2, 8]}"
    found = exhibit(show, DONE, lines=LINES)
    assert [len(chart.categories) for chart in found.charts] == [2]
    assert "The measured part has 4 s, too few for 8 intervals." in found.caption
