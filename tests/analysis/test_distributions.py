"""Latency distributions as a tail plot needs them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tare.analysis.distributions import LADDER

if TYPE_CHECKING:
    from tare.analysis.model import Analysis


def test_the_ladder_is_even_on_a_tail_plots_axis() -> None:
    assert LADDER[0] == 0
    assert LADDER[-1] == pytest.approx(99.99)
    assert any(p == pytest.approx(99) for p in LADDER)
    assert sorted(LADDER) == LADDER
    tail = [-math.log10(1 - p / 100) for p in LADDER if p >= 90]
    steps = [b - a for a, b in pairwise(tail)]
    assert steps == pytest.approx([1 / 14] * len(steps))
    assert 55 <= len(LADDER) <= 65


def test_quantiles_rise_and_operations_add_up(quickstart: Analysis) -> None:
    conditions = list(dict.fromkeys(d.condition for d in quickstart.distributions))
    assert conditions == [c.condition for c in quickstart.conditions]
    for condition in conditions:
        own = {
            (d.operation, d.kind): d for d in quickstart.distributions if d.condition == condition
        }
        assert len(own) == 6
        whole = own["ALL", "response"]
        assert whole.count == own["READ", "response"].count + own["UPDATE", "response"].count
        values = [value for _, value in whole.quantiles]
        assert values == sorted(values)
        assert [p for p, _ in whole.quantiles][-1] == pytest.approx(99.99)
