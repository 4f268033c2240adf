"""What two runs bring to their comparison: margins, primary endpoints, noise floors, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.catalogue import NO_RATIO, in_order
from tare.analysis.comparison.model import ComparedRun, Floor
from tare.analysis.comparison.two_runs import unit_of
from tare.errors import UsageError
from tare.study.metric_names import SHAPES, margin_of, primary_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from tare.analysis.comparison.model import RunDifference
    from tare.analysis.model import Analysis

USUAL = ("service_demand", "throughput", "all.mean", "all.p99", "read.p99", "update.p99")
"""Primary endpoints if A's are not in both runs."""
_RUNS = (
    "Each side is one run. The intervals count units inside the runs; whatever else changed from "
    "one run to the other (the day, the state of the machine) is part of every ratio. It cancels "
    "in the changes of effects, which compare what each treatment costs inside its own run."
)
_INSIDE = (
    "The noise floor is known inside runs only. Two runs of the same thing differ by this much or "
    "more: run A's study again to see by how much."
)


def side(analysis: Analysis) -> ComparedRun:
    """One run, as the comparison names it."""
    times = _section(analysis, "times")
    return ComparedRun(
        study=analysis.study,
        run=analysis.run,
        valid=analysis.valid,
        problems=analysis.problems,
        started=str(times.get("started", "")),
        ended=str(times.get("ended", "")),
        trials=sum(trial.status == "done" for trial in analysis.trials),
    )


def study_margins(analysis: Analysis) -> dict[str, float]:
    """The margins that the run's study declares; values that are no fraction are left out."""
    declared = _section(analysis, "study").get("margins")
    found = declared.items() if isinstance(declared, dict) else ()
    return {
        str(name): float(value)
        for name, value in found
        if isinstance(value, int | float) and 0 < value < 1
    }


def margins_from(
    declared: Mapping[str, float], given: Mapping[str, float]
) -> Literal["study", "command line", "study and command line"]:
    """Where the margins come from."""
    if not given:
        return "study"
    return "study and command line" if declared.keys() - given.keys() else "command line"


def common_metrics(a: Analysis, b: Analysis) -> list[str]:
    """Metrics that both runs measured and that a ratio can be made of, in report order."""
    names = {m.name for m in a.metrics} & {m.name for m in b.metrics}
    shapes = {name for name in names if name.rpartition(".")[2] in SHAPES}
    return in_order(names - shapes - NO_RATIO)


def primary_of(
    a: Analysis,
    margins: Mapping[str, float],
    common: Sequence[str],
    named: Sequence[str],
) -> list[str]:
    """The primary endpoints: those named; else A's; else the usual ones.

    Raises:
        UsageError: one is named that is not in both runs, or nothing is.
    """
    for name in named:
        if name not in common:
            raise UsageError(
                f"metric {name!r} is not in both runs",
                where="--metric",
                why=f"both have {', '.join(common) or 'no metric in common'}",
                remedy="name one of these",
            )
    if not common:
        raise UsageError("the two runs have no metric in common", remedy="compare other runs")
    for choice in (named, declared_primary(a), primary_metrics(margins), USUAL):
        found = [name for name in common if name in choice]
        if found:
            return found
    return list(common)


def declared_primary(analysis: Analysis) -> list[str]:
    """The primary endpoints of the run's own study, in report order."""
    return in_order({effect.metric for effect in analysis.effects if effect.primary})


def noise_floors(
    a: Analysis, b: Analysis, common: Sequence[str], margins: Mapping[str, float]
) -> list[Floor]:
    """Per metric, the wider of the A/A differences that the runs saw, of their own kind of unit."""
    widest: dict[str, Floor] = {}
    for name, run in (("a", a), ("b", b)):
        for floor in run.noise_floor:
            if floor.metric not in common:
                continue
            deep = floor.deployment_floor if unit_of(run) == "deployment" else None
            value = floor.floor if deep is None else deep
            margin = margin_of(floor.metric, margins)
            known = widest.get(floor.metric)
            if known is None or value > known.floor:
                widest[floor.metric] = Floor(
                    metric=floor.metric,
                    floor=value,
                    unit="block" if deep is None else "deployment",
                    run="a" if name == "a" else "b",
                    exceeds_margin=margin is not None and value > margin,
                )
    return [widest[name] for name in common if name in widest]


def notes(a: Analysis, b: Analysis, differences: Sequence[RunDifference]) -> list[str]:
    """What the reader must know before any number."""
    found = [_RUNS]
    if differences and all(d.conditional for d in differences):
        found.insert(
            0,
            "One deployment on a side: what differs between the runs and what is peculiar to that "
            "deployment cannot be told apart. The intervals are conditional on these deployments, "
            "and no verdict is given. Set design.deployments to 3 or more.",
        )
    if a.noise_floor or b.noise_floor:
        found.append(_INSIDE)
    if study_margins(a) != study_margins(b):
        found.append("The two studies declare other margins; those of A count.")
    lost = sorted(set(declared_primary(a)) - set(common_metrics(a, b)))
    if lost:
        found.append(f"A's primary {', '.join(lost)}: not in B, and so not compared.")
    if unit_of(a) != unit_of(b):
        found.append(
            f"A's independent units are {unit_of(a)}s and B's are {unit_of(b)}s: they vary for "
            "different reasons."
        )
    return found


def without_partner(run: Analysis, paired: set[str]) -> list[str]:
    """Conditions that the other run does not have."""
    return [c.condition for c in run.conditions if c.condition not in paired]


def _section(analysis: Analysis, name: str) -> dict[str, Any]:
    section = analysis.provenance.get(name)
    return section if isinstance(section, dict) else {}
