"""An import: other tools' files become the trials of a run, or series of existing trials."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.errors import RecordError, UsageError
from tare.imports.content import StatedLoads
from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.file_names import Names, names
from tare.imports.order import refuse_disorder
from tare.imports.repetitions import number_named
from tare.imports.sources import Skipped, files, wanted
from tare.imports.stated_factors import stated_factors
from tare.imports.tools import ADDING, Options, reader_of
from tare.imports.trial_identity import LevelNames, TrialPlace, known_fields
from tare.imports.trial_writer import (
    FromFile,
    ImportedTrial,
    add_histograms,
    add_series,
    already,
    source_file,
    write_trial,
)
from tare.nearest import nearest
from tare.records.layout import RunFiles
from tare.records.reader import read_run
from tare.study.problems import metric_names
from tare.study.read import load_study
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tare.imports.sources import File
    from tare.records.reader import TrialRecord
    from tare.study.schema import Study

READ_TOO = ("threads", "consistency")
"""Facts on the load that a table may give beside the study's factors."""
MOST_NAMED = 12
"""Number of columns that one note names."""
Key = tuple[str, int, int, str]
"""(condition, round, block, the repetition's name)."""


@dataclass(frozen=True)
class Request:
    """The import as requested.

    Attributes:
        template: None: the study's `files.template`.
        fixed: factor to the level that all files have.
        include, exclude: patterns of file names; a path fits a pattern that its end fits.
    """

    tool: str
    paths: Sequence[Path]
    study: Path
    out: Path
    template: str | None = None
    sidecar: Path | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    options: Options = field(default_factory=Options)


@dataclass
class ImportOutcome:
    """The result of the import.

    Attributes:
        trials: names of the trials that were written, or that a series was added to.
        files: number of files, or of parts of one such as the rows of a table, that were used.
        skipped: unused files, each with the reason.
        notes: actions that a reader must know.
        repetitions: condition, or condition and round, to the number of each repetition that has
            a name.
    """

    run: Path
    trials: list[str] = field(default_factory=list)
    files: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repetitions: dict[str, dict[str, int]] = field(default_factory=dict)


def import_files(request: Request) -> ImportOutcome:
    """Read all files; write the trials whose place in the study is known.

    Raises:
        UsageError: the study, the template, the options or the run's directory are wrong;
            nothing was written.
    """
    study = load_study(request.study)
    found = names(study, request.template, request.sidecar)
    if request.tool == "csv" and request.template is None:
        found = Names(None, found.rows)  # columns give the fields; the template is for results
    _refuse_fixed(study, request.fixed)
    outcome = ImportOutcome(request.out)
    adding = _adds(request)
    levels = LevelNames(study, request.fixed)
    trials = _collect(request, found, levels, outcome)
    if adding:
        _add(request, trials, outcome)
    else:
        _refuse_series_only(trials, outcome)
        _write(request, study, trials, outcome)
    if outcome.trials:
        _note_down(request, outcome)
    return outcome


def _refuse_fixed(study: Study, fixed: Mapping[str, str]) -> None:
    for factor, level in fixed.items():
        if level not in study.factors.get(factor, {}):
            known = ", ".join(study.factors.get(factor, study.factors)) or "none"
            raise UsageError(
                f"--level {factor}={level}: the study does not have it",
                why=f"it has {known}",
                remedy="e.g. " + _an_example(study),
            )


def _an_example(study: Study) -> str:
    return next(
        (
            f"--level {factor}={level}"
            for factor, levels in study.factors.items()
            for level in levels
        ),
        "without --level",
    )


def _adds(request: Request) -> bool:
    """Whether the files go into existing trials.

    Raises:
        UsageError: the directory does not fit the request.
    """
    root = request.out
    there = root.is_dir() and any(root.iterdir())
    if request.tool not in ADDING or (request.tool == "hlog" and not there):
        if root.exists() and (there or not root.is_dir()):
            raise UsageError(
                "the run's directory is not empty",
                where=str(root),
                why="an import begins a run; nothing that is there is overwritten",
                remedy="name another directory with --out, or remove that one",
            )
        return False
    if there and any(record.manifest.source is not None for record in read_run(root).trials):
        return True
    raise UsageError(
        f"{request.tool} adds series to the trials of an imported run, and there is none",
        where=str(root),
        remedy="import the load generator's files first, into the same --out",
    )


