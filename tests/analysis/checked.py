"""One check of an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Check


def check(analysis: Analysis, name: str) -> Check:
    """The only check with this name."""
    (found,) = (c for c in analysis.checks if c.name == name)
    return found
