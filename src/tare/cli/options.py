"""Arguments and options that several commands have."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from tare.errors import UsageError
from tare.knowledge.replication.papers import shipped_names, study_file
from tare.nearest import did_you_mean


def complete_study(incomplete: str) -> list[str]:
    """Names for shell completion; if none matches, the shell completes files."""
    return [name for name in shipped_names() if name.startswith(incomplete)]


def named_study(study: Path) -> Path:
    """The study that comes with Tare under this name, if there is no such file.

    Raises:
        UsageError: there is neither, and the text looks like a name; or it is the path of a study
            that lies elsewhere, as where Tare was installed without its checkout.
    """
    name = str(study)
    if study.exists():
        return study
    known = shipped_names()
    if study.name != name or study.suffix:
        if study.stem in known:
            raise UsageError(
                f"{name}: no such file",
                why=f"{study.stem} is a study that comes with Tare, named without a path",
                remedy=f"write {study.stem}",
            )
        return study
    if name not in known:
        raise UsageError(
            f"{name}: no such study",
            why="there is no such file here, and no study of this name comes with Tare",
            remedy=did_you_mean(name, known, f"give a path, or one of {', '.join(known)}"),
        )
    return study_file(name)


StudyFile = Annotated[
    Path,
    typer.Argument(
        help="The study: a YAML file, or the name of one that comes with Tare.",
        metavar="STUDY",
        callback=named_study,
        autocompletion=complete_study,
    ),
]
RunDirectory = Annotated[
    Path, typer.Argument(help="The run's directory, runs/NAME.", metavar="RUN")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Override a field, e.g. --set load.threads=64.", metavar="PATH=VALUE"
    ),
]
Scale = Annotated[
    str | None,
    typer.Option("--scale", help="One of the study's scales, e.g. laptop.", metavar="NAME"),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Only the conditions with these levels of a factor, e.g. --only threads=10,50.",
        metavar="FACTOR=LEVEL,...",
    ),
]
Runs = Annotated[Path, typer.Option("--runs", help="Directory that holds all runs.", metavar="DIR")]
Name = Annotated[
    str | None,
    typer.Option("--name", help="Name of the run; the study's by default.", metavar="NAME"),
]
Knowledge = Annotated[
    list[Path] | None,
    typer.Option("--knowledge", help="A further knowledge base; the last one wins.", metavar="DIR"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def study_words(
    study: Path, set_: list[str] | None, scale: str | None, only: list[str] | None
) -> list[str]:
    """The study and its options, as words for another command line."""
    given = {"--set": set_, "--scale": [scale] if scale else [], "--only": only}
    pairs = [(option, value) for option, own in given.items() for value in own or []]
    return [str(study), *chain.from_iterable(pairs)]
