"""Which directory a run uses: a new one, or an unfinished one of the same study to resume."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tare.errors import UsageError
from tare.lab.journal import Journal
from tare.records.layout import RunFiles
from tare.study.plan import Plan
from tare.study.schema import Study

FINISHED = "run finished"


@dataclass(frozen=True)
class RunDirectory:
    """A run's directory and what is already in it."""

    files: RunFiles
    resumed: bool
    done: frozenset[str]
    """names of trials that are complete"""
    note: str = ""

    @property
    def name(self) -> str:
        return self.files.root.name

    @property
    def work(self) -> Path:
        """Configuration and data of units; gone when the run has ended."""
        return self.files.root / "work"


def study_text(study: Study) -> str:
    """The study as it is run, overrides included, in YAML.

    Its scale is in it already: there the scale is an empty patch, which changes nothing.
    """
    content = study.model_dump(mode="json")
    if study.scale is not None:
        content["scales"] = {study.scale: {}}
    out = io.StringIO()
    YAML(typ="rt").dump(content, out)
    return out.getvalue()


def study_digest(study: Study) -> str:
    """SHA-256 of the study as it is run: what decides whether a run can be resumed."""
    text = json.dumps(study.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def choose(runs: Path, study: Study, name: str | None) -> RunDirectory:
    """The directory for a run of this study.

    The newest unfinished run of the same study is resumed; otherwise a new directory is named
    after the study, with a number when that name is taken.
    """
    digest = study_digest(study)
    stem = name or study.study
    note = ""
    number = 1
    while True:
        root = runs / (stem if number == 1 else f"{stem}-{number}")
        files = RunFiles(root)
        events = Journal(files.journal).events()
        begun = [e for e in events if e["event"] == "run begun"]
        if not root.exists() or (files.study.exists() and not begun):
            return RunDirectory(files, False, frozenset(), note)
        finished = any(e["event"] == FINISHED for e in events)
        if begun and not finished:
            if begun[0].get("study_digest") == digest:
                return RunDirectory(files, True, done_trials(files), note)
            note = (
                f"{root} is unfinished, but was begun from a different study; it is left as it is"
            )
        number += 1


def same_plan(directory: RunDirectory, plan: Plan) -> None:
    """Nothing where the plan of a resumed run is the plan that it was begun with.

    The same study can be planned in another order, or with other conditions, by another version
    or where something can be run that could not be before. Trials of both in one round would not
    be randomised blocks.

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
        if _conditions(begun) != _conditions(now):
            why = "its conditions, or the clusters that they share, were others"
        elif begun["rounds"] != now["rounds"]:
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
    """What trials depend on of each condition that is run."""
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


def begin(
    directory: RunDirectory, plan: Plan, study_file: Path, environment: dict[str, Any]
) -> None:
    """Write what every run keeps: the study as run and as written, the plan, the environment."""
    files = directory.files
    files.trials.mkdir(parents=True, exist_ok=True)
    directory.work.mkdir(exist_ok=True)
    if not directory.resumed:
        files.study.write_text(study_text(plan.study), encoding="utf-8")
        source = files.root / "study.source.yaml"
        source.write_bytes(study_file.read_bytes())
        files.plan.write_text(plan.model_dump_json(indent=1), encoding="utf-8")
    (files.root / "environment.json").write_text(
        json.dumps(environment, indent=1, default=str), encoding="utf-8"
    )
