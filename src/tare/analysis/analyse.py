"""From a run directory to its analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence
from tare.analysis.checks.run import run_checks
from tare.analysis.contrasts import make_contrasts
from tare.analysis.distributions import distributions
from tare.analysis.effects import logs_of, make_effects
from tare.analysis.metrics import describe, in_order, margin_of
from tare.analysis.model import Analysis
from tare.analysis.noise import noise_floor
from tare.analysis.parity import parity_differences
from tare.analysis.provenance import provenance
from tare.analysis.summaries import condition_summaries, series_of, trial_summaries
from tare.analysis.trials import read_trials
from tare.records.reader import read_run
from tare.study.conditions import expand
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tare.analysis.contrasts import Contrasts
    from tare.analysis.model import Check, NoiseFloor
    from tare.analysis.trials import Trial


def analyse(run_dir: Path) -> Analysis:
    """Read a run and analyse it. Nothing is written, and the same records give the same result.

    Raises:
        RecordError: the directory is not a run's.
        StudyError: its study cannot be read.
    """
    run = read_run(run_dir)
    study = load_study(run.files.study)
    conditions = expand(study)
    names = [condition.name for condition in conditions]
    margins: dict[str, float] = dict(study.margins.items())
    contrasts = make_contrasts(conditions, study.baseline)
    trials = read_trials(run.trials)
    effects = make_effects(
        trials, contrasts, margins, by_deployment=study.design.fresh == "deployment"
    )
    evidence = Evidence(
        design=study.design,
        margins=margins,
        conditions=conditions,
        contrasts=contrasts,
        trials=trials,
        damaged=run.damaged,
        effects=effects,
        floors=_floors(trials, contrasts, margins),
        parity=parity_differences(names, trials),
    )
    checks = run_checks(evidence)
    return Analysis(
        study=study.study,
        question=study.question,
        run=run.name,
        valid=all(check.status != "invalid" for check in checks),
        problems=_problems(checks),
        baseline=_baseline(contrasts, study.baseline),
        metrics=[describe(name) for name in in_order(m for t in trials for m in t.values)],
        conditions=condition_summaries(conditions, trials),
        effects=effects,
        noise_floor=list(evidence.floors),
        checks=checks,
        parity=list(evidence.parity),
        trials=trial_summaries(trials),
        series=series_of(trials),
        distributions=distributions(names, trials),
        provenance=provenance(study, run.files.study, run.environment(), trials),
    )


def _problems(checks: Sequence[Check]) -> list[str]:
    """What the checks object to, invalidating ones first."""
    return [
        f"{check.name}: {check.summary}"
        for status in ("invalid", "warning")
        for check in checks
        if check.status == status
    ]


def _baseline(contrasts: Contrasts, levels: Mapping[str, str]) -> str:
    """The baseline condition's name; where several serve, what they have in common."""
    if len(contrasts.baselines) == 1:
        return contrasts.baselines[0]
    return ", ".join(f"{factor}: {level}" for factor, level in levels.items())


def _floors(
    trials: Sequence[Trial], contrasts: Contrasts, margins: Mapping[str, float]
) -> list[NoiseFloor]:
    logs = logs_of(trials)
    found = [
        noise_floor(metric, twins, logs[metric], margin_of(metric, margins))
        for metric in in_order(logs)
        for twins in contrasts.twins
    ]
    return [floor for floor in found if floor is not None]
