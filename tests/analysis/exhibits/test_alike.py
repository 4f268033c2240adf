"""Lines are averaged over the levels that all of them have."""

from __future__ import annotations

from tests.analysis.exhibits.scene import column, exhibit, numbers, series, trial, trials

BARS = "{kind: mean-bars, metrics: [read.mean]}"


def test_a_level_that_one_line_lacks_is_left_out_of_all_and_named() -> None:
    done = trials({"native.t10": [10, 12], "native.t20": [90, 92], "docker.t10": [20, 22]})
    found = exhibit(BARS, done)
    assert numbers(found.grids[0], "Mean latency, read") == [11, 21]
    assert "because not all lines have it: threads t20." in found.caption


def test_lines_that_have_the_same_levels_are_averaged_over_all_of_them() -> None:
    done = trials({f"{p}.{t}": [10, 12] for p in ("native", "docker") for t in ("t10", "t20")})
    caption = exhibit(BARS, done).caption
    assert "Averaged over the levels of threads, each alike." in caption
    assert "Left out" not in caption


def test_a_platform_without_any_trial_takes_nothing_from_the_others() -> None:
    done = trials({f"native.{t}": [10, 12] for t in ("t10", "t20")})
    assert numbers(exhibit(BARS, done).grids[0], "Mean latency, read") == [11]


def test_lines_without_a_common_level_are_not_compared_and_the_way_out_is_said() -> None:
    found = exhibit(BARS, trials({"native.t10": [10, 12], "docker.t20": [20, 22]}))
    assert found.charts == []
    assert "share no levels of threads" in found.caption
    assert "panels: [threads]" in found.caption


def test_in_panels_of_that_factor_everything_is_shown() -> None:
    done = trials({"native.t10": [10, 12], "native.t20": [90, 92], "docker.t20": [20, 22]})
    found = exhibit("{kind: mean-bars, metrics: [read.mean], panels: threads}", done)
    assert column(found.grids[0], "threads") == ["t10", "t20", "t20"]
    assert "Left out" not in found.caption


def test_a_ladder_of_the_measured_throughput_keeps_every_step() -> None:
    done = trials({"native.t10": [10, 12], "native.t20": [20, 22], "docker.t10": [20, 22]})
    found = exhibit("{kind: ladder, x: throughput, metrics: [read.mean]}", done)
    assert [layer.y for layer in found.charts[0].layers if layer.kind == "line"] == [[21, 11], [21]]


def test_a_band_needs_the_series_of_all_lines_not_only_their_trials() -> None:
    done = [trial(f"{p}.{t}", k, {}) for p in ("native", "docker") for t in ("t10", "t20")
            for k in (1, 2)]  # fmt: skip
    recorded = [
        series(one, throughput=[10.0, 10.0]) for one in done if one.condition != "docker.t20"
    ]
    found = exhibit("{kind: band, metrics: [throughput], window: 2s}", done, lines=recorded)
    names = {name for layer in found.charts[0].layers for mark in layer.conditions for name in mark}
    assert names == {"native.t10", "docker.t10"}
    assert "threads t20" in found.caption
