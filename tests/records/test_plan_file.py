"""Omitted conditions and slices from a run's plan.json, even if the file is damaged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.records.plan_file import read_left_out, read_slicing

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, content: Any) -> dict[str, tuple[str, str]]:
    plan = tmp_path / "plan.json"
    plan.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_left_out(plan)


def test_each_condition_has_its_reason_and_remedy(tmp_path: Path) -> None:
    entry = {"condition": {"name": "kvm"}, "field": "a", "why": "no KVM", "remedy": "try this"}
    assert read(tmp_path, {"left_out": [entry]}) == {"kvm": ("no KVM", "try this")}


def test_a_plan_that_leaves_nothing_out_needs_not_say_so(tmp_path: Path) -> None:
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
