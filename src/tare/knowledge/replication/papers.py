"""The study file that a name means: a path, or a study that comes with Tare."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import UsageError
from tare.nearest import did_you_mean

if TYPE_CHECKING:
    from tare.knowledge.library import Library

_SUFFIXES = (".yaml", ".yml")


def study_file(name: str) -> Path:
    """The study file of this name.

    Args:
        name: a path, or the name of a study that comes with Tare: grambow-2018.

    Raises:
        UsageError: there is neither.
    """
    path = Path(name)
    if path.suffix in _SUFFIXES or path.is_file():
        if path.is_file():
            return path
        raise UsageError("there is no such study", where=name, remedy=_known(path.stem))
    for directory in shipped_directories():
        # a name with separators would leave the directory
        if path.name == name and (found := directory / f"{name}.yaml").is_file():
            return found
    raise UsageError(
        f"{name}: neither a study that comes with Tare nor a file",
        remedy=_known(name),
    )


def shipped_directories() -> list[Path]:
    """Directories of studies: those that come with Tare, then those of this directory."""
    return [Path(__file__).parents[2] / "studies", Path("studies")]


def shipped_names() -> list[str]:
    """The names of these studies."""
    return sorted({one.stem for place in shipped_directories() for one in place.glob("*.yaml")})


@dataclass(frozen=True)
class Paper:
    """A study that comes with Tare and has known findings."""

    name: str
    question: str
    scales: list[str]
    published: int
    """findings that are known of its source"""
    findings: int
    """of these, those of which a run of it has conditions"""


def shipped_papers(library: Library) -> list[Paper]:
    """These studies, by name."""
    # only this needs the parser
    from tare.knowledge.library import source_of
    from tare.study.document import read_document

    studies = [one.study for one in library.findings() if not one.computed]
    found = []
    for name in shipped_names():
        source = source_of(name, studies)
        data = read_document(study_file(name)).data
        if source and isinstance(data, dict):
            question = " ".join(str(data.get("question", "")).split())
            scales = [*data.get("scales", {})]
            file = study_file(name)
            judged = _kept_count(file, library)
            judged = count_judged(file, library) if judged is None else judged
            found.append(Paper(name, question, scales, studies.count(source), judged))
    return found


def kept_counts(library: Library) -> str:
    """The text of `judged.json`: for each shipped study the number of findings that it can judge,
    which takes a third of a second to count, and the digests of the study and findings it holds
    for."""
    counts = {
        one.name: {"study": _digest(study_file(one.name)), "judged": one.findings}
        for one in shipped_papers(library)
    }
    return json.dumps({"findings": _of_findings(library), "studies": counts}, indent=1) + "\n"


def _kept_count(path: Path, library: Library) -> int | None:
    """The number counted before for this study and these findings; None: for others."""
    kept = json.loads((Path(__file__).parent / "judged.json").read_text(encoding="utf-8"))
    own = kept["studies"].get(path.stem)
    if own is None or own["study"] != _digest(path):
        return None
    return int(own["judged"]) if kept["findings"] == _of_findings(library) else None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _of_findings(library: Library) -> str:
    """Digest of the findings' names: another set of findings may match otherwise."""
    return hashlib.sha256("\n".join(library.entries).encode()).hexdigest()


def count_judged(path: Path, library: Library) -> int:
    """The number of its source's findings that a run of the whole study can judge."""
    from tare.knowledge.replication.matching import match
    from tare.knowledge.replication.reference import make_reference

    here = make_reference(path, library)
    known = {entry.finding.id: entry.finding for entry in here.entries}
    return sum(bool(match(one, here, known).pairs) for one in known.values())


def _known(name: str) -> str:
    names = shipped_names()
    listed = f"known: {', '.join(names)}" if names else "give the path of a study file"
    return did_you_mean(name, names, listed)
