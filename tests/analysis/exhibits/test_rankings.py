"""Rankings of deployments across (workload, operation) pairs, as Truyen 2018 reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.analysis.exhibits.scene import column, exhibit, trial

if TYPE_CHECKING:
    from tare.analysis.trials import Trial

PLATFORMS = ("native", "docker", "published")


def measured(values: dict[str, tuple[float, float, float]]) -> list[Trial]:
    """Threads level to the p95 of reads of the three platforms."""
    return [
        trial(f"{platform}.{threads}", 1, {"read.p95": value})
        for threads, row in values.items()
        for platform, value in zip(PLATFORMS, row, strict=True)
    ]


def test_an_order_that_recurs_everywhere_is_said_to() -> None:
    done = measured({"t10": (1, 2, 3), "t20": (2, 4, 8), "t40": (3, 3.5, 4)})
    found = exhibit("{kind: rankings, panels: threads}", done)
    common, orders, _ = found.grids
    assert column(common, "platform") == list(PLATFORMS)
    assert column(common, "Mean of means") == [2.0, 19 / 6, 5.0]
    assert column(common, "Before the next in") == ["3 of 3", "3 of 3", ""]
    assert "the same order in all 3 pairs (at random with probability 0.028)" in common.notes[0]
    assert orders.rows == [
        ["native < docker < published", 3.0, "t10, read.p95; t20, read.p95; t40, read.p95"]
    ]


def test_where_no_order_recurs_no_difference_is_claimed() -> None:
    done = measured({"t10": (1, 2, 3), "t20": (3, 1, 2), "t40": (2, 3, 1)})
    found = exhibit("{kind: rankings, panels: threads}", done)
    assert "no recurring ranking in 3 pairs, so no difference is claimed" in found.grids[0].notes[0]
    assert len(found.grids[1].rows) == 3


def test_groups_have_rankings_of_their_own() -> None:
    done = measured({"t10": (1, 2, 3), "t20": (1, 2, 3), "t40": (3, 2, 1)})
    show = "{kind: rankings, panels: threads, groups: {few: [t10, t20], many: t40}}"
    common = exhibit(show, done).grids[0]
    assert column(common, "Group") == ["few"] * 3 + ["many"] * 3
    assert "few, read: the same order in all 2 pairs" in common.notes[0]
    assert "many, read: one pair only" in common.notes[1]


def test_a_pair_that_was_not_measured_for_all_is_named_and_left_out() -> None:
    done = measured({"t10": (1, 2, 3), "t20": (1, 2, 3)})
    done.append(trial("native.t40", 1, {"read.p95": 1.0}))
    found = exhibit("{kind: rankings, panels: threads}", done)
    assert "Left out, not measured for all: t40, read.p95." in found.caption
    assert found.grids[1].rows[0][1] == 2.0


def test_a_pair_is_the_mean_of_its_points() -> None:
    """Without panels, threads are points of one pair: means 2, 1 and 3."""
    done = measured({"t10": (1, 1, 3), "t20": (2, 1, 3), "t40": (3, 1, 3)})
    found = exhibit("{kind: rankings}", done)
    assert found.grids[1].rows[0][0] == "docker < native < published"


def test_ranks_are_drawn_with_the_best_on_top() -> None:
    done = measured({"t10": (1, 2, 3), "t20": (1, 3, 2), "t40": (1, 2, 3)})
    chart = exhibit("{kind: rankings, panels: threads}", done).charts[0]
    assert chart.y_down
    lines = {layer.series: layer.y for layer in chart.layers if layer.kind == "line"}
    assert lines == {"native": [1, 1, 1], "docker": [2, 3, 2], "published": [3, 2, 3]}


def test_operations_of_the_same_trials_are_no_evidence_of_their_own() -> None:
    done = [
        trial(f"{platform}.t10", 1, {"read.mean": value, "read.p95": 2 * value})
        for platform, value in zip(PLATFORMS, (1.0, 2.0, 3.0), strict=True)
    ]
    found = exhibit("{kind: rankings, metrics: [read.mean, read.p95]}", done)
    note = found.grids[0].notes[0]
    assert "operations of the same trials and agree by themselves" in note
    assert "probability" not in note
