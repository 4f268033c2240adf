"""Lines of `tare plan` on what to expect of a study: from runs here, a pilot, or other machines."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from tare.analysis.usual_spread import IN_SLICES, LEAST_ROUNDS, METRICS, half_width
from tare.cli.doctor_noise import COMMAND, age, width
from tare.cli.separate import spread_of_servers
from tare.enumeration import first_of
from tare.errors import TareError
from tare.machines.facts import local_facts
from tare.monitor.background_load import BUSY_CORES
from tare.records.kept_measurements import kept_here
from tare.records.layout import RunFiles
from tare.records.noise import Noise
from tare.report import numbers
from tare.study.design import MOST_PLANNED
from tare.study.metric_names import lowered, margin_of
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tare.analysis.expectation import Expectation
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.model import Analysis
    from tare.analysis.scopes import Scope
    from tare.study.plan import Plan
    from tare.study.schema import Study


How = Literal["about", "at least"]
MOST_NAMED = 4
"""Most comparisons that a line names."""
_ROUNDS, _MOST_ROUNDS = 3, 100
"""Rounds of a first run that give expected intervals, as two tell less than half as much; and the
most that a plan proposes."""


def expected_lines(plan: Plan, runs: Path, words: str = "STUDY") -> list[str]:
    """What to expect on each primary metric; empty if the study has nothing to decide.

    The latest run of the study is the best source. Without one, comparisons of the same kind in a
    run of another study in slices are used, else this machine's pilot. For servers compared
    with one another, usual values give a rough answer.

    Args:
        plan: of the study.
        runs: the directory of all runs.
        words: the study and its options, as a command line writes them.
    """
    earlier = earlier_runs(runs)
    for run, its in earlier:
        found = _of_this_study(run, plan) if its.study == plan.study.study else []
        if found:
            return [
                f"expected, if trials are as noisy as {_in_run(run)}:",
                *(f"  {_words(one, plan, 'about')}" for one in found),
            ]
    return _from_others(plan, earlier, words)


def _of_this_study(run: RunFiles, plan: Plan) -> list[Expectation]:
    # the analysis takes a second to import: only if there is a run
    from tare.analysis.expectation import expectations

    earlier = kept_analysis(run) or _new_analysis(run)
    return [] if earlier is None else expectations(earlier, plan.study)


def _from_others(plan: Plan, earlier: Sequence[tuple[RunFiles, Study]], words: str) -> list[str]:
    """Lines from runs of other studies and from the pilot, and what remains unknown."""
    from tare.analysis.scopes import scopes

    asked = scopes(plan)
    if not asked:
        return []
    lines: list[str] = []
    unknown = dict(asked)
    for title, how, likely in _sources(plan, earlier, asked):
        from tare.analysis.expectation import expected_from  # the analysis takes a second to import

        known = expected_from(likely, unknown, plan.study)
        if known:
            lines += [title, *(f"  {_words(one, plan, how)}" for one in known.values())]
        unknown = {scope: names for scope, names in unknown.items() if scope not in known}
    usual = _usual(unknown, plan)
    if usual:
        lines += [
            "expected, roughly, if servers differ here as they did elsewhere (sd of a ratio of two "
            f"{IN_SLICES:.0%} where half is writes, less under reads alone: docs/resolution.md):",
            *(f"  {text}" for text in usual.values()),
        ]
    unknown = {scope: names for scope, names in unknown.items() if scope not in usual}
    return [*lines, *_unknown(unknown, plan, words)]


def _sources(
    plan: Plan, earlier: Sequence[tuple[RunFiles, Study]], asked: Mapping[Scope, list[str]]
) -> Iterator[tuple[str, How, dict[Scope, Estimate]]]:
    """Sources of expectations other than the study's own runs, best first."""
    for run, its in earlier:
        if _alike(its, plan.study) and _made_here(run):
            analysis = kept_analysis(run)  # a new one would take too long
            if analysis is not None:
                title = f"expected, if trials are as noisy as {_in_run(run)}, another study:"
                from tare.analysis.expectation import likely_from_run

                yield title, "about", likely_from_run(analysis, its, plan.study)
                break
    noise = kept_here(Noise, local_facts())
    if noise is not None:
        busy = noise.other_cores > BUSY_CORES
        beside = f", beside {noise.other_cores:.1f} cores of other work" if busy else ""
        made = f"{COMMAND}, {age(noise.made)}{beside}"
        title = f"expected of this machine's noise, without a database ({made}):"
        from tare.analysis.expectation import likely_from_pilot

        yield title, "at least", likely_from_pilot(noise, plan, asked)


def _usual(unknown: Iterable[Scope], plan: Plan) -> dict[Scope, str]:
    """Intervals between servers, where these start from one snapshot and take turns in slices."""
    design = plan.study.design
    few = design.fresh != "deployment" or design.deployments < LEAST_ROUNDS
    if few or spread_of_servers(plan) is None:
        return {}
    half = half_width(design.deployments)
    return {
        scope: f"{lowered(scope.title)}: intervals of about ±{width(half)}"
        + _beyond(half, margin_of(scope.metric, plan.study.margins))
        for scope in unknown
        if not scope.inside and scope.metric in METRICS
    }


