"""Whether a change between two analyses is larger than the known effects of the platform alone."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.analysis.catalogue import in_order
from tare.analysis.comparison.two_runs import ConditionSide, welch
from tare.analysis.inference.verdicts import as_ratios
from tare.enumeration import count
from tare.errors import KnowledgeError
from tare.knowledge.advice import advise, family
from tare.knowledge.analysis_file import LooseAnalysis, read_analysis
from tare.knowledge.query import Query, query_of
from tare.runtimes.registry import containers
from tare.study.schema import Setup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tare.knowledge.library import Library

LEAST_UNITS = 2
LEVEL = 0.95
ChangeVerdict = Literal[
    "no difference shown",
    "within what the platform alone is known to cause",
    "larger than what the platform alone is known to cause",
    "a difference, and nothing is known of the platform",
    "too few to tell",
]
_KINDS = ("service_demand", "throughput", "mean", "p99")


class Change(BaseModel):
    """One metric of one condition, new over old."""

    model_config = ConfigDict(frozen=True)

    condition: str
    metric: str
    ratio: float
    ci: tuple[float, float] | None = Field(
        description="95% interval, over trials where a side has one deployment; null: one trial"
    )
    units: tuple[int, int] = Field(description="independent units, old and new")
    unit: Literal["deployment", "trial"]
    platform: str = Field(description="what the known range is of; empty: nothing dockerised")
    known: tuple[float, float] | None = Field(description="ratios that the platform alone made")
    basis: str
    verdict: ChangeVerdict


class CheckResult(BaseModel):
    """All changes; what `tare advise --check --json` prints."""

    model_config = ConfigDict(frozen=True)

    old: str
    new: str
    same_platform: bool
    same_settings: bool = Field(description="database, load and clusters; not the platform")
    larger: bool = Field(description="some change is larger than the platform alone")
    changes: list[Change]
    notes: list[str]


def check_change(library: Library, old: Path, new: Path) -> CheckResult:
    """Compare two analyses, condition by condition.

    Raises:
        KnowledgeError: a file that is no analysis, or two analyses with nothing in common.
    """
    before, after = read_analysis(old), read_analysis(new)
    pairs = _pairs(before, after)
    if not pairs:
        raise KnowledgeError(
            "nothing to compare",
            where=f"{old}, {new}",
            why="the two analyses have no condition in common",
            remedy="give two runs of the same study",
        )
    setups = [(_setup(before, b), _setup(after, a)) for b, a in pairs]
    platform = all(_alike(old, new, ("platform", "client")) for old, new in setups)
    settings = all(_alike(old, new, ("database", "load", "clusters")) for old, new in setups)
    changes = [change for b, a in pairs for change in _changes(library, before, after, b, a)]
    return CheckResult(
        old=str(old),
        new=str(new),
        same_platform=platform,
        same_settings=settings,
        larger=any(one.verdict.startswith("larger") for one in changes),
        changes=changes,
        notes=_notes(before, after, platform=platform, settings=settings),
    )


def _alike(old: Setup | None, new: Setup | None, parts: Sequence[str]) -> bool:
    """Whether both are known and have the same of these parts."""
    if old is None or new is None:
        return False
    return all(getattr(old, part) == getattr(new, part) for part in parts)


def _notes(
    before: LooseAnalysis, after: LooseAnalysis, *, platform: bool, settings: bool
) -> list[str]:
    source = "(Grambow et al. 2018, section 5)"
    notes = [
        f"The {name} run's checks call its result not valid."
        for name, one in (("old", before), ("new", after))
        if not one.valid
    ]
    if not platform:
        notes.append(
            "The platforms differ, or are not recorded: a change may be theirs. "
            f"Do not compare across platforms {source}."
        )
    if not settings:
        notes.append(
            "The settings of database or load differ, or are not recorded: then dockerised values "
            f"give a feeling only {source}."
        )
    if platform and settings:
        notes.append(
            "Platform and settings are the same on both sides. What the platform does to both "
            f"cancels, as long as nothing but the code under test changed {source}."
        )
    notes.append("Intervals are 95% each, not adjusted for their number.")
    return notes


def _pairs(before: LooseAnalysis, after: LooseAnalysis) -> list[tuple[str, str]]:
    """Conditions of the same name; if each run has only one condition, these two."""
    old = list(dict.fromkeys(one.condition for one in before.trials if one.status == "done"))
    new = list(dict.fromkeys(one.condition for one in after.trials if one.status == "done"))
    if len(old) == 1 and len(new) == 1:
        return [(old[0], new[0])]
    return [(name, name) for name in old if name in new]


def _setup(one: LooseAnalysis, condition: str) -> Setup | None:
    """The condition's setup as the run recorded it; None if it is missing or unreadable."""
    settings = one.provenance.get("settings")
    found = settings.get(condition) if isinstance(settings, dict) else None
    try:
        return Setup.model_validate(found) if found is not None else None
    except ValidationError:
        return None


