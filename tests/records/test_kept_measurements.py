"""How long a gap without answers means a stop, rather than a pause by the hypervisor."""

from __future__ import annotations

import pytest

from tare.records.kept_measurements import stood_still


@pytest.mark.parametrize(
    ("gap_s", "slice_s", "stopped"),
    [
        (0.049, 0.04, False),
        (0.05, 0.04, True),
        (0.124, 0.25, False),
        (0.125, 0.25, True),
    ],
)
def test_half_a_slice_and_a_twentieth_of_a_second_without_an_answer_is_a_stop(
    gap_s: float, slice_s: float, *, stopped: bool
) -> None:
    assert stood_still(gap_s, slice_s) is stopped
