"""A finished run's effects as findings of the user's own, beside those of others."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from tare.analysis.catalogue import ALL, ERRORS, describe
from tare.analysis.host_groups import of_emulated
from tare.analysis.stated_database import database_said
from tare.databases.registry import declared
from tare.errors import KnowledgeError
from tare.knowledge.derived import direction_of
from tare.knowledge.schema import (
    Finding,
    KnowledgeFile,
    Operation,
    PublishedEffect,
    PublishedLoad,
    Side,
    Source,
    Spread,
    Unit,
    Values,
    Work,
)
from tare.knowledge.seen_machines import kinds_seen, machines_seen
from tare.study.conditions import expand
from tare.study.database import ACKNOWLEDGING
from tare.study.said import said_paths, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tare.analysis.model import Analysis, Effect
    from tare.study.conditions import Condition
    from tare.study.schema import Setup, Study

OPERATIONS = get_args(Operation)
_DIGITS = 6
COMPUTED = ".computed."
"""Between the run's name and the rest of the id of a finding made from it."""


@dataclass(frozen=True)
class About:
    """Facts that a run's records do not have.

    Attributes:
        study: id under which findings count as one study; "" for the run's own.
        version: release of the database; "" for the study's own, for imported runs none.
        hardware: "" for the records' own.
        machines: the machines under the operating system, None for unknown.
        published: where the records come from, as a citation.
        imported: the trials were brought in from files of another tool.
    """

    study: str = ""
    version: str = ""
    hardware: str = ""
    machines: Any = None
    published: str = ""
    imported: bool = False


def findings_of(analysis: Analysis, study: Study, about: About) -> KnowledgeFile:
    """All effects of the analysis with an interval, but controls (A/A), as findings.

    Raises:
        KnowledgeError: the analysis has no effect.
    """
    name = _slug(analysis.run)
    of = about.study or (study.study if about.imported else f"own-{name}")
    effects = [
        one
        for one in analysis.effects
        if not one.aa and one.metric != ERRORS and not is_emulated(one, analysis, study)
    ]
    if not effects:
        raise KnowledgeError(
            "no effect to add",
            where=analysis.run,
            why=f"{', '.join(analysis.emulated)}: emulated, which is not KVM"
            if analysis.emulated
            else "the run compares nothing, or too few of its trials were done",
            remedy="run more of it, then look at `tare report`",
        )
    if about.imported and not database_said(analysis, [c.condition for c in analysis.conditions]):
        raise KnowledgeError(
            "which database this was is not said",
            where=analysis.run,
            why="neither the study nor the files name it, or they name several",
            remedy="write database: {kind: cassandra} or mongodb into the study, import again",
        )
    made = _Made(analysis, study, expand(study), about, of, name)
    notes = [f"Computed by Tare from the records of the run {analysis.run}."]
    notes += [f"Not valid: {problem}" for problem in analysis.problems if not analysis.valid]
    work = Work(
        id=f"{name}-computed",
        title=study.question or study.study,
        published=about.published,
        tool="files of another tool, imported" if about.imported else "tare-load",
        notes=notes,
    )
    return KnowledgeFile(
        format=1, work=work, findings=[_finding(one, made, effects) for one in effects]
    )


def is_emulated(effect: Effect, analysis: Analysis, study: Study) -> bool:
    """Whether QEMU emulated a side of the effect: then it says nothing of virtual machines."""
    base = _baseline_levels(effect, study)
    return of_emulated(analysis, effect.treatment, effect.levels) or of_emulated(
        analysis, effect.baseline, base
    )


@dataclass(frozen=True)
class _Made:
    """Facts shared by all findings of one run."""

    analysis: Analysis
    study: Study
    conditions: Sequence[Condition]
    about: About
    of: str
    run: str

    def id_of(self, effect: Effect) -> str:
        """The finding's id, with the factor if another factor compares the same condition, too."""
        levels = _slug("-".join(effect.levels.values()))
        if any(
            one.levels == effect.levels
            and one.metric == effect.metric
            and one.factor != effect.factor
            for one in self.analysis.effects
        ):
            levels += f"-by-{_slug(effect.factor)}"
        return f"{self.run}{COMPUTED}{levels}.{effect.metric}"

    def database_of(self, conditions: Iterable[str]) -> Any:
        """The database of these conditions in an imported run; empty: its document says it."""
        return database_said(self.analysis, conditions) if self.about.imported else ""

    def acknowledged(self, setups: Mapping[str, Setup]) -> str:
        """How many copies answer, if that is the same in all of these; for imported runs, if their
        study says it."""
        said = {name: setup.database for name, setup in setups.items()}
        if self.about.imported:
            paths = [
                said_paths(self.study, one.levels) for one in self.conditions if one.name in said
            ]
            fields = [("database", field) for field in ACKNOWLEDGING]
            if not all(any(says(own, field) for field in fields) for own in paths):
                return ""
        return _common(declared(one.kind).acknowledged(one) for one in said.values()) or ""

    def setups(self, levels: Mapping[str, str]) -> dict[str, Setup]:
        """Condition to setup, for all with these levels: several, where an effect averages."""
        found = [one for one in self.conditions if levels.items() <= one.levels.items()]
        done = {one.condition for one in self.analysis.conditions if one.trials}
        return {one.name: one.setup for one in found if one.name in done}