def _collect(
    request: Request, found: Names, levels: LevelNames, outcome: ImportOutcome
) -> dict[Key, ImportedTrial]:
    read = reader_of(request.tool, request.options)
    trials: dict[Key, ImportedTrial] = {}
    content = StatedLoads(levels.study)
    unwanted = 0
    for one in files(request.paths):
        if not wanted(one, request.include, request.exclude):
            unwanted += 1
            continue
        if isinstance(one, Skipped):
            outcome.skipped.append(one)
            continue
        try:
            named = found.of(one.name)
        except UnreadableError as error:
            outcome.skipped.append(Skipped(one.label, str(error), fault=False))
            continue
        try:
            readings = read(one.data, named)
        except UnreadableError as error:
            outcome.skipped.append(Skipped(one.label, str(error)))
            continue
        _note_unread(one.label, readings, levels.study, outcome)
        for reading in readings:
            _take(request, one, named, reading, levels, content, trials, outcome)
    if unwanted:
        outcome.notes.append(f"{unwanted:,} left out by --include and --exclude")
    number_named(trials.values(), outcome.repetitions, _numbered(request))
    if outcome.repetitions:
        outcome.notes.append(
            "repetitions have names: they are numbered in the order of these, condition by "
            "condition; environment.json has which is which"
        )
    _count_from_one(trials, outcome)
    return trials


def _numbered(request: Request) -> dict[str, dict[str, int]] | None:
    """The numbers that named repetitions have in the run that series are added to."""
    if request.tool not in ADDING or not (request.out.is_dir() and any(request.out.iterdir())):
        return None
    found: dict[str, dict[str, int]] = {}
    for entry in read_run(request.out).environment().get("imports", []):
        for place, numbers in entry.get("repetitions", {}).items():
            found.setdefault(place, {}).update(numbers)
    return found


def _note_unread(
    label: str, readings: Sequence[FileReading], study: Study, outcome: ImportOutcome
) -> None:
    """Notes columns that the study does not have, which would else be lost silently."""
    known = (*known_fields(study), *READ_TOO)
    unread = [name for name in (readings[0].columns if readings else ()) if name not in known]
    if not unread:
        return
    meant = [(name, nearest(name, (*known, *metric_names()))) for name in unread[:MOST_NAMED]]
    words = [
        f"{name[:80]!r}" + (f" (did you mean {near}?)" if near else "") for name, near in meant
    ]
    more = len(unread) - len(words)
    words += [f"{more} more"] if more else []
    outcome.notes.append(f"{label}: columns that were not read: {', '.join(words)}")


def _take(
    request: Request,
    file: File,
    named: Mapping[str, str],
    reading: FileReading,
    levels: LevelNames,
    content: StatedLoads,
    trials: dict[Key, ImportedTrial],
    outcome: ImportOutcome,
) -> None:
    label = f"{file.label} {reading.part}".rstrip()
    fault = True
    try:
        reading.refuse_absurd()
        refuse_disorder(reading)
        fault = False  # the file itself is sound: the rest is about its place in the study
        facts = stated_factors(levels.study, reading.facts, reading.told)
        place = levels.place({**reading.named, **named}, facts)
        if reason := content.contradiction(request.tool, place.condition, reading):
            raise UnreadableError(reason)
        reading.notes += content.unchecked(request.tool, place.condition, reading)
        key = place.condition.name, place.round, place.block, place.called
        trial = trials.get(key)
        if trial is not None and (reason := _clash(trial, reading)):
            raise UnreadableError(reason)
    except UnreadableError as error:
        outcome.skipped.append(Skipped(label, str(error), fault=fault))
        return
    scope = request.options.scope if reading.samples else " ".join(sorted(reading.tags))
    part = FromFile(reading, source_file(label, file.data, request.tool, scope))
    trials.setdefault(key, ImportedTrial(place, place.block)).parts.append(part)
    outcome.files += 1


