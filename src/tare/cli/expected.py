"""Lines of `tare plan` on what a study may be expected to show, from its latest run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from tare.errors import TareError
from tare.records.layout import RunFiles
from tare.report import numbers
from tare.study.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.expectation import Expectation
    from tare.analysis.model import Analysis
    from tare.study.plan import Plan


MOST_MORE = 100
"""Of more rounds than this nobody plans the exact number, and the estimate of it is rough."""


def expected_lines(plan: Plan, runs: Path) -> list[str]:
    """One line for each primary metric; none where no run of the study's name is here.

    Args:
        plan: of the study.
        runs: the directory of all runs.
    """
    for run in _runs_of(plan.study.study, runs):
        found = _expectations(run, plan)
        if found:
            return [
                f"expected, if trials are as noisy as in {run.root}:",
                *(f"  {_words(one, plan)}" for one in found),
            ]
    return []


def _expectations(run: RunFiles, plan: Plan) -> list[Expectation]:
    # the analysis takes a second to import: only where there is a run
    from tare.analysis.expectation import expectations

    earlier = _analysis(run)
    return [] if earlier is None else expectations(earlier, plan.study)


def _words(one: Expectation, plan: Plan) -> str:
    title = one.title[:1].lower() + one.title[1:]
    text = f"{title}: intervals of about ±{numbers.share(one.half)}"
    if one.margin is None or one.rounds is None:
        return text
    margin = numbers.share(one.margin)
    now = plan.study.design.deployments
    if one.rounds <= now:
        return f"{text}; should be decided at the margin of {margin}"
    text += f"; will not be decided at the margin of {margin}"
    if one.rounds > now + MOST_MORE:
        return f"{text}, nor with {MOST_MORE} more rounds"
    each = (plan.estimate.seconds - plan.estimate.setup_seconds) / now
    length = numbers.length(plan.estimate.setup_seconds + each * one.rounds)
    return f"{text}: design.deployments of {one.rounds} ({length}) should do"


def _runs_of(name: str, runs: Path) -> list[RunFiles]:
    """Runs of studies of this name, the latest first."""
    found = []
    for study in runs.glob("*/study.yaml"):
        files = RunFiles(study.parent)
        try:
            if load_study(study).study == name:
                found.append((files.journal.stat().st_mtime, files.root.name, files))
        except (TareError, OSError):
            continue
    return [files for *_, files in sorted(found, key=lambda one: one[:2], reverse=True)]


def _analysis(files: RunFiles) -> Analysis | None:
    """What the run's last report was made from, or a new analysis; None: there is nothing."""
    from tare.analysis.analyse import analyse
    from tare.analysis.model import Analysis

    kept = files.root / "analysis.json"
    try:
        if kept.stat().st_mtime >= files.journal.stat().st_mtime:
            return Analysis.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        pass
    try:
        return analyse(files.root)
    except TareError:
        return None
