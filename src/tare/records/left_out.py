"""The conditions that a run's plan left out, as its plan.json says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.records.plan_file import mapping, read_plan, text

if TYPE_CHECKING:
    from pathlib import Path


def read_left_out(plan: Path) -> dict[str, tuple[str, str]]:
    """Name of each condition that was left out to why, and what would mend it.

    Empty where the plan is missing, damaged or of a version that left nothing out: its conditions
    then count as planned, and those without trials as missing.
    """
    entries = read_plan(plan).get("left_out")
    found: dict[str, tuple[str, str]] = {}
    for entry in entries if isinstance(entries, list) else []:
        name = text(mapping(mapping(entry).get("condition")).get("name"))
        if name:
            found[name] = text(entry.get("why")), text(entry.get("remedy"))
    return found
