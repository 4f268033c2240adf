"""Whether a run was planned in slices, and why not, as its plan.json says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.records.plan_file import mapping, read_plan, text

if TYPE_CHECKING:
    from pathlib import Path


def read_slicing(plan: Path) -> dict[str, Any]:
    """`asked`, and `why_not` where there is a reason; empty where the plan does not say."""
    said = mapping(read_plan(plan).get("slicing"))
    asked = said.get("asked")
    if not isinstance(asked, str | int | float):
        return {}
    reason = text(said.get("why_not"))
    return {"asked": asked} | ({"why_not": reason} if reason else {})
