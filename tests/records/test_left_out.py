"""What a run's plan.json says of conditions that were left out, whatever that file holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.records.left_out import read_left_out

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, content: Any) -> dict[str, tuple[str, str]]:
    plan = tmp_path / "plan.json"
    plan.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_left_out(plan)


def test_each_condition_has_its_reason_and_remedy(tmp_path: Path) -> None:
    entry = {"condition": {"name": "kvm"}, "field": "a", "why": "no KVM", "remedy": "try this"}
    assert read(tmp_path, {"left_out": [entry]}) == {"kvm": ("no KVM", "try this")}


def test_a_plan_of_an_older_version_left_nothing_out(tmp_path: Path) -> None:
    assert read(tmp_path, {"seed": 7, "conditions": []}) == {}


def test_a_run_without_a_plan_left_nothing_out(tmp_path: Path) -> None:
    assert read_left_out(tmp_path / "plan.json") == {}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[" * 100_000,
        [],
        {"left_out": None},
        {"left_out": {"kvm": 1}},
        {"left_out": [None, 3, "kvm", {}, {"condition": "kvm"}, {"condition": {"name": 7}}]},
    ],
)
def test_a_damaged_plan_says_nothing(tmp_path: Path, content: Any) -> None:
    assert read(tmp_path, content) == {}


def test_a_reason_that_is_no_text_is_empty(tmp_path: Path) -> None:
    entry = {"condition": {"name": "kvm"}, "why": ["x"], "remedy": None}
    assert read(tmp_path, {"left_out": [entry]}) == {"kvm": ("", "")}
