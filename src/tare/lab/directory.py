"""Which directory a run uses: a new one, or an unfinished one of the same study to resume."""

from __future__ import annotations

import hashlib
import io
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tare.errors import UsageError
from tare.lab import marked
from tare.lab.journal import Journal
from tare.records.layout import FAILED, RunFiles
from tare.study.plan import Plan
from tare.study.schema import Study
from tare.whole_file import is_aside, replace_file

BEGUN, EXTENDED, FINISHED = "run begun", "run extended", "run finished"
REPORTED = "report written"

_SHOWN = 60
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)


@dataclass(frozen=True)
class RunDirectory:
    """A run's directory and what is already in it."""

    files: RunFiles
    resumed: bool
    done: frozenset[str]
    """names of trials that are complete"""
    note: str = ""
    ended: int = 0
    """rounds that the run had when it was extended; these are left as they are"""
    state: RunState | None = None
    """what the journal said when the directory was chosen"""

    @property
    def name(self) -> str:
        return self.files.root.name

    @property
    def work(self) -> Path:
        """Configuration and data of units; gone when the run has ended."""
        return self.files.root / marked.WORK


def study_text(study: Study) -> str:
    """The study as it is run, overrides included, in YAML.

    The scale is applied already, so that the text declares it as an empty patch.
    """
    content = study.model_dump(mode="json")
    if study.scale is not None:
        content["scales"] = {study.scale: {}}
    out = io.StringIO()
    YAML(typ="rt").dump(content, out)
    return out.getvalue()


