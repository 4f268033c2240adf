"""The looks at a run: the rounds after which it could have ended, and the decisions.

Absent where nobody looked before the planned end. The program that runs a study writes them, and
the analysis takes the levels of its tests from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.errors import RecordError
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path

Why = Literal["planned", "end", "time"]
"""planned: before the last round, and an undecided run goes on; end: after the last round; time: no
further round would have ended within design.at_most"""


class Look(BaseModel):
    """One look at a run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    round: int = Field(ge=1, description="after which it was")
    of: int = Field(ge=1, description="rounds that were planned at most, when it was")
    why: Why
    decided: bool | None = Field(
        description="every primary comparison had a verdict; null: not known, or not asked"
    )

    @property
    def final(self) -> bool:
        """No look follows, so that this one may use all of the error that is left."""
        return self.why != "planned"


class Looks(BaseModel):
    """All looks at a run, in the order of their rounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    looks: list[Look] = []

    def after(self, round_: int) -> Look | None:
        """The look after this round, if there was one."""
        return next((one for one in self.looks if one.round == round_), None)

    def ended(self) -> Look | None:
        """The last look, where the run ended with it."""
        last = self.looks[-1] if self.looks else None
        return last if last is not None and (last.final or last.decided) else None

    def with_look(self, look: Look) -> Looks:
        """These looks and one more, which replaces a look after the same round."""
        others = [one for one in self.looks if one.round != look.round]
        return Looks(looks=sorted([*others, look], key=lambda one: one.round))


def read_looks(file: Path) -> Looks:
    """The looks at a run; none where the file is missing.

    Raises:
        RecordError: it cannot be read. Without it the levels of all tests would be wrong.
    """
    try:
        return Looks.model_validate_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Looks()
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise RecordError(
            "the looks at the run cannot be read",
            where=str(file),
            why=str(error),
            remedy="restore the file; without it the levels of the tests are not known",
        ) from error


def write_looks(file: Path, looks: Looks) -> None:
    """Replace the file, whole or not at all."""
    replace_file(file, looks.model_dump_json(indent=1) + "\n")
