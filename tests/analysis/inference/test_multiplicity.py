"""P values of many comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from tare.analysis.inference.multiplicity import adjust, benjamini_hochberg


def test_holm_for_the_primary_and_false_discovery_rate_for_the_rest() -> None:
    primary = {
        ("all.p99", "n", "a"): 0.01,
        ("all.p99", "n", "b"): 0.03,
        ("all.p99", "n", "c"): 0.04,
    }
    rest = {
        ("all.mean", "n", "a"): 0.01,
        ("all.mean", "n", "b"): 0.03,
        ("all.mean", "n", "c"): 0.04,
    }
    found = adjust(primary, rest)
    # Holm: 3 x .01, 2 x .03, then no less than before; BH: .01 x 3/1, .03 x 3/2, .04 x 3/3
    assert [found[key].p for key in primary] == pytest.approx([0.03, 0.06, 0.06])
    assert [found[key].p for key in rest] == pytest.approx([0.03, 0.04, 0.04])
    assert found["all.p99", "n", "a"].how == "Holm over 3 primary comparisons"
    assert found["all.mean", "n", "a"].how == "Benjamini-Hochberg over 3 secondary comparisons"


def test_a_family_of_one_stays_as_it_is() -> None:
    assert adjust({("all.p99", "n", "a"): 0.02}, {})["all.p99", "n", "a"].p == pytest.approx(0.02)
    assert adjust({}, {}) == {}


@pytest.mark.parametrize("ps", [[0.03], [0.5, 0.01, 0.01, 1.0], [0.2, 0.04, 0.03, 0.9, 0.001]])
def test_the_false_discovery_rate_is_that_of_the_usual_library(ps: list[float]) -> None:
    assert benjamini_hochberg(ps) == pytest.approx(false_discovery_control(ps, method="bh"))
    assert benjamini_hochberg(np.array([])).size == 0