def _finding(effect: Effect, made: _Made, effects: Sequence[Effect]) -> Finding:
    about = made.about
    bases = made.setups(_baseline_levels(effect, made.study))
    named = made.setups(effect.levels)
    treated = list(named.values())
    setup, base = treated[0], next(iter(bases.values()))
    kinds = kinds_seen(made.analysis)
    return Finding(
        id=made.id_of(effect),
        study=made.of,
        database=made.database_of(bases) or setup.database.kind,
        version=about.version or ("" if about.imported else setup.database.version),
        nodes=_common(one.database.nodes for one in treated),
        replication_factor=_common(one.database.replication_factor for one in treated),
        consistency=made.acknowledged(named),
        baseline=side_of(base, machines_seen(base, kinds) or about.machines),
        treatment=side_of(setup, machines_seen(setup, kinds) or about.machines),
        workload=[*dict.fromkeys(one.load.label for one in treated)],
        operation=_operation(effect.metric),
        load=_load(base, treated, load_share(made.analysis, made.conditions, list(bases))),
        metric=effect.metric,
        unit=_unit(effect.metric),
        values=Values(
            baseline=_rounded(effect.baseline_value), treatment=_rounded(effect.treatment_value)
        ),
        effect=PublishedEffect(
            ratio=_rounded(effect.ratio),
            direction=direction_of(effect.ratio),
            how="computed",
            mean_of=[made.id_of(one) for one in effects if _part_of(one, effect)],
        ),
        # of one pair of conditions: an average over c pairs has 1/sqrt(c) of its sd
        spread=Spread(
            ci=(_rounded(effect.ci[0]), _rounded(effect.ci[1])),
            sd_log=_rounded(effect.sd_log * math.sqrt(effect.cells)),
            units=effect.deployments * effect.cells,
        ),
        hardware=about.hardware or "as recorded in the run",
        source=Source(where=f"run {made.run}: {effect.treatment} over {effect.baseline}"),
        notes=_notes(effect, made.analysis.valid),
    )


def written_by(finding: Finding, run: str) -> bool:
    """Whether the finding was made from the run of this name."""
    return finding.id.startswith(f"{_slug(run)}{COMPUTED}")


def _part_of(part: Effect, whole: Effect) -> bool:
    """Whether one is a row of the other, which averages over further factors."""
    alike = part.metric == whole.metric and part.factor == whole.factor
    return alike and whole.levels.items() < part.levels.items()


def _unit(metric: str) -> Any:
    unit = describe(metric).unit
    return unit if unit in get_args(Unit) else ""


def load_share(
    analysis: Analysis, conditions: Sequence[Condition], names: Sequence[str]
) -> float | None:
    """Throughput of these conditions, relative to the most that their setups reached.

    Only setups that differ only in their load are compared; None where there is only one load. The
    share is of the greatest throughput in this run, which may lie below the true maximum.
    """
    shares = load_shares(analysis, conditions)
    found = [shares[name] for name in names if name in shares]
    return round(fmean(found), 3) if found else None


def load_shares(analysis: Analysis, conditions: Sequence[Condition]) -> dict[str, float]:
    """Condition to its throughput over the most that its setup reached; see `load_share`."""
    throughput = {one.condition: one.metrics.get("throughput") for one in analysis.conditions}
    loads: dict[str, dict[tuple[int | str, float | str | None], list[float]]] = {}
    setup_of: dict[str, str] = {}
    for one in conditions:
        fixed = one.setup.apart_from_intensity
        setup_of[one.name] = fixed
        if value := throughput.get(one.name):
            load = one.setup.load
            loads.setdefault(fixed, {}).setdefault((load.threads, load.rate), []).append(value)
    most = {fixed: max(fmean(values) for values in of.values()) for fixed, of in loads.items()}
    return {
        name: min(1.0, value / most[fixed])
        for name, fixed in setup_of.items()
        if (value := throughput.get(name)) and len(loads[fixed]) > 1
    }


def _notes(effect: Effect, valid: bool) -> str:
    parts = [effect.method.strip(), f"Verdict: {effect.verdict}."]
    if effect.over:
        parts.append(f"Averaged over {', '.join(effect.over)} ({effect.how}).")
    if not valid:
        parts.append("The run's checks call its result not valid.")
    return " ".join(parts)


def _baseline_levels(effect: Effect, study: Study) -> dict[str, str]:
    """The effect's levels, with the compared factors at their baseline."""
    compared = [effect.factor] if effect.factor else study.analysis.compare or [*study.baseline]
    return {
        factor: study.baseline[factor] if factor in compared else level
        for factor, level in effect.levels.items()
    }


def side_of(setup: Setup, machines: Any = None) -> Side:
    """The platform of a study's condition, in the words of the knowledge base.

    Args:
        machines: the kind of this machine; machines made by the study itself state theirs.
    """
    platform = setup.platform
    return Side(
        machines=platform.machines if platform.source.guest else machines,
        runtime=platform.runtime,
        network=platform.way,
        address=platform.address,
        plugin=platform.plugin,
        storage=platform.storage,
        client=setup.client.runtime,
        clusters=setup.clusters,
    )


def _load(base: Setup, setups: Sequence[Setup], share: float | None) -> PublishedLoad:
    if any(one.load != setups[0].load for one in setups):
        return PublishedLoad(label="mean over several")
    load = setups[0].load
    if load.sought is not None:  # the number is each run's own
        return PublishedLoad(label=load.intensity, share=share)
    if load.rate is not None:
        return PublishedLoad(rate=load.rate, share=share)
    if load.threads != base.load.threads:  # the load itself is what was compared
        return PublishedLoad(label=f"{load.threads} against {base.load.threads} threads")
    return PublishedLoad(threads=load.threads, share=share)


def _common(values: Any) -> Any:
    """The value that all share, else None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _operation(metric: str) -> Any:
    first = metric.partition(".")[0]
    return first if first in OPERATIONS else ALL


def _rounded(value: float) -> float:
    """Six significant digits: more would only look exact."""
    return float(f"{value:.{_DIGITS}g}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.+-]+", "-", text.lower()).strip("-.") or "run"
