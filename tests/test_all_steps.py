"""Teardown goes on after a fault, and does not hide the fault."""

from __future__ import annotations

import pytest

from tare.all_steps import faults_of, raise_first
from tare.errors import ClusterError, TareError


def test_every_step_is_taken_and_what_went_wrong_is_kept_in_order() -> None:
    taken: list[str] = []

    def fails(name: str) -> None:
        taken.append(name)
        raise ClusterError(name)

    steps = [lambda: fails("a"), lambda: taken.append("b"), lambda: fails("c")]
    faults = faults_of(steps)
    assert taken == ["a", "b", "c"]
    assert [one.what for one in faults] == ["a", "c"]
    with pytest.raises(TareError) as raised:
        raise_first(faults)
    assert raised.value is faults[0]


def test_nothing_is_raised_where_nothing_went_wrong() -> None:
    raise_first(faults_of([lambda: None]))


def test_what_is_no_error_of_tare_s_ends_it() -> None:
    with pytest.raises(ZeroDivisionError):
        faults_of([lambda: 1 // 0])
