"""Standard deviations, Cohen's d and box plots (KVM thesis)."""

from __future__ import annotations

import math

import pytest

from tare.analysis.exhibits.spread import cohens_d, in_words
from tests.analysis.exhibits.scene import column, exhibit, trials


def sample(mean: float, sd: float) -> list[float]:
    """Two values with this mean and standard deviation."""
    return [mean - sd / math.sqrt(2), mean + sd / math.sqrt(2)]


@pytest.mark.parametrize(
    ("physical", "virtual", "d"),
    [  # KVM thesis, Tables 2 and 3: mean and sd of CPU utilisation; section 5.3.1: Cohen's d
        ((63.4, 5.13), (69.42, 1.62), 1.58),
        ((57.48, 3.69), (72.32, 5.81), 3.05),
        ((48.82, 3.01), (58.61, 3.6), 2.95),
        ((56.98, 3.23), (62.05, 2.39), 1.78),
        ((42.26, 2.51), (67.36, 3.24), 8.66),
    ],
)
def test_the_published_effect_sizes(
    physical: tuple[float, float], virtual: tuple[float, float], d: float
) -> None:
    assert cohens_d(sample(*physical), sample(*virtual)) == pytest.approx(d, abs=0.006)


def test_an_effect_size_has_a_sign_and_a_word() -> None:
    assert [in_words(d) for d in (0.1, -0.3, 0.5, -0.8, None)] == [
        "negligible",
        "small",
        "medium",
        "large",
        "",
    ]
    assert (cohens_d([2, 4], [1, 3]) or 0) < 0


def test_without_variation_there_is_no_effect_size() -> None:
    assert cohens_d([1.0, 1.0], [2.0, 2.0]) is None
    assert cohens_d([1.0], [2.0, 3.0]) is None


def test_the_table_compares_each_line_with_the_baseline() -> None:
    done = trials({"native.t10": sample(100, 10), "docker.t10": sample(110, 10)})
    grid = exhibit("{kind: spread, metrics: [read.mean], where: {threads: t10}}", done).grids[0]
    assert column(grid, "platform") == ["native", "docker"]
    assert column(grid, "sd") == pytest.approx([10, 10])
    assert column(grid, "Change")[1] == pytest.approx(10)
    assert column(grid, "Cohen's d")[1] == pytest.approx(1)
    assert column(grid, "Effect") == ["", "large"]


def test_other_factors_are_rows_and_not_mixed_into_the_deviation() -> None:
    done = trials(
        {
            "native.t10": [1, 1.1],
            "docker.t10": [1, 1.2],
            "native.t40": [100, 101],
            "docker.t40": [100, 102],
        }
    )
    grid = exhibit("{kind: spread, metrics: [read.mean]}", done).grids[0]
    assert column(grid, "threads") == ["t10", "t10", "t40", "t40"]


def test_a_box_has_quartiles_and_whiskers_after_tukey() -> None:
    done = trials({"native.t10": [1, 2, 3, 4, 100]})
    found = exhibit("{kind: box, metrics: [read.mean]}", done)
    boxes, points = found.charts[0].layers
    assert (boxes.y, boxes.quartiles) == ([3], [(2, 4)])
    assert (boxes.low, boxes.high) == ([1], [4])  # 100 is beyond 4 + 1.5 (4 - 2)
    assert sorted(points.y) == [1, 2, 3, 4, 100]
    assert points.minor
    assert column(found.grids[0], "Most") == [100]


def test_few_values_are_said_to_be_few() -> None:
    found = exhibit("{kind: box, metrics: [read.mean]}", trials({"native.t10": [1, 2, 3]}))
    assert "Quartiles of 3 values say little." in found.caption
