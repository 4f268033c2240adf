"""Knowledge bases laid over each other: shipped, a team's, the user's. Later layers win by id."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import KnowledgeError
from tare.knowledge.read import read_knowledge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.knowledge.schema import Finding, Work

SHIPPED = "shipped"
VARIABLE = "TARE_KNOWLEDGE"
MOST_FILES = 1000


@dataclass(frozen=True)
class Entry:
    """One finding, its work, and its layer.

    Attributes:
        links: the findings in its chain; none: it stands in a file.
    """

    finding: Finding
    work: Work
    origin: str
    overrides: str = ""
    links: tuple[str, ...] = ()


@dataclass
class Library:
    """All findings by id, as the layers left them.

    Attributes:
        chained: chains of the findings, once they were asked for; None: not yet.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    chained: list[Entry] | None = field(default=None, compare=False)

    def findings(self) -> list[Finding]:
        """All findings, in the order of their layers and files."""
        return [entry.finding for entry in self.entries.values()]


def place(entry: Entry) -> str:
    """The place where a finding is printed, as a citation."""
    inside = place_inside(entry.finding)
    return f"{entry.finding.study}, {inside}" if inside else entry.finding.study


def place_inside(finding: Finding) -> str:
    """The place in its source where a finding is printed."""
    source = finding.source
    parts = [
        f"section {source.section}" if source.section else "",
        f"Table {source.table}" if source.table else "",
        f"Figure {source.figure}" if source.figure else "",
        source.where,
    ]
    return ", ".join(part for part in parts if part)


def source_of(study: str, known: Sequence[str]) -> str:
    """The study id of the findings: the study's name, or its longest prefix that is an id."""
    fitting = [one for one in {*known} if study == one or study.startswith(f"{one}-")]
    return max(fitting, key=len, default="")


def shipped_directory() -> Path:
    """The directory of the knowledge that comes with Tare."""
    return Path(str(resources.files("tare.knowledge") / "data"))


def layer_directories(
    extra: Sequence[Path] = (), environment: Mapping[str, str] = os.environ
) -> list[tuple[str, Path]]:
    """(name, directory) of every layer, the shipped one first.

    Args:
        extra: directories of the command line; they come last and so win.
        environment: its TARE_KNOWLEDGE is a list of directories, separated like PATH.
    """
    listed = [Path(one) for one in environment.get(VARIABLE, "").split(os.pathsep) if one]
    return [(SHIPPED, shipped_directory()), *((str(one), one) for one in [*listed, *extra])]


def load_library(
    extra: Sequence[Path] = (), environment: Mapping[str, str] = os.environ
) -> Library:
    """All layers, laid over each other.

    Raises:
        KnowledgeError: a path that is no directory, a file that cannot be used, or one id twice in
            the same layer.
    """
    library = Library()
    for name, directory in layer_directories(extra, environment):
        for entry in _layer(name, directory):
            below = library.entries.get(entry.finding.id)
            library.entries[entry.finding.id] = Entry(
                entry.finding, entry.work, name, below.origin if below else ""
            )
    return library


def knowledge_files(directory: Path) -> list[Path]:
    """The knowledge files of a directory, by name.

    Raises:
        KnowledgeError: it is no directory, or holds too many files.
    """
    if not directory.is_dir():
        raise KnowledgeError(
            "no such knowledge base",
            where=str(directory),
            why="a knowledge base is a directory with .yaml files",
            remedy=f"correct --knowledge or {VARIABLE}",
        )
    files = sorted(path for path in directory.glob("*.yaml") if path.is_file())
    if len(files) > MOST_FILES:
        raise KnowledgeError(
            "too many knowledge files",
            where=str(directory),
            why=f"more than {MOST_FILES}",
            remedy="name a directory of knowledge files alone",
        )
    return files


def _layer(name: str, directory: Path) -> Iterable[Entry]:
    seen: dict[str, Path] = {}
    for path in knowledge_files(directory):
        content = read_knowledge(path)
        for finding in content.findings:
            if finding.id in seen:
                raise KnowledgeError(
                    f"{finding.id}: given twice in one knowledge base",
                    where=str(path),
                    why=f"also in {seen[finding.id]}; only a later layer may replace a finding",
                    remedy="rename one of the two",
                )
            seen[finding.id] = path
            yield Entry(finding, content.work, name)
