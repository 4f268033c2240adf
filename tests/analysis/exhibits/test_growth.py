"""Does a difference grow along the axis? Known answers, and least squares by another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tare.analysis.exhibits.growth import growth
from tests.analysis.exhibits.scene import column, exhibit, numbers, trials

THREADS = [5.0, 15, 25, 35, 45, 55, 65, 75]


def scattered(seed: int) -> list[float]:
    """A latency that rises with the threads, with 5% of scatter."""
    rng = np.random.default_rng(seed)
    return [float((1000 + 30 * x + 0.2 * x * x) * np.exp(rng.normal(0, 0.05))) for x in THREADS]


def test_the_same_share_everywhere_does_not_grow() -> None:
    base = scattered(1)
    found = growth((THREADS, base), (THREADS, [1.2 * y for y in base]))
    assert found is not None
    assert found.first[0] == pytest.approx(1.2)
    assert found.last[0] == pytest.approx(1.2)
    assert found.grown[0] == pytest.approx(1.0)
    assert found.p == pytest.approx(1.0)
    assert (found.start, found.end, found.n) == (5, 75, 16)


def test_a_cost_that_grows_with_the_threads_is_measured_between_the_ends() -> None:
    """The ratio rises from 1 at 5 threads to 2 at 75, as a straight line in its logarithm."""
    base = scattered(1)
    treated = [y * 2 ** ((x - 5) / 70) for x, y in zip(THREADS, base, strict=True)]
    found = growth((THREADS, base), (THREADS, treated))
    assert found is not None
    assert found.first[0] == pytest.approx(1.0)
    assert found.last[0] == pytest.approx(2.0)
    assert found.grown[0] == pytest.approx(2.0)
    assert found.p is not None
    assert found.p < 0.001


def test_p_is_that_of_the_residuals_with_and_without_own_shapes() -> None:
    """F = (RSS0 - RSS1) / 2 over RSS1 / (n - 6), worked out with numpy and scipy alone."""
    base, treated = scattered(1), [1.1 * y for y in scattered(2)]
    found = growth((THREADS, base), (THREADS, treated))
    x = np.array(THREADS * 2)
    second = np.repeat([0.0, 1.0], len(THREADS))
    y = np.log([*base, *treated])
    common = np.column_stack([np.ones_like(x), x, x * x, second])
    own = np.column_stack([common, second * x, second * x * x])

    def rss(design: np.ndarray) -> float:
        solved, *_ = np.linalg.lstsq(design, y, rcond=None)
        return float(((y - design @ solved) ** 2).sum())

    f = (rss(common) - rss(own)) / 2 / (rss(own) / (len(x) - 6))
    assert found is not None
    assert found.p == pytest.approx(stats.f.sf(f, 2, len(x) - 6), rel=1e-6)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    x = np.repeat(THREADS, 2)
    held, rejected, times = 0, 0, 400
    for _ in range(times):
        base, treated = (
            np.exp(6 + 0.02 * x + rng.normal(0, 0.1, len(x)) + shift) for shift in (0, 0.3)
        )
        found = growth((list(x), list(base)), (list(x), list(treated)))
        assert found is not None
        assert found.p is not None
        held += found.grown[1] <= 1 <= found.grown[2]
        rejected += found.p < 0.05
    assert held / times == pytest.approx(0.95, abs=0.033)  # 3 standard errors
    assert rejected / times == pytest.approx(0.05, abs=0.033)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.1, 10), st.floats(1e-3, 1e3), st.integers(0, 50))
def test_units_and_a_common_share_change_no_growth(share: float, unit: float, seed: int) -> None:
    base, treated = scattered(seed), scattered(seed + 100)
    plain = growth((THREADS, base), (THREADS, treated))
    changed = growth(
        (THREADS, [unit * y for y in base]), (THREADS, [unit * share * y for y in treated])
    )
    assert plain is not None
    assert changed is not None
    assert changed.grown == pytest.approx(plain.grown, rel=1e-6)
    assert changed.p == pytest.approx(plain.p, rel=1e-6)
    assert changed.last[0] == pytest.approx(share * plain.last[0], rel=1e-6)


def test_what_cannot_be_judged_is_not() -> None:
    y = [1.0, 2.0, 4.0]
    exact = ([1.0, 2.0, 3.0], y)
    assert growth(exact, exact) is None, "six values, six coefficients"
    assert growth(([1.0, 2.0], y[:2]), (THREADS, scattered(1))) is None, "two steps"
    assert growth(([], []), (THREADS, scattered(1))) is None
    later = ([x + 100 for x in THREADS], scattered(2))
    assert growth((THREADS, scattered(1)), later) is None, "no stretch in common"
    assert growth((THREADS, [0.0] * 8), (THREADS, scattered(1))) is None, "no logarithm"


def test_values_without_scatter_have_a_ratio_and_no_p() -> None:
    base = [2.0 * x for x in THREADS]
    found = growth((THREADS, [1.0] * 8), (THREADS, [3.0] * 8))
    assert found is not None
    assert found.first[0] == pytest.approx(3.0)
    assert found.p is None
    assert growth((THREADS, base), (THREADS, [3 * y for y in base])) is not None


def test_the_exhibit_says_of_each_line_whether_its_distance_grows() -> None:
    done = trials(
        {
            "native.t10": [20, 21],
            "native.t20": [30, 31],
            "native.t40": [70, 72],
            "docker.t10": [20, 21],
            "docker.t20": [45, 46],
            "docker.t40": [210, 216],
        },
        "read.p95",
    )
    found = exhibit("{kind: quadratic-fit, where: {platform: [native, docker]}}", done)
    curves, grown = found.grids
    assert curves.title == "Coefficients of the curves"
    assert grown.title == "Does the difference from native grow with threads?"
    assert column(grown, "Line") == ["docker"]
    assert numbers(grown, "Ratio at the first") == pytest.approx([1.0])
    assert numbers(grown, "Ratio at the last") == pytest.approx([3.0])
    assert numbers(grown, "Growth") == pytest.approx([3.0])
    assert numbers(grown, "p")[0] < 0.001
    assert "not corrected for the number of curves" in grown.notes[0]
