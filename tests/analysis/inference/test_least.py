"""The least number for which something holds equals the result of trying all in turn."""

from __future__ import annotations

import pytest

from tare.analysis.inference.least import least_number


@pytest.mark.parametrize(("least", "most"), [(2, 50), (3, 3), (3, 41)])
def test_it_is_the_first_of_all_in_turn_and_the_last_where_there_is_none(
    least: int, most: int
) -> None:
    for limit in range(most + 2):
        first = next((n for n in range(least, most + 1) if n >= limit), most)
        assert least_number(lambda n, limit=limit: n >= limit, least, most) == first
