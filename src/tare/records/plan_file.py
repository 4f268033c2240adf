"""A run's plan.json as plain data, whatever has become of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 * 2**20
"""A plan of 1000 conditions has some 3 MB; what is larger is no plan of ours."""


def read_plan(plan: Path) -> dict[str, Any]:
    """The plan as plain data; empty where it is missing or damaged."""
    try:
        if plan.stat().st_size > MOST_BYTES:
            return {}
        return mapping(json.loads(plan.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """The value where it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
