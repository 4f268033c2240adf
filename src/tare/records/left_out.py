"""The conditions that a run's plan left out, as its plan.json says it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 * 2**20
"""A plan of 1000 conditions has some 3 MB; what is larger is no plan of ours."""


def read_left_out(plan: Path) -> dict[str, tuple[str, str]]:
    """Name of each condition that was left out to why, and what would mend it.

    Empty where the plan is missing, damaged or of a version that left nothing out: its conditions
    then count as planned, and those without trials as missing.
    """
    try:
        if plan.stat().st_size > MOST_BYTES:
            return {}
        document = json.loads(plan.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = document.get("left_out") if isinstance(document, dict) else None
    found: dict[str, tuple[str, str]] = {}
    for entry in entries if isinstance(entries, list) else []:
        name = _text(_mapping(_mapping(entry).get("condition")).get("name"))
        if name:
            found[name] = _text(entry.get("why")), _text(entry.get("remedy"))
    return found


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
