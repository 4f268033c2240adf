"""Quadratic regression: R's lm(y ~ x + I(x^2))."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.exhibits.quadratic_fit import fit_quadratic
from tests.analysis.exhibits.scene import column, exhibit, trials

# y with the means 2, 3, 10 at x = 0, 1, 2 and residuals of +-1: c2 = 3, c1 = -2, c0 = 2, by hand
X = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
Y = [1.0, 3.0, 2.0, 4.0, 9.0, 11.0]


def test_a_fit_worked_out_by_hand() -> None:
    fit = fit_quadratic(X, Y)
    assert fit is not None
    assert fit.coefficients == pytest.approx((2.0, -2.0, 3.0))
    # residuals 6, total sum of squares 82 about the mean 5
    assert fit.r2 == pytest.approx(1 - 6 / 82)
    # at x = 0 the curve is the mean of two values; s^2 = 6 / 3, t(0.975, 3) = 3.182446
    reach = 3.182446 * np.sqrt(2 / 2)
    assert fit.ends[0] == pytest.approx((2 - reach, 2 + reach), rel=1e-5)
    x, y, low, high = fit.curve[0]
    assert (x, y, low, high) == pytest.approx((0, 2, 2 - reach, 2 + reach), rel=1e-5)


@given(
    st.lists(st.floats(-50, 50).map(lambda c: round(c, 3)), min_size=3, max_size=3),
    st.lists(st.integers(1, 500), min_size=4, max_size=15, unique=True),
)
def test_a_parabola_is_found_again(c: list[float], x: list[int]) -> None:
    y = [c[0] + c[1] * a + c[2] * a * a for a in x]
    fit = fit_quadratic([float(a) for a in x], y)
    assert fit is not None
    size = max(1.0, *map(abs, y))
    for at, value, _, _ in fit.curve:
        assert value == pytest.approx(c[0] + c[1] * at + c[2] * at * at, abs=1e-6 * size)


def test_it_agrees_with_polyfit() -> None:
    rng = np.random.default_rng(3)
    x = np.repeat([5.0, 10, 20, 40, 75], 4)
    y = 1000 + 30 * x + 0.4 * x**2 + rng.normal(0, 50, len(x))
    fit = fit_quadratic(list(x), list(y))
    assert fit is not None
    assert fit.coefficients == pytest.approx(tuple(np.polyfit(x, y, 2)[::-1]))


def test_two_steps_have_no_curve_and_three_values_no_band() -> None:
    assert fit_quadratic([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]) is None
    exact = fit_quadratic([1.0, 2.0, 3.0], [1.0, 4.0, 9.0])
    assert exact is not None
    assert exact.ends == []
    assert exact.curve[0][2:] == (None, None)


def test_the_exhibit_has_points_curve_band_and_a_table() -> None:
    done = trials(
        {"native.t10": [20, 22], "native.t20": [30, 32], "native.t40": [70, 72]}, "read.p95"
    )
    found = exhibit("{kind: quadratic-fit, where: {platform: native}}", done)
    kinds = [layer.kind for layer in found.charts[0].layers]
    assert kinds == ["band", "line", "points"]
    assert found.charts[0].layers[2].x == [10, 10, 20, 20, 40, 40]
    assert found.charts[0].x_title == "Client threads"
    assert column(found.grids[0], "Values") == [6.0]
    r2 = column(found.grids[0], "R\u00b2")[0]
    assert isinstance(r2, float)
    assert r2 > 0.99


def test_two_steps_are_drawn_as_points_without_a_table_of_curves() -> None:
    found = exhibit(
        "{kind: quadratic-fit, where: {platform: native, threads: [t10, t20, t40]}}",
        trials({"native.t10": [20, 22], "native.t20": [30, 32]}, "read.p95"),
    )
    assert [layer.kind for layer in found.charts[0].layers] == ["points"]
    assert found.grids == []


def test_a_metric_that_the_records_do_not_have_is_named() -> None:
    found = exhibit("{kind: quadratic-fit, metrics: [scan.p95]}", trials({"native.t10": [1]}))
    assert found.charts == []
    assert "Not in the records: values of scan.p95" in found.caption
