"""A run's plan.json as plain data, in any state: the conditions left out, and the slices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 * 2**20
"""A plan of 1000 conditions has some 3 MB; a larger file is no plan of Tare's."""


def read_plan(plan: Path) -> dict[str, Any]:
    """The plan as plain data; empty where it is missing or damaged."""
    try:
        if plan.stat().st_size > MOST_BYTES:
            return {}
        return mapping(json.loads(plan.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def read_left_out(plan: Path) -> dict[str, tuple[str, str]]:
    """Name of each condition that was left out to the reason and the remedy.

    Empty where the plan is missing or damaged: its conditions then count as planned, and those
    without trials as missing.
    """
    entries = read_plan(plan).get("left_out")
    found: dict[str, tuple[str, str]] = {}
    for entry in entries if isinstance(entries, list) else []:
        name = text(mapping(mapping(entry).get("condition")).get("name"))
        if name:
            found[name] = text(entry.get("why")), text(entry.get("remedy"))
    return found


def read_slicing(plan: Path) -> dict[str, Any]:
    """`asked`, and `why_not` where there is a reason; empty where the plan does not say."""
    said = mapping(read_plan(plan).get("slicing"))
    asked = said.get("asked")
    if not isinstance(asked, str | int | float):
        return {}
    reason = text(said.get("why_not"))
    return {"asked": asked} | ({"why_not": reason} if reason else {})


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """The value where it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
