"""What a run's plan.json says of slices, whatever its version and state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.records.slicing import read_slicing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("document", "known"),
    [
        ({"slicing": {"asked": "auto", "length_s": 0.25, "why_not": ""}}, {"asked": "auto"}),
        ({"slicing": {"asked": 0.1, "length_s": 0.1, "why_not": ""}}, {"asked": 0.1}),
        (
            {"slicing": {"asked": "auto", "length_s": None, "why_not": "a reason"}},
            {"asked": "auto", "why_not": "a reason"},
        ),
        ({"rounds": []}, {}),
        ({"slicing": ["auto"]}, {}),
        ({"slicing": {"asked": None}}, {}),
        (["no plan"], {}),
    ],
)
def test_it_is_read_as_far_as_it_is_there(tmp_path: Path, document: Any, known: Any) -> None:
    plan = tmp_path / "plan.json"
    assert read_slicing(plan) == {}
    plan.write_text(json.dumps(document), encoding="utf-8")
    assert read_slicing(plan) == known
