"""Condition + unit by least squares, against statsmodels and against the textbook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from tare.analysis.inference.twoway import fit_two_way

if TYPE_CHECKING:
    from collections.abc import Hashable


def table_of(values: np.ndarray) -> dict[tuple[str, Hashable], float]:
    """Rows are conditions a, b, c, ...; columns are units."""
    return {
        (chr(ord("a") + i), j): float(values[i, j])
        for i, j in np.ndindex(*values.shape)
        if not np.isnan(values[i, j])
    }


def test_a_complete_table_gives_the_textbook_analysis_of_variance() -> None:
    values = np.random.default_rng(1).normal(size=(4, 3))
    fit = fit_two_way(table_of(values), "a")
    residuals = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
    assert fit.df == (4 - 1) * (3 - 1)
    assert fit.complete
    assert fit.residual_ss == pytest.approx((residuals**2).sum())
    assert fit.effects["c"] == pytest.approx(values[2].mean() - values[0].mean())
    assert fit.unscaled["c"] == pytest.approx(2 / 3)


def test_with_gaps_it_agrees_with_statsmodels() -> None:
    values = np.random.default_rng(2).normal(size=(4, 5))
    values[0, 1] = values[2, 0] = values[3, 4] = np.nan
    table = table_of(values)
    fit = fit_two_way(table, "a")
    frame = pd.DataFrame([(c, u, y) for (c, u), y in table.items()], columns=["c", "u", "y"])
    ols = smf.ols("y ~ C(c) + C(u)", frame).fit()
    assert not fit.complete
    assert fit.df == ols.df_resid
    assert fit.variance == pytest.approx(ols.scale)
    for name in "bcd":
        assert fit.effects[name] == pytest.approx(ols.params[f"C(c)[T.{name}]"])
        se = (fit.unscaled[name] * (fit.variance or 0)) ** 0.5
        assert se == pytest.approx(ols.bse[f"C(c)[T.{name}]"])


def test_conditions_that_share_no_unit_with_the_reference_are_left_out() -> None:
    table: dict[tuple[str, Hashable], float] = {
        ("a", 1): 0.0,
        ("b", 1): 1.0,
        ("c", 2): 5.0,
        ("d", 2): 6.0,
    }
    assert fit_two_way(table, "a").effects == {"b": 1.0}


def test_a_condition_is_reached_through_others() -> None:
    table: dict[tuple[str, Hashable], float] = {
        ("a", 1): 0.0,
        ("b", 1): 1.0,
        ("b", 2): 11.0,
        ("c", 2): 13.0,
    }
    assert fit_two_way(table, "a").effects == pytest.approx({"b": 1.0, "c": 3.0})


def test_without_the_reference_there_is_no_effect() -> None:
    fit = fit_two_way({("b", 1): 1.0}, "a")
    assert fit.effects == {}
    assert fit.variance is None


def test_conditions_without_any_noise_leave_nothing_over() -> None:
    """Rounding errors do not count as variance, even of large values."""
    values = np.repeat([[0.1], [0.3], [9.7]], 5, axis=1) + 7.3
    fit = fit_two_way(table_of(values), "a")
    assert fit.residual_ss < 1e-28
    assert fit.effects == pytest.approx({"b": 0.2, "c": 9.6})
