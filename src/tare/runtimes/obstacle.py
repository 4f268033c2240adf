"""Why a setup cannot be run, with the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.schema import Setup


@dataclass(frozen=True)
class Obstacle:
    """Why a setup cannot be run.

    Attributes:
        field: path of the first field that asks for something missing.
        why: the reason; several are joined by semicolons.
        remedy: what to do about the first reason.
        reasons: if there are several, each by itself.
    """

    field: tuple[str, ...]
    why: str
    remedy: str
    reasons: tuple[str, ...] = ()

    @property
    def whys(self) -> tuple[str, ...]:
        """Each reason by itself."""
        return self.reasons or (self.why,)


def too_few_machines(setup: Setup, able: int, shown: str) -> Iterator[Obstacle]:
    """An orchestrator has fewer machines for nodes than the setup must have.

    Args:
        able: number of machines that can take a node.
        shown: what shows them, e.g. `tare doctor` lists the machines.
    """
    nodes, spread = setup.database.nodes, setup.platform.placement.spread
    if spread == "required" and able < nodes:
        why = f"{nodes} nodes on machines of their own, where {able} can take one"
        remedy = f"set platform.placement.spread to preferred; {shown}"
        yield Obstacle(("platform", "placement", "spread"), why, remedy)
