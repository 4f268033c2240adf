"""Rank tests, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tare.analysis.inference.ranks import least_rank_sums, rank_sums, signed_ranks


@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
def test_wilcoxon_is_scipys_exact_one(n: int) -> None:
    values = np.random.default_rng(n).normal(0.3, 1, n)
    expected = stats.wilcoxon(values, method="exact").pvalue
    assert signed_ranks(list(values)) == pytest.approx(expected)


def test_ties_and_zeros_fall_back_on_the_approximation() -> None:
    values = [0.0, 1.0, 1.0, -2.0, 3.0, 4.0]
    assert signed_ranks(values) == pytest.approx(stats.wilcoxon(values).pvalue)
    assert signed_ranks([0.0, 0.0]) == 1.0


@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 5), (3, 8), (20, 25)])
def test_mann_whitney_is_scipys_exact_one(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    base, treated = rng.normal(0, 1, n), rng.normal(0.5, 1, m)
    expected = stats.mannwhitneyu(treated, base, method="exact").pvalue
    assert rank_sums([(list(base), list(treated))]) == pytest.approx(expected)
    assert rank_sums([(list(treated), list(base))]) == pytest.approx(expected)


def test_cells_are_ranked_apart_so_that_their_levels_do_not_matter() -> None:
    rng = np.random.default_rng(4)
    cells = [(list(rng.normal(0, 1, 5)), list(rng.normal(0.3, 1, 5))) for _ in range(6)]
    moved = [([x + 100 * i for x in b], [x + 100 * i for x in t]) for i, (b, t) in enumerate(cells)]
    assert rank_sums(cells) == rank_sums(moved)
    excess = sum(stats.mannwhitneyu(t, b).statistic - 12.5 for b, t in cells)
    z = (abs(excess) - 0.5) / np.sqrt(6 * 25 * 11 / 12)
    assert rank_sums(cells) == pytest.approx(2 * stats.norm.sf(z), rel=0.05)


def test_ties_count_a_half() -> None:
    assert rank_sums([([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])]) == 1.0


def test_the_least_p_is_reached_when_everything_is_larger() -> None:
    cells = [([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])]
    assert rank_sums(cells) == pytest.approx(least_rank_sums(cells))
    assert least_rank_sums(cells) == pytest.approx(0.1)
