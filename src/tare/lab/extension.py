"""Finds the finished run that further rounds extend, and keeps its earlier end in its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import UsageError
from tare.lab.directory import RunDirectory, done_trials, state_of, stem_of, study_digest
from tare.lab.journal import Journal
from tare.records.layout import RunFiles
from tare.records.looks import Look, read_looks, write_looks

if TYPE_CHECKING:
    from pathlib import Path

    from tare.lab.directory import RunState
    from tare.study.schema import Study


def choose_extended(runs: Path, study: Study, name: str | None) -> RunDirectory:
    """The newest finished run of this study with fewer rounds, or one whose extension goes on.

    Args:
        runs: the directory of all runs.
        study: with the new number of rounds.
        name: the run's; None: the study's.

    Raises:
        UsageError: there is none, or the name is no name.
    """
    stem = stem_of(study, name)
    number, found, most = 1, None, 0
    while (root := runs / (stem if number == 1 else f"{stem}-{number}")).exists():
        files = RunFiles(root)
        state = state_of(Journal(files.journal).events())
        if state is not None and not state.finished:
            if state.ended and state.digest == study_digest(study):
                found = RunDirectory(
                    files, True, done_trials(files), ended=state.ended, state=state
                )
        elif state is not None and _same_but_rounds(study, state):
            most = max(most, state.rounds)
            if state.rounds < study.design.deployments:
                done = done_trials(files)
                found = RunDirectory(files, True, done, ended=state.rounds, state=state)
        number += 1
    if found is None:
        raise _none(runs / stem, study.design.deployments, most)
    return found


def keep_earlier_end(directory: RunDirectory) -> None:
    """Record the run's earlier end as a look, unless it is recorded already."""
    looks = read_looks(directory.files.looks)
    if looks.after(directory.ended) is None:
        planned = max(directory.ended, *(one.of for one in looks.looks), 1)
        look = Look(round=directory.ended, of=planned, why="end", decided=None)
        write_looks(directory.files.looks, looks.with_look(look))


def _same_but_rounds(study: Study, state: RunState) -> bool:
    """The run is of this study, with as many rounds as it was planned with."""
    design = study.design.model_copy(update={"deployments": state.planned})
    return study_digest(study.model_copy(update={"design": design})) == state.digest


def _none(root: Path, rounds: int, most: int) -> UsageError:
    if most:
        return UsageError(
            f"no run to extend to {rounds} rounds",
            where=str(root),
            why=f"it has {most} rounds already",
            remedy="--rounds is the new number of rounds in all; give a larger one",
        )
    return UsageError(
        f"no run to extend to {rounds} rounds",
        where=str(root),
        why="there is no finished run of this very study; an unfinished one goes on without "
        "--rounds",
        remedy="give the options that the run was begun with (--scale, --set, --only, --name), or "
        "begin one without --rounds",
    )