def study_digest(study: Study) -> str:
    """SHA-256 of the study as it is run; it decides whether a run can be resumed."""
    text = json.dumps(study.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class RunState:
    """What the journal says of a run.

    Attributes:
        digest: of the study as it is run now.
        planned: largest number of rounds.
        rounds: after which the run ended.
        ended: rounds after which the run had ended before it was extended; 0: it was not.
    """

    digest: str
    planned: int
    rounds: int
    finished: bool
    ended: int


def state_of(events: list[dict[str, Any]]) -> RunState | None:
    """The state after all events; None: nothing was begun."""
    state: RunState | None = None
    for event in events:
        if event["event"] in (BEGUN, EXTENDED):
            digest, rounds = str(event.get("study_digest")), int(event.get("rounds", 0))
            state = RunState(digest, rounds, rounds, False, int(event.get("ended", 0)))
        elif event["event"] == FINISHED and state is not None:
            rounds = int(event.get("rounds", state.rounds))
            state = replace(state, finished=True, rounds=rounds)
    return state


def check_name(name: str) -> None:
    """Refuse a name that a run cannot have.

    Directories, containers, networks and control groups are named after the run.

    Raises:
        UsageError: the run cannot have this name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "not a name of a run",
            where=f"--name {name[:_SHOWN]!r}{'...' if len(name) > _SHOWN else ''}",
            why="a name has 1 to 80 letters of English, digits, '.', '_' and '-', and begins with "
            "a letter or a digit",
            remedy="for example --name storage-2; --runs says in which directory",
        )


def stem_of(study: Study, name: str | None) -> str:
    """The name for directories of the study's runs: the name that was given, or the study's.

    Raises:
        UsageError: the name is not valid.
    """
    if name is None:
        return study.study
    check_name(name)
    return name


@dataclass(frozen=True)
class Unreported:
    """A finished run that ended before its report was written."""

    files: RunFiles
    failed: list[str]
    """names of trials that failed"""


def unreported(runs: Path, study: Study, name: str | None) -> Unreported | None:
    """The newest finished run of this study without its report; None: there is none.

    Raises:
        UsageError: the name is not valid.
    """
    stem, digest = stem_of(study, name), study_digest(study)
    found: Unreported | None = None
    number = 1
    while (root := _numbered(runs, stem, number)).exists():
        files = RunFiles(root)
        events = Journal(files.journal).events()
        state = state_of(events)
        if state is not None and state.finished and state.digest == digest:
            end = max(i for i, one in enumerate(events) if one["event"] == FINISHED)
            told = [i for i, one in enumerate(events) if one["event"] == REPORTED]
            written = max(told) > end if told else files.report.exists()
            failed = [str(one) for one in events[end].get("failed", [])]
            found = found if written else Unreported(files, failed)
        number += 1
    return found


def _numbered(runs: Path, stem: str, number: int) -> Path:
    return runs / (stem if number == 1 else f"{stem}-{number}")


def choose(runs: Path, study: Study, name: str | None) -> RunDirectory:
    """The directory for a run of this study.

    The newest unfinished run of the same study is resumed; otherwise a new directory is named
    after the study, with a number when that name is taken: by a run, an import or anything else.

    Raises:
        UsageError: the name is not valid.
    """
    digest = study_digest(study)
    stem = stem_of(study, name)
    note = ""
    number = 1
    while True:
        root = _numbered(runs, stem, number)
        files = RunFiles(root)
        events = Journal(files.journal).events()
        state = state_of(events)
        if _free(files, state):
            return RunDirectory(files, False, frozenset(), note)
        if state is not None and not state.finished:
            if state.digest == digest:
                return RunDirectory(files, True, done_trials(files), note, state.ended, state)
            note = (
                f"{root} is unfinished, but was begun from a different study; it is left as it is"
            )
        number += 1


def _free(files: RunFiles, state: RunState | None) -> bool:
    """Whether a new run can have this place."""
    return not files.root.exists() or (state is None and _only_begun(files))


def _only_begun(files: RunFiles) -> bool:
    """Whether a run was killed here before its journal began.

    Then there is only what `begin` writes. An import, or somebody's own directory, has no journal
    either.
    """
    begun = (
        files.source, files.study, files.plan, files.environment, files.prices, files.trials,
        files.root / marked.WORK, files.journal,
    )  # fmt: skip
    return (
        files.source.is_file()
        and files.trials.is_dir()
        and all(
            path in begun or any(is_aside(path, file) for file in begun)
            for path in files.root.iterdir()
        )
        and not any(files.trials.iterdir())
    )


def still_as_chosen(directory: RunDirectory) -> None:
    """Refuse a run that has changed since its directory was chosen; the lab is held.

    In the minutes between, another command may have begun the run or gone on with it.

    Raises:
        UsageError: it has changed.
    """
    files = directory.files
    state = state_of(Journal(files.journal).events())
    if directory.resumed:
        same = state == directory.state and done_trials(files) == directory.done
    else:
        same = _free(files, state)
    if not same:
        raise UsageError(
            f"{directory.name}: not measured by this command",
            where=str(files.root),
            why="another command has begun it or gone on with it since this one looked; trials "
            "that it has finished would be measured again and replaced",
            remedy="give the same command again: it goes by what there is now",
        )


def same_plan(directory: RunDirectory, plan: Plan) -> None:
    """Refuse to resume a run unless its plan is the one that it was begun with, or extends it.

    Another version may plan the same study in another order or with other conditions. So may this
    one, where something can be run that could not be before. Trials of both plans in one round
    would not be randomised blocks.

    Raises:
        UsageError: it is another plan, or the first one cannot be read.
    """
    if not directory.resumed:
        return
    file = directory.files.plan
    why = ""
    try:
        begun = json.loads(file.read_text(encoding="utf-8"))
        now = json.loads(plan.model_dump_json())
        first = now["rounds"][: len(begun["rounds"])] if directory.ended else now["rounds"]
        if _conditions(begun) != _conditions(now):
            why = "its conditions, or the clusters that they share, were others"
        elif begun["rounds"] != first:
            why = "its rounds and blocks have another order"
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as error:
        why = f"its plan cannot be read: {error!r}"
    if why:
        raise UsageError(
            f"{directory.name}: not resumed",
            where=str(file),
            why=f"{why}; the trials that it has and new ones would not belong together",
            remedy=f"begin another run: --name {directory.name}-anew; the old one is left as it is",
        )


def _conditions(plan: Any) -> list[dict[str, Any]]:
    """Of each condition that is run, the parts that trials depend on."""
    kept = ("name", "levels", "setup", "deployment")
    return [{name: one[name] for name in kept} for one in plan["conditions"]]


def done_trials(files: RunFiles) -> frozenset[str]:
    """Trials whose record is complete and good: a final name, and a manifest that says done."""
    found: set[str] = set()
    for trial in files.finished() if files.study.exists() else []:
        try:
            manifest: dict[str, Any] = json.loads(trial.manifest.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            continue
        if manifest.get("status") == "done":
            found.add(trial.name)
    return frozenset(found)


def last_failed(files: RunFiles, trial: str) -> int:
    """The number of a trial's last failed attempt; 0: none has failed."""
    suffixes = (path.name.removeprefix(trial + FAILED) for path in files.trials.glob("*"))
    return max((int(suffix) for suffix in suffixes if suffix.isdecimal()), default=0)


def begin(
    directory: RunDirectory, plan: Plan, study_file: Path, environment: dict[str, Any]
) -> None:
    """Write what every run keeps: the study as run and as written, the plan, the environment.

    The study is written after the plan, because a report goes by the study: if an extension cannot
    be written, the run is still the old one.
    """
    files = directory.files
    files.trials.mkdir(parents=True, exist_ok=True)
    if not directory.resumed:
        replace_file(files.source, study_file.read_bytes())
    if not directory.resumed or directory.ended:
        replace_file(files.plan, plan.model_dump_json(indent=1))
        replace_file(files.study, study_text(plan.study))
    marked.make(directory.work, files)  # refused where another machine has this run
    replace_file(files.environment, json.dumps(environment, indent=1, default=str))
