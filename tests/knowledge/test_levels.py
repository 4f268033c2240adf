"""Consistency levels in questions, runs and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.knowledge.levels import levels_apart, levels_of

if TYPE_CHECKING:
    from tare.knowledge.schema import Operation


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("QUORUM", {"reads": "QUORUM", "writes": "QUORUM"}),
        ("reads ONE, writes TWO", {"reads": "ONE", "writes": "TWO"}),
        ("writes acknowledged by 2 members, reads by 1", {"reads": "1", "writes": "2"}),
        ("writes acknowledged by 2 members, read preference primary", {"writes": "2"}),
        ("journalled", {}),
        ("", {}),
    ],
)
def test_a_text_states_the_level_of_one_side_of_both_or_of_none(
    text: str, found: dict[str, str]
) -> None:
    assert levels_of(text) == found


@pytest.mark.parametrize(
    ("wanted", "found", "operation", "apart"),
    [
        ("QUORUM", "QUORUM", "all", 0.0),
        ("QUORUM", "ONE", "all", 1.0),
        ("QUORUM", "", "read", 0.5),
        ("QUORUM", "reads QUORUM, writes ONE", "all", 0.5),
        ("QUORUM", "reads QUORUM, writes ONE", "read", 0.0),
        ("QUORUM", "reads QUORUM, writes ONE", "update", 1.0),
        (
            "writes acknowledged by 2 members",
            "writes acknowledged by 2 members, reads by 1",
            "all",
            0.0,
        ),
        ("writes acknowledged by 2 members", "QUORUM", "read", None),
    ],
)
def test_an_operation_is_as_far_apart_as_its_own_levels(
    wanted: str, found: str, operation: Operation, apart: float | None
) -> None:
    assert levels_apart(wanted, found, operation) == apart
