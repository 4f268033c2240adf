"""Why a setup cannot be run, with the remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Obstacle:
    """Why a setup cannot be run.

    Attributes:
        field: path of the first field that asks for what there is not.
        why: the reason; several are joined by semicolons.
        remedy: what to do about the first.
        reasons: where there are several, each by itself.
    """

    field: tuple[str, ...]
    why: str
    remedy: str
    reasons: tuple[str, ...] = ()

    @property
    def whys(self) -> tuple[str, ...]:
        """Each reason by itself."""
        return self.reasons or (self.why,)