def _beyond(half: float, margin: float | None) -> str:
    """What an interval of this half-width cannot decide for any effect; empty: it may decide."""
    if margin is None or half <= margin:
        return ""
    enough = next((n for n in range(LEAST_ROUNDS, _MOST_ROUNDS) if half_width(n) <= margin), None)
    told = f", which cannot show that a difference is within the margin of {numbers.share(margin)}"
    return f"{told}; --set design.deployments={enough} can" if enough else told


def _unknown(unknown: Mapping[Scope, list[str]], plan: Plan, words: str) -> list[str]:
    """What is unknown, and how to learn it: by a short run of the study, or by the pilot."""
    if not unknown:
        return []
    titles = "; ".join(
        f"{', '.join(metrics)} {where}" for where, metrics in _by_scope(unknown).items()
    )
    lines = [f"expected intervals unknown before a first run here: {titles}"]
    design = plan.study.design
    if design.deployments > _ROUNDS:
        few = f"{_without_rounds(words)} --name first --set design.deployments={_ROUNDS}"
        length = _length(plan, _ROUNDS)
        lines.append(f"to know them: `tare run {few}`, {length}, then `tare plan {words}` again")
    piloted = plan.study.design.slice_s is not None and kept_here(Noise, local_facts()) is None
    if piloted and any(scope.inside for scope in unknown):
        lines.append(f"run `{COMMAND}`, a minute: it tells the least width inside one deployment")
    return lines


def _without_rounds(words: str) -> str:
    """The command's words without the number of rounds, to which another number is added."""
    parts = shlex.split(words)
    rounds = [i for i, one in enumerate(parts) if one.startswith("design.deployments=")]
    return shlex.join(one for i, one in enumerate(parts) if not {i, i + 1} & {*rounds})


def _by_scope(unknown: Iterable[Scope]) -> dict[str, list[str]]:
    """Inside one deployment or between, to the metrics of which nothing is known there."""
    from tare.analysis.catalogue import describe

    found: dict[str, list[str]] = {}
    for scope in unknown:
        found.setdefault(scope.where, []).append(lowered(describe(scope.metric).title))
    return found


def _words(one: Expectation, plan: Plan, how: How) -> str:
    text = f"{lowered(one.title)}: intervals of {how} ±{width(one.half)}"
    if one.margin is None or one.rounds is None:
        return text
    margin = numbers.share(one.margin)
    now = plan.study.design.deployments
    if one.rounds <= now:
        return f"{text}; {_MAY[how]} be decided at the margin of {margin}"
    open_ = first_of(one.undecided, MOST_NAMED)
    text += f"; will not be decided at the margin of {margin}: {open_}"
    if one.rounds > now + MOST_PLANNED:
        return f"{text}; nor with {MOST_PLANNED} more rounds"
    length = _length(plan, one.rounds)
    return f"{text}; design.deployments of {one.rounds} ({length}) {_MAY[how]} do"


def _length(plan: Plan, rounds: int) -> str:
    """The study's length with this number of rounds instead of its own."""
    once = plan.estimate.setup_seconds
    each = (plan.estimate.seconds - once) / plan.study.design.deployments
    return numbers.length(once + each * rounds)


_MAY: Mapping[How, str] = {"about": "should", "at least": "may"}
"""How sure a decision is: a pilot knows the least that it takes."""


def _in_run(run: RunFiles) -> str:
    made = datetime.fromtimestamp(run.journal.stat().st_mtime, UTC)
    return f"in the run of {age(made)}, {run.root}"


def earlier_runs(runs: Path) -> list[tuple[RunFiles, Study]]:
    """All runs with their studies, the latest first."""
    found = []
    for file in runs.glob("*/study.yaml"):
        files = RunFiles(file.parent)
        try:
            found.append((files.journal.stat().st_mtime, files.root.name, files, load_study(file)))
        except (TareError, OSError):
            continue
    latest = sorted(found, key=lambda one: one[:2], reverse=True)
    return [(files, study) for _, _, files, study in latest]


def _alike(its: Study, study: Study) -> bool:
    """Whether the trials of both are in slices, with the same database."""
    return (
        its.design.slice_s is not None
        and study.design.slice_s is not None
        and (its.database.kind, its.database.version, its.database.nodes)
        == (study.database.kind, study.database.version, study.database.nodes)
    )


def _made_here(run: RunFiles) -> bool:
    """Whether the run was made on this machine, under any kernel."""
    try:
        machine = json.loads(run.environment.read_text("utf-8"))["machine"]
        here = local_facts()
        return bool((machine["hostname"], machine["cpus"]) == (here.hostname, here.cpus))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def kept_analysis(files: RunFiles) -> Analysis | None:
    """The analysis of the run's last report; None: no report, or the run has continued since."""
    from tare.analysis.model import Analysis

    kept = files.root / "analysis.json"
    try:
        if kept.stat().st_mtime >= files.journal.stat().st_mtime:
            return Analysis.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        pass
    return None


def _new_analysis(files: RunFiles) -> Analysis | None:
    from tare.analysis.analyse import analyse

    try:
        return analyse(files.root)
    except TareError:
        return None
