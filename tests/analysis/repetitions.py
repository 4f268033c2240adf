"""Imported trials with invented or given values, without any file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.inference.contrasts import make_contrasts
from tare.analysis.inference.effects import make_effects
from tare.analysis.trials import Trial
from tare.records.manifest import ImportSource, TrialManifest
from tare.study.conditions import condition_name, expand
from tare.study.schema import Study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Effect
    from tare.study.conditions import Condition


def study_of(
    factors: Mapping[str, Iterable[str]], analysis: Mapping[str, Any] | None = None, **more: Any
) -> Study:
    """A study whose levels change nothing; the first level of each factor is the baseline."""
    levels = {factor: list(names) for factor, names in factors.items()}
    document = {
        "study": "invented",
        "factors": {factor: {name: {} for name in names} for factor, names in levels.items()},
        "baseline": {factor: names[0] for factor, names in levels.items()},
        "analysis": dict(analysis or {}),
        **more,
    }
    return Study.model_validate(document)


def conditions_of(study: Study) -> list[Condition]:
    """The study's conditions; none repeats another."""
    return [c.model_copy(update={"aa_of": None}) for c in expand(study)]


def imported(
    levels: Mapping[str, str], repetition: int, values: Mapping[str, float], tool: str = "ycsb"
) -> Trial:
    """One trial as an import leaves it."""
    return _trial(levels, 1, repetition, values, tool, "")


def measured(
    levels: Mapping[str, str],
    round_: int,
    block: int,
    values: Mapping[str, float],
    deployment: str = "",
) -> Trial:
    """One of Tare's own trials; by default each block has its own deployment."""
    return _trial(levels, round_, block, values, "", deployment)


def effects_of(study: Study, trials: Sequence[Trial]) -> list[Effect]:
    """All effects, as the analysis makes them."""
    contrasts = make_contrasts(conditions_of(study), study.baseline, study.analysis)
    by_deployment = study.design.fresh == "deployment"
    margins = dict(study.margins.items())
    return make_effects(
        trials, contrasts, margins, by_deployment=by_deployment, asked=study.analysis
    )


def _trial(
    levels: Mapping[str, str],
    round_: int,
    block: int,
    values: Mapping[str, float],
    tool: str,
    deployment: str,
) -> Trial:
    condition = condition_name(levels)
    name = f"D{round_}-B{block:02}-{condition}"
    manifest = TrialManifest(
        run="invented", trial=name, status="done", condition=condition, levels=dict(levels),
        round=round_, block=block, position=1, deployment=deployment or name,
        started="2026-01-01T00:00:00+00:00", ended="2026-01-01T00:01:00+00:00",
        measure_start=0.0, measure_end=60.0, setup={}, clients=[], warm_up=None, units=[],
        database={}, caches_dropped=None, server_cpu_s=0.0, engine_cpu_s=0.0, machine_cpu_s=0.0,
        probe_cpu_s=0.0, source=ImportSource(tool=tool, files=[]) if tool else None,
        reported=dict(values),
    )  # fmt: skip
    return Trial(name=name, manifest=manifest, values=dict(values))
