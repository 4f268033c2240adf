"""Alpha spending and the levels of looks, against published tables."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scipy import special

from tare.analysis.inference.group_sequential import (
    LookLevel,
    Sides,
    crossing,
    nominal_levels,
    spending,
)


def bounds(levels: list[float], sides: Sides) -> list[float]:
    """Standard normal quantiles of levels."""
    return [-float(special.ndtri(level / sides)) for level in levels]


def test_looks_at_5_and_8_of_8_rounds_spend_0132_and_05() -> None:
    assert spending(5 / 8, 0.05) == pytest.approx(0.0132, abs=5e-5)
    assert spending(1, 0.05) == 0.05
    assert spending(0, 0.05) == 0


def test_five_looks_have_the_published_bounds() -> None:
    """One-sided 2.5%: Lan and DeMets (1983), and `sfLDOF` of the R package gsDesign."""
    fractions = [0.2, 0.4, 0.6, 0.8, 1.0]
    levels = nominal_levels(fractions, [spending(t, 0.025) for t in fractions], 1)
    assert bounds(levels, 1) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=6e-4)


def test_four_looks_have_the_levels_that_another_program_gives() -> None:
    """One-sided 5%: the table in the manual of SeqBounds.jl, whose grid is coarser."""
    fractions = [0.25, 0.5, 0.75, 1.0]
    levels = nominal_levels(fractions, [spending(t, 0.05) for t in fractions], 1)
    assert bounds(levels, 1) == pytest.approx([3.74955, 2.53993, 2.01604, 1.72014], abs=1e-4)
    assert levels == pytest.approx([8.85754e-5, 0.00554366, 0.0218979, 0.0427037], rel=1e-3)


@pytest.mark.parametrize(
    ("looks", "constant"),
    [(2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)],
)
def test_pocock_s_constants_cross_with_5_percent(looks: int, constant: float) -> None:
    """Jennison and Turnbull (2000), table 2.1, two-sided alpha 0.05."""
    level = 2 * float(special.ndtr(-constant))
    assert crossing(range(1, looks + 1), [level] * looks, 2) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize(
    ("looks", "constant"),
    [(2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040), (10, 2.087)],
)
def test_o_brien_and_fleming_s_constants_cross_with_5_percent(looks: int, constant: float) -> None:
    """Jennison and Turnbull (2000), table 2.3, two-sided alpha 0.05."""
    at = range(1, looks + 1)
    levels = [2 * float(special.ndtr(-constant * (looks / k) ** 0.5)) for k in at]
    assert crossing(at, levels, 2) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize(("looks", "inflated"), [(2, 0.083), (3, 0.107), (5, 0.142)])
def test_tests_at_5_percent_at_every_look_cross_as_published(looks: int, inflated: float) -> None:
    """Armitage, McPherson and Rowe (1969), table 2."""
    assert crossing(range(1, looks + 1), [0.05] * looks, 2) == pytest.approx(inflated, abs=5e-4)


@pytest.mark.parametrize("sides", [1, 2])
def test_levels_spend_what_they_may(sides: Sides) -> None:
    rounds, spent = [4, 5, 36], [0.0, 0.004, 0.05]
    levels = nominal_levels(rounds, spent, sides)
    assert levels[0] == 0
    assert crossing(rounds[1:], levels[1:], sides) == pytest.approx(0.05, abs=1e-8)


def test_close_looks_are_integrated_well() -> None:
    """Looks at 99 and 100 of 100: by Slepian's bound, between the levels of one test and two."""
    both = crossing([99, 100], [0.05, 0.05], 2)
    assert both == pytest.approx(crossing([990, 1000], [0.05, 0.05], 2), abs=1e-9)
    assert 0.05 < both < 0.06


@pytest.mark.parametrize("sides", [1, 2])
def test_a_corrected_p_value_is_significant_where_the_plain_one_is_at_its_level(
    sides: Sides,
) -> None:
    look = LookLevel([5, 8], lambda alpha: [spending(5 / 8, alpha), alpha], 0.05, sides)
    assert 0.043 < look.level < 0.048
    assert look.corrected(look.level * (1 - 1e-9)) <= 0.05 < look.corrected(look.level * 1.000001)


def test_corrected_p_values_rise_with_plain_ones_and_never_lie_below_them() -> None:
    look = LookLevel([5], lambda alpha: [spending(5 / 8, alpha)], 0.05, 2)
    plain = [0.0, 1e-300, 1e-40, 1e-12, 1e-6, 0.001, 0.0131, 0.0133, 0.2, 0.31, 0.9, 1.0]
    corrected = [look.corrected(p) for p in plain]
    assert all(a <= b for a, b in pairwise(corrected))
    assert all(p <= after <= 1 for p, after in zip(plain, corrected, strict=True))


def test_a_corrected_p_value_is_the_least_error_that_finds_it() -> None:
    """The definition, by another way: the look's level for that error is the plain p value."""
    look = LookLevel([5, 8], lambda alpha: [spending(5 / 8, alpha), alpha], 0.05, 2)
    alpha = look.corrected(0.011)
    again = nominal_levels([5, 8], [spending(5 / 8, alpha), alpha], 2)[-1]
    assert again == pytest.approx(0.011, rel=1e-3)
