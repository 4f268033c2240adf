"""The round trip bounds the offset between two clocks; the fastest answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import RuntimeUnavailableError
from tare.machines.clocks import Offset, clock_offset, measure, refuse_unsure
from tare.machines.inventory.host import Host
from tare.machines.ssh import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS = st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=20)


def clocks(
    ahead: float, ways: list[tuple[float, float]]
) -> tuple[Callable[[], float], Callable[[], float]]:
    """A clock that is `ahead` of this one, and this one; `ways`: each question's travel times."""
    now = [0.0]
    coming = iter(ways)

    def ask() -> float:
        there, back = next(coming)
        now[0] += there
        read = now[0] + ahead
        now[0] += back
        return read

    return ask, lambda: now[0]


@settings(deadline=None)
@given(st.floats(-3600, 3600), WAYS)
def test_the_truth_lies_within_the_bound_however_lopsided_the_way(
    ahead: float, ways: list[tuple[float, float]]
) -> None:
    ask, clock = clocks(ahead, ways)
    found = measure(ask, len(ways), clock)
    assert abs(found.ahead_s - ahead) <= found.uncertain_s + 1e-9
    assert found.uncertain_s <= min(sum(way) for way in ways) / 2 + 1e-9


def test_the_fastest_answer_counts() -> None:
    ask, clock = clocks(5.0, [(0.4, 0.0), (0.001, 0.001), (0.0, 0.4)])
    found = measure(ask, 3, clock)
    assert found.ahead_s == pytest.approx(5.0)
    assert found.uncertain_s == pytest.approx(0.001)
    assert found.sure
    assert str(found) == "5000.0 ms ahead, ± 1.0 ms"


def test_a_clock_that_is_set_back_between_question_and_answer_tells_nothing() -> None:
    times = iter([10.0, 9.0, 9.5, 9.6])
    found = measure(lambda: 9.55, 2, lambda: next(times))
    assert found.uncertain_s == pytest.approx(0.05)
    backwards = iter([2.0, 1.0])
    with pytest.raises(RuntimeUnavailableError, match="backwards"):
        measure(lambda: 0.0, 1, lambda: next(backwards))


def test_a_slow_way_is_no_basis_for_one_instant() -> None:
    refuse_unsure({"near": Offset(3600.0, 0.002, 12)})
    with pytest.raises(RuntimeUnavailableError, match="one instant") as caught:
        refuse_unsure({"near": Offset(0.0, 0.002, 12), "far": Offset(0.0, 0.08, 12)})
    assert caught.value.where == "far"
    assert "80.0 ms" in caught.value.why


class Says(Connection):
    """A host whose every command prints one text."""

    def __init__(self, text: str) -> None:
        super().__init__(Host("far", "192.0.2.1"))
        self.text = text

    def check(self, *command: object, within_s: float = 1.0) -> str:
        assert [str(one) for one in command] == ["date", "+%s.%N"]
        return self.text


def test_the_clock_of_a_host_is_its_date() -> None:
    found = clock_offset(Says("1000.5"), 2)
    assert found.ahead_s < -1e9
    assert found.uncertain_s < 1


@pytest.mark.parametrize("text", ["1000.%N", "", "Sun Nov 22", "nan", "inf", "1e400", "-1.5"])
def test_a_date_without_fractions_is_refused(text: str) -> None:
    with pytest.raises(RuntimeUnavailableError, match="cannot be read") as caught:
        clock_offset(Says(text))
    assert "coreutils" in caught.value.remedy
