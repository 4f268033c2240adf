"""A server is warm when CPU per operation and throughput have stopped moving, and not before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tare.load.flatness import Calm, Warmth


def warmed(rates: list[float], costs: list[float], *, at_least: float = 0.0) -> Warmth:
    """A warm-up with one-second readings: operations/s and CPU us/operation for each second."""
    warmth = Warmth(at_least=at_least, at_most=60.0, window=3.0, bound=0.05)
    done, used = 0.0, 0.0
    warmth.reading(0.0, 0, 0.0)
    for second, (rate, cost) in enumerate(zip(rates, costs, strict=True), start=1):
        done += rate
        used += rate * cost / 1e6
        warmth.reading(float(second), round(done), used)
    return warmth


def test_a_steady_server_is_flat_after_four_windows() -> None:
    assert not warmed([10_000.0] * 11, [50.0] * 11).flat
    assert warmed([10_000.0] * 12, [50.0] * 12).flat


def test_it_is_never_flat_before_the_least_time() -> None:
    assert not warmed([10_000.0] * 12, [50.0] * 12, at_least=20.0).flat
    assert warmed([10_000.0] * 21, [50.0] * 21, at_least=20.0).flat


def test_a_jit_that_still_compiles_is_not_flat() -> None:
    """CPU per operation falls by 3% a second, as on a cold server."""
    costs = [150.0 * 0.97**second for second in range(30)]
    assert not warmed([10_000.0] * 30, costs).flat


def test_rising_throughput_alone_keeps_it_from_flat() -> None:
    rates = [11_600.0 * 1.04**second for second in range(24)]
    warmth = warmed(rates, [50.0] * 24)
    assert not warmth.flat
    assert "throughput by" in warmth.why_not_flat()


def test_windows_carry_rate_and_cost() -> None:
    (first, *_) = warmed([9_000.0] * 6, [80.0] * 6).windows
    assert (first.t, first.ops_per_s, first.cpu_us_per_op) == (3.0, 9_000.0, 80.0)


def test_the_verdict_is_empty_only_when_flat() -> None:
    assert warmed([10_000.0] * 12, [50.0] * 12).why_not_flat() == ""
    assert "only 1 windows" in warmed([10_000.0] * 3, [50.0] * 3).why_not_flat()


def test_a_server_that_does_nothing_is_not_flat() -> None:
    assert not warmed([0.0] * 30, [0.0] * 30).flat


@given(st.floats(1_000, 100_000), st.floats(5, 500))
def test_any_constant_server_becomes_flat(rate: float, cost: float) -> None:
    assert warmed([rate] * 15, [cost] * 15).flat


@given(st.floats(1.03, 1.2))
def test_any_exponential_drift_above_the_bound_is_seen(growth: float) -> None:
    """3% a second is 19% over two windows of three seconds."""
    costs = [500.0 / growth**second for second in range(30)]
    assert not warmed([10_000.0] * 30, costs).flat


def test_the_gentle_part_ends_when_the_compiler_is_quiet() -> None:
    calm = Calm(window=3.0, nodes=1)
    used = 0.0
    for second in range(10):
        used += 0.9 if second < 6 else 0.05
        calm.reading(float(second), 0, 0.0, used)
        assert calm.flat == (second >= 9)


def test_without_sight_of_the_compiler_the_gentle_part_runs_its_full_time() -> None:
    calm = Calm(window=3.0, nodes=1)
    for second in range(30):
        calm.reading(float(second), 0, 0.0, None)
    assert not calm.flat
    assert calm.seconds == 29.0


def test_several_nodes_have_a_compiler_each() -> None:
    three = Calm(window=3.0, nodes=3)
    for second in range(4):
        three.reading(float(second), 0, 0.0, 0.4 * second)
    assert three.flat