def _changes(
    library: Library, before: LooseAnalysis, after: LooseAnalysis, old: str, new: str
) -> list[Change]:
    first, second = _values(before, old), _values(after, new)
    asked = _asked(_setup(before, old), _setup(after, new))
    shared = [name for name in in_order(set(first) & set(second)) if name.split(".")[-1] in _KINDS]
    known = _known(library, asked, {family(name) for name in shared})
    return [
        _change(new, name, first[name], second[name], asked, known.get(family(name)))
        for name in shared
    ]


def _asked(old: Setup | None, new: Setup | None) -> Query | None:
    """The question whose answer is the platform's own effect: containers against none."""
    native = Setup()
    for setup in (new, old):
        if setup is None:
            continue
        if {setup.platform.runtime, setup.client.runtime} & set(containers()):
            return query_of(setup, native)
    return None


def _known(
    library: Library, asked: Query | None, families: set[str]
) -> dict[str, tuple[tuple[float, float], str]]:
    """Per kind of metric, the range known for the platform alone, and its basis."""
    if asked is None:
        return {}
    found: dict[str, tuple[tuple[float, float], str]] = {}
    # all rows of a table: what a platform may do is wider than what it did in one row
    table = replace(
        asked, workload="", replication_factor=None, consistency="", threads=None, clusters=None
    )
    for answer in advise(library, table).answers:
        span = answer.pooled.known
        if answer.family in families and span is not None:
            studies = ", ".join(one.study for one in answer.pooled.studies)
            seen = count(len(answer.pooled.studies), "study", "studies")
            few = f"all that {seen} saw, too few for an interval:"
            basis = "prediction interval over" if answer.pooled.enough else few
            found[answer.family] = (min(1.0, span[0]), max(1.0, span[1])), f"{basis} {studies}"
    return found


def _values(one: LooseAnalysis, condition: str) -> dict[str, dict[str, list[float]]]:
    """Metric to deployment to the log values of its trials."""
    found: dict[str, dict[str, list[float]]] = {}
    for number, trial in enumerate(one.trials):
        if trial.condition != condition or trial.status != "done":
            continue
        for name, value in trial.values.items():
            if value > 0:
                of = found.setdefault(name, {})
                life = trial.deployment or f"trial {number}"
                of.setdefault(life, []).append(math.log(value))
    return found


def _change(
    condition: str,
    metric: str,
    old: Mapping[str, Sequence[float]],
    new: Mapping[str, Sequence[float]],
    asked: Query | None,
    known: tuple[tuple[float, float], str] | None,
) -> Change:
    enough = min(len(old), len(new)) >= LEAST_UNITS
    first, second = (_units(one, by_deployment=enough) for one in (old, new))
    ci = _interval(first, second)
    return Change(
        condition=condition,
        metric=metric,
        ratio=math.exp(second.mean - first.mean),
        ci=ci,
        units=(len(first.logs), len(second.logs)),
        unit="deployment" if enough else "trial",
        platform=asked.platform if asked else "",
        known=known[0] if known else None,
        basis=known[1] if known else "nothing is known",
        # one life of a cluster on a side: its luck cannot be told from a change
        verdict=change_verdict(ci if enough else None, known[0] if known else None),
    )


def _units(lives: Mapping[str, Sequence[float]], *, by_deployment: bool) -> ConditionSide:
    """A side's independent units: its deployments' means, or all trials of its only deployment."""
    if by_deployment:
        return ConditionSide([fmean(one) for one in lives.values()], "deployment", single=False)
    return ConditionSide([log for one in lives.values() for log in one], "block", single=True)


def _interval(old: ConditionSide, new: ConditionSide) -> tuple[float, float] | None:
    """The interval of the ratio of geometric means; None: a side has only one unit."""
    found = welch(old, new)
    return None if found is None else as_ratios(found.interval(LEVEL))


def change_verdict(
    ci: tuple[float, float] | None, known: tuple[float, float] | None
) -> ChangeVerdict:
    """The verdict from the change's interval and the known range of the platform alone.

    Larger: the whole interval lies outside the range (which always holds 1).
    """
    if ci is None:
        return "too few to tell"
    if ci[0] <= 1 <= ci[1]:
        return "no difference shown"
    if known is None:
        return "a difference, and nothing is known of the platform"
    if ci[0] > known[1] or ci[1] < known[0]:
        return "larger than what the platform alone is known to cause"
    return "within what the platform alone is known to cause"