def _clash(trial: ImportedTrial, reading: FileReading) -> str:
    """Why a second file cannot belong to the trial; empty where it completes it."""
    for part in trial.parts:
        other = part.reading
        same_part = other.summary == reading.summary
        if same_part and not (reading.tags and not reading.tags & other.tags):
            return f"the same condition and repetition as {part.source.path}"
    return ""


def _count_from_one(trials: Mapping[Key, ImportedTrial], outcome: ImportOutcome) -> None:
    """Blocks count from 1; where repetitions are written from 0, all of them move by one."""
    counted = [one for one in trials.values() if not one.named]
    if any(trial.place.block == 0 for trial in counted):
        for trial in counted:
            trial.block = trial.place.block + 1
        outcome.notes.append("repetitions are written from 0: block 1 is repetition 0")


def _refuse_series_only(trials: dict[Key, ImportedTrial], outcome: ImportOutcome) -> None:
    for key, trial in list(trials.items()):
        if any(part.reading.summary for part in trial.parts):
            continue
        del trials[key]
        for part in trial.parts:
            reason = "status lines without a result: cut off, or its other half is missing"
            outcome.skipped.append(Skipped(part.source.path, reason))
            outcome.files -= 1


def _write(
    request: Request, study: Study, trials: Mapping[Key, ImportedTrial], outcome: ImportOutcome
) -> None:
    if not trials:
        return
    run = RunFiles(request.out.absolute())
    run.trials.mkdir(parents=True, exist_ok=True)
    run.study.write_bytes(request.study.read_bytes())
    positions: dict[tuple[int, int], int] = {}
    for trial in sorted(trials.values(), key=lambda one: one.name):
        cell = trial.place.round, trial.block
        positions[cell] = positions.get(cell, 0) + 1
        write_trial(run, trial, study.design.fresh, positions[cell])
        outcome.trials.append(trial.name)
    _note_more_than_planned(study, trials, outcome)
    if study.design.fresh != "trial":
        outcome.notes.append(
            f"the study says fresh: {study.design.fresh}, so repetitions share a cluster; write "
            "design.fresh: trial if each had one of its own"
        )


def _note_more_than_planned(
    study: Study, trials: Mapping[Key, ImportedTrial], outcome: ImportOutcome
) -> None:
    """The design is no limit to files, but a reader may have miswritten one of the two."""
    most = max(trial.block for trial in trials.values())
    if most > study.design.blocks:
        outcome.notes.append(
            f"repetition {most} is imported where the study says design.blocks: "
            f"{study.design.blocks}; all files count"
        )


def _add(request: Request, trials: Mapping[Key, ImportedTrial], outcome: ImportOutcome) -> None:
    records = {
        (one.manifest.condition, one.manifest.round, one.manifest.block): one
        for one in read_run(request.out.absolute()).trials
    }
    for trial in trials.values():
        place = trial.place
        record = records.get((place.condition.name, place.round, trial.block))
        for part in trial.parts:
            try:
                _add_part(record, part, place)
            except (UnreadableError, RecordError) as error:
                outcome.skipped.append(Skipped(part.source.path, str(error)))
                outcome.files -= 1
            else:
                outcome.trials.append(trial.name)


def _add_part(record: TrialRecord | None, part: FromFile, place: TrialPlace) -> None:
    if record is None:
        raise UnreadableError(
            f"the run has no trial of {place.condition.name}, repetition {place.repetition}"
        )
    if already(record.manifest, part):
        raise UnreadableError(f"{record.name} has this series of {part.source.tool} already")
    if part.reading.histograms:
        add_histograms(record.files, record.manifest, part)
    else:
        add_series(record.files, record.manifest, part)


def _note_down(request: Request, outcome: ImportOutcome) -> None:
    """The imported and the skipped files, kept with the run."""
    run = RunFiles(outcome.run.absolute())
    before = read_run(run.root).environment().get("imports", [])
    entry = {
        "tool": request.tool,
        "files": outcome.files,
        "trials": len(set(outcome.trials)),
        "skipped": [f"{one.label}: {one.reason}" for one in outcome.skipped],
        "notes": outcome.notes,
        **({"repetitions": outcome.repetitions} if outcome.repetitions else {}),
    }
    text = json.dumps({"imports": [*before, entry]}, indent=1, ensure_ascii=False)
    replace_file(run.environment, text + "\n")
