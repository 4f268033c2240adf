"""From a run directory to its analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from tare.analysis.allocation import allocation
from tare.analysis.bill import make_bills
from tare.analysis.catalogue import describe, in_order
from tare.analysis.checks.all_checks import run_checks
from tare.analysis.checks.evidence import Evidence
from tare.analysis.distributions import distributions
from tare.analysis.ending import describe_ending, extension, looks_taken
from tare.analysis.exhibits.make import make_exhibits
from tare.analysis.host_groups import emulated_conditions, host_group_facts
from tare.analysis.inference.chains import make_chains
from tare.analysis.inference.contrast_estimates import logs_of, make_rules
from tare.analysis.inference.contrasts import make_contrasts, without_undescribed_twins
from tare.analysis.inference.effects import make_effects
from tare.analysis.inference.further import also_asked
from tare.analysis.inference.identical import identical_spreads
from tare.analysis.inference.noise_floor import noise_floor
from tare.analysis.inference.significance import levels_after
from tare.analysis.left_out import left_out, not_compared
from tare.analysis.model import Analysis
from tare.analysis.parity import parity_differences
from tare.analysis.provenance import provenance
from tare.analysis.reading import read_trials
from tare.analysis.slices import fit_blocks
from tare.analysis.summaries import condition_summaries, series_of, trial_summaries
from tare.analysis.why.why import make_why
from tare.garbage import not_collected
from tare.records.looks import read_looks
from tare.records.reader import read_run
from tare.records.run_prices import prices_of
from tare.study.conditions import expand
from tare.study.metric_names import SHAPES, margin_of, primary_metrics
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tare.analysis.inference.contrasts import Contrasts
    from tare.analysis.model import Check, NoiseFloor
    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition
    from tare.study.schema import Study


def analyse(run_dir: Path) -> Analysis:
    """Read a run and analyse it. Nothing is written, and the same records give the same result.

    Raises:
        RecordError: the directory is not a run's.
        StudyError: its study cannot be read.
    """
    # with a thread per core, matrices this small cost ten times the CPU time on a busy machine
    with threadpool_limits(1, user_api="blas"), not_collected():
        return _analyse(run_dir)


def _analyse(run_dir: Path) -> Analysis:
    run = read_run(run_dir)
    study = load_study(run.files.study)
    reading = read_trials(run.trials)
    trials = reading.trials
    fit_blocks(trials)
    planned = _conditions(study, trials)
    left = left_out(run.left_out(), planned, trials)
    gone = {one.condition for one in left}
    conditions = [one for one in planned if one.name not in gone]
    names = [condition.name for condition in conditions]
    margins: dict[str, float] = dict(study.margins.items())
    asked = make_contrasts(planned, study.baseline, study.analysis)
    contrasts = asked.without(gone)
    by_deployment = study.design.fresh == "deployment"
    rules = make_rules(trials, study.analysis, by_deployment=by_deployment)
    looks = read_looks(run.files.looks)
    taken = looks_taken(looks, study.design, trials)
    levels = levels_after(taken)
    ended = looks.ended() if taken == looks.looks else None
    effects = make_effects(
        trials,
        contrasts,
        margins,
        by_deployment=by_deployment,
        asked=study.analysis,
        levels=levels,
    )
    depends, noisier = also_asked(
        trials,
        conditions,
        study.baseline,
        contrasts,
        margins,
        by_deployment=by_deployment,
        asked=study.analysis,
        levels=levels,
    )
    evidence = Evidence(
        design=study.design,
        margins=margins,
        conditions=conditions,
        contrasts=contrasts,
        trials=trials,
        damaged=run.damaged,
        effects=effects,
        floors=_floors(trials, contrasts, margins, by_deployment=rules.by_deployment),
        parity=parity_differences(names, trials),
        host_groups=host_group_facts(names, trials),
        hosts=run.environment().get("hosts") or {},
        skipped=run.skipped_files(),
        planned=expand(study),
        primary=study.analysis.primary,
        ended=ended,
    )
    checks = run_checks(evidence)
    series = series_of(trials)
    why = make_why(trials, contrasts, rules)
    primary = primary_metrics(margins, study.analysis.primary)
    identical = identical_spreads(trials, contrasts, margins, primary, rules)
    return Analysis(
        study=study.study,
        question=study.question,
        run=run.name,
        valid=all(check.status != "invalid" for check in checks),
        problems=_problems(checks),
        baseline=_baseline(contrasts, study.baseline),
        metrics=[describe(name) for name in _listed(study, trials)],
        conditions=condition_summaries(conditions, trials),
        left_out=left,
        not_compared=not_compared(asked, contrasts, gone),
        ending=describe_ending(taken, levels),
        extension=extension(effects, study.design, trials, run.environment(), ended),
        effects=effects,
        chains=make_chains(trials, contrasts, effects, margins, rules, study.analysis.primary),
        interactions=depends,
        variances=noisier,
        noise_floor=list(evidence.floors),
        identical=identical,
        allocation=allocation(
            trials, identical, primary, {one.name: one.setup.load.measure for one in conditions}
        ),
        checks=checks,
        parity=list(evidence.parity),
        host_groups=list(evidence.host_groups),
        emulated=emulated_conditions(trials),
        trials=trial_summaries(trials),
        series=series,
        distributions=distributions(
            names, reading.pooled, trials, by_deployment=rules.by_deployment
        ),
        exhibits=make_exhibits(study, conditions, trials, effects, series),
        why=why,
        bills=make_bills(prices_of(run.files), trials, effects, why, contrasts),
        provenance=provenance(study, run.files.study, run.environment(), trials, run.slicing()),
    )


def _conditions(study: Study, trials: Sequence[Trial]) -> list[Condition]:
    """The study's conditions.

    Imported files may be a part of a study: levels that no file has are left out. A level that
    changes nothing of the study's document stands for what only the files know, so it is no
    repetition of another level.
    """
    conditions = expand(study)
    imported = [trial.manifest.levels for trial in trials if trial.manifest.source]
    if not imported:
        return conditions
    seen = {pair for levels in imported for pair in levels.items()}
    present = [c for c in conditions if seen.issuperset(c.levels.items())]
    empty = [name for name, levels in study.factors.items() if not any(levels.values())]
    return without_undescribed_twins(present, empty)


def _listed(study: Study, trials: Sequence[Trial]) -> list[str]:
    """The trials' metrics in the order of reports; shapes of distributions only where asked for."""
    asked = {name for one in study.analysis.show for name in one.metrics}
    found = in_order(metric for trial in trials for metric in trial.values)
    return [one for one in found if one in asked or one.rpartition(".")[2] not in SHAPES]


def _problems(checks: Sequence[Check]) -> list[str]:
    """Why the run is invalid; for a valid run, what makes it doubtful."""
    void = any(check.status == "invalid" for check in checks)
    told = "invalid" if void else "warning"
    return [f"{check.name}: {check.summary}" for check in checks if check.status == told]


def _baseline(contrasts: Contrasts, levels: Mapping[str, str]) -> str:
    """The baseline condition's name; of several baselines, the levels that they share."""
    if len(contrasts.baselines) == 1:
        return contrasts.baselines[0]
    return ", ".join(f"{factor}: {level}" for factor, level in levels.items())


def _floors(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    *,
    by_deployment: bool,
) -> list[NoiseFloor]:
    logs = logs_of(trials)
    found = [
        noise_floor(
            metric,
            twins,
            logs[metric],
            margin_of(metric, margins),
            by_deployment=by_deployment,
        )
        for metric in in_order(logs)
        for twins in contrasts.twins
    ]
    return [floor for floor in found if floor is not None]
