"""Where a runtime's images come from, and how they get to its units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tare.artifacts.binaries import find
from tare.artifacts.image import build_program_image

if TYPE_CHECKING:
    from tare.artifacts.binaries import Binary
    from tare.artifacts.image import Program

Say = Callable[[str], None]


@dataclass(frozen=True)
class Images:
    """The images of one runtime. Each function gets a callback for what takes time."""

    engine: Any
    """client of the engine that makes them"""
    bring: Callable[[str, Say], str] = lambda image, say: image
    """takes an image of that engine to where units run; gives its name for units"""
    fetch: Callable[[str, str, Say], str] = lambda name, image, say: image
    """the same for an image that a study names, and that the engine has"""
    labels: Mapping[str, str] = field(default_factory=dict)
    """labels by which everything that this run makes in that engine is found"""
    clients_by_engine: bool = True
    """clients run in that engine, and not where units do"""
    pull: str = "docker pull"
    """the command by which a user gives that engine an image"""

    def of_program(self, program: Program, binary: Binary, say: Say) -> str:
        """The image of one of Tare's programs, for units.

        Raises:
            ArtifactError: there is no such program.
            RuntimeUnavailableError: it cannot be made, or brought to units.
        """
        return self.bring(build_program_image(self.engine, program, find(binary), say), say)
