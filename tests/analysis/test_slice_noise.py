"""The noise of slices: known correlations are found, and intervals have the right width."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from tare.analysis.slice_noise import (
    correlation,
    half_width,
    inflation_of,
    noise_of,
    slices_in,
    standard_error,
)
from tare.analysis.slices import conditions_of
from tare.records.noise import MetricNoise
from tests.kept_noise import pilot


def autoregressive(rng: np.random.Generator, phi: float, n: int, columns: int = 1) -> np.ndarray:
    """AR(1): x_t = phi x_{t-1} + e_t, from its stationary distribution, with sd 1."""
    steps = rng.normal(0, math.sqrt(1 - phi**2), (n, columns))
    steps[0] /= math.sqrt(1 - phi**2)
    return np.asarray(signal.lfilter([1], [1, -phi], steps, axis=0))


def in_turn(passes: int, conditions: int) -> list[tuple[int, int]]:
    return [(place, one) for place in range(passes) for one in range(conditions)]


def test_correlations_worked_out_by_hand() -> None:
    """1, 2, 3, 4, 5, 4, 3, 2 has mean 3 and squares that sum to 12."""
    series = np.array([1.0, 2, 3, 4, 5, 4, 3, 2])
    assert correlation(series, 1) == pytest.approx((2 + 0 + 0 + 2 + 2 + 0 + 0) / 12)
    assert correlation(series, 2) == pytest.approx((0 - 1 + 0 + 1 + 0 - 1) / 12)
    assert correlation(series, 3) is None, "too short for that"


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_the_correlations_of_an_autoregression_are_its_powers(phi: float) -> None:
    series = autoregressive(np.random.default_rng(7), phi, 100_000)
    for lag in (1, 10, 40):
        assert correlation(series, lag) == pytest.approx(phi**lag, abs=0.02)


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6])
def test_the_mean_of_an_autoregression_has_the_variance_of_the_textbook(phi: float) -> None:
    """(1 + phi) / (1 - phi) times that of independent values: Box and Jenkins, for long series."""
    rng = np.random.default_rng(11)
    found = [inflation_of(autoregressive(rng, phi, 4000)) for _ in range(20)]
    assert np.mean(found) == pytest.approx((1 + phi) / (1 - phi), rel=0.1)


def test_values_that_alternate_promise_nothing() -> None:
    assert inflation_of(np.array([1.0, -1.0] * 50)) == 1.0


@pytest.mark.parametrize(("phi", "least"), [(0.0, 0.0), (0.6, 0.3)])
def test_a_pilot_foresees_how_far_a_study_is_off(phi: float, least: float) -> None:
    """Short pilots say how much fits of long studies of the same noise vary.

    Without regard to the correlations of the differences they would promise half of it.
    """
    rng = np.random.default_rng(3)

    def table(passes: int) -> np.ndarray:
        walk = np.cumsum(rng.normal(0, 0.05, passes))
        return walk[:, None] + 0.03 * autoregressive(rng, phi, passes, 3)

    studies = [conditions_of(table(400)) for _ in range(150)]
    true = np.std([one[1] - one[0] for one in studies])
    pilots = [noise_of(table(60), in_turn(60, 3)) for _ in range(25)]
    said = [standard_error(one, 400) for one in pilots if one is not None]
    assert len(said) == 25
    assert math.sqrt(np.mean(np.square(said))) == pytest.approx(true, rel=0.2)
    naive = 0.03 * math.sqrt(2 / 400)
    assert true > (1 + least) * naive * 0.9


def test_moods_of_the_machine_are_in_the_correlation_and_not_in_the_interval() -> None:
    rng = np.random.default_rng(5)
    moods = 0.2 * autoregressive(rng, 0.9, 100)
    quiet = 0.01 * rng.normal(0, 1, (100, 3))
    found = noise_of(moods + quiet, in_turn(100, 3))
    still = noise_of(quiet, in_turn(100, 3))
    assert found is not None
    assert still is not None
    assert found.sd > 8 * still.sd
    assert (found.correlations[1] or 0) > 0.8
    assert found.per_pass == pytest.approx(still.per_pass, rel=0.01)


def recorded() -> tuple[np.ndarray, list[tuple[int, int]]]:
    """A minute of three servers on a virtual machine of 2 CPUs: log cost, and which was driven."""
    told = json.loads(Path(__file__).with_name("pilot_slices.json").read_text("utf-8"))
    passed: Counter[int] = Counter()
    order = []
    for server in map(int, told["servers"]):
        order.append((passed[server], server))
        passed[server] += 1
    return np.log(np.array(told["us_per_operation"]).T), order


def test_recorded_slices_come_to_recorded_numbers() -> None:
    logs, order = recorded()
    assert logs.shape == (59, 3)
    found = noise_of(logs, order)
    assert found is not None
    assert found.sd == pytest.approx(0.1624, abs=1e-4)
    assert found.correlations == pytest.approx({1: 0.8508, 10: 0.6207, 40: 0.0898}, abs=1e-3)
    assert found.per_pass == pytest.approx(0.0246, abs=5e-4)


def test_recorded_slices_vary_as_their_batches_do() -> None:
    """Batch means, which use no pseudo-values: 7 batches of 8 passes, fitted apart."""
    logs, order = recorded()
    batches = [conditions_of(logs[at : at + 8]) for at in range(0, 56, 8)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    variance = np.mean([np.var([one[b] - one[a] for one in batches], ddof=1) for a, b in pairs])
    found = noise_of(logs, order)
    assert found is not None
    assert standard_error(found, 8) == pytest.approx(math.sqrt(variance), rel=0.35)


def test_half_widths_are_t_intervals_that_narrow_with_the_root_of_the_slices() -> None:
    """t of 10 degrees of freedom at 97.5% is 2.228 (any table)."""
    noise = MetricNoise(sd=0.1, correlations={}, per_pass=0.1, df=10)
    assert half_width(noise, 100) == pytest.approx(math.expm1(0.02228), rel=1e-3)
    assert standard_error(noise, 400) == pytest.approx(standard_error(noise, 100) / 2)


def test_a_minute_holds_so_many_slices_of_each() -> None:
    """295 ms from one slice to the next; two conditions and a third of an empty one a pass. In one
    turn two slices of 80 ms take 15 ms for all and 3 ms between them."""
    assert slices_in(1, pilot()) == pytest.approx(60 / (0.295 * (2 + 1 / 3)))
    short = pilot(slice_s=0.08, drain_s=0.016, turn="pass")
    assert slices_in(1, short) == pytest.approx(60 / (2 * 0.096 + 0.018 + 0.111 / 3))


def test_too_few_passes_tell_nothing() -> None:
    assert noise_of(np.zeros((7, 2)), in_turn(7, 2)) is None
