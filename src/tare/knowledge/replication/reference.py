"""The study as its source has it, at any scale of a run: findings are matched with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import KnowledgeError
from tare.knowledge.library import source_of
from tare.knowledge.nearness import names_machine
from tare.study.conditions import expand
from tare.study.document import read_document
from tare.study.patch import assignments
from tare.study.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

    from tare.knowledge.library import Entry, Library
    from tare.study.conditions import Condition
    from tare.study.schema import Study

PAPER = "paper"
"""The scale at which a study is as its source has it."""
_SIZES = (("platform", "limits"), ("client", "limits"), ("database", "heap"))
"""Fields of a level that stands for a size of machine."""


@dataclass(frozen=True)
class Reference:
    """A published study.

    Attributes:
        study: as its source has it.
        conditions: without repetitions of another condition (A/A).
        source: the study id of the findings.
        entries: the published findings, in the order of their file.
        carried: they are another study's, from other machines; this study asks the same here.
        other_database: they are also another database's.
    """

    study: Study
    conditions: tuple[Condition, ...]
    source: str
    entries: tuple[Entry, ...]
    carried: bool
    other_database: bool

    def named_by(self, hardware: str) -> dict[str, set[str]]:
        """Factor to its levels that the source's hardware names, for factors that set a size."""
        named = {
            factor: {level for level in levels if names_machine(hardware, level)}
            for factor, levels in self.study.factors.items()
            if any(_sets_size(patch) for patch in levels.values())
        }
        return {factor: levels for factor, levels in named.items() if levels}


def make_reference(path: Path, library: Library) -> Reference:
    """The study of this file with its published findings.

    Raises:
        StudyError: the file is no usable study.
        KnowledgeError: no published finding of it is known.
    """
    study = _as_published(path)
    source = source_of(study.study, [one.study for one in library.findings()])
    entries = [
        entry
        for entry in library.entries.values()
        if entry.finding.study == source and not entry.finding.computed
    ]
    if not entries:
        raise KnowledgeError(
            f"{study.study}: nothing published is known of this study",
            where=str(path),
            why="a scorecard compares with findings of a published study of the same name",
            remedy="`tare run` runs any study; `tare findings` lists what was published",
        )
    carried = source != study.study
    return Reference(
        study=study,
        conditions=tuple(one for one in expand(study) if one.aa_of is None),
        source=source,
        entries=tuple(entries),
        carried=carried,
        other_database=carried
        and study.database.kind not in {one.finding.database for one in entries},
    )


def _as_published(path: Path) -> Study:
    """The study at the scale of its source, if it has one; else as its file says."""
    data = read_document(path).data
    scales = data.get("scales") if isinstance(data, dict) else None
    known = isinstance(scales, dict) and PAPER in scales
    return load_study(path, scale=PAPER if known else None)


def _sets_size(patch: object) -> bool:
    if not isinstance(patch, dict):
        return False
    return any(
        one.sets and any(one.path[: len(size)] == size for size in _SIZES)
        for one in assignments(patch)
    )
