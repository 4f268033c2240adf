"""What the checks look at, and how they say what they found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tare.analysis.model import Check
from tare.enumeration import count as count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.contrasts import Contrasts
    from tare.analysis.model import Effect, HostGroupFact, NoiseFloor, ParityDifference
    from tare.analysis.trials import Trial
    from tare.records.looks import Look
    from tare.records.reader import Damage
    from tare.study.conditions import Condition
    from tare.study.schema import Design

Status = Literal["ok", "warning", "invalid"]


@dataclass(frozen=True)
class Evidence:
    """One run, read and analysed.

    Attributes:
        margins: metric to declared fraction.
        damaged: trial directories that could not be used at all.
        planned: all conditions of the study; with imported files `conditions` are those whose
            levels occur in some file.
        primary: primary endpoints that the study names.
        ended: the look at which the run ended; None: it was to have all planned rounds.
        hosts: the facts of each host that SSH reached, by its name.
        skipped: files that an import did not use, each with its reason.
    """

    design: Design
    margins: Mapping[str, float]
    conditions: Sequence[Condition]
    contrasts: Contrasts
    trials: Sequence[Trial]
    damaged: Sequence[Damage]
    effects: Sequence[Effect]
    floors: Sequence[NoiseFloor]
    parity: Sequence[ParityDifference]
    skipped: Sequence[str] = ()
    planned: Sequence[Condition] = ()
    primary: Sequence[str] = ()
    ended: Look | None = None
    host_groups: Sequence[HostGroupFact] = ()
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Rounds that the run was to have: as planned, or up to the look at which it ended."""
        return self.design.deployments if self.ended is None else self.ended.round

    @property
    def done(self) -> list[Trial]:
        """Trials with a result."""
        return [trial for trial in self.trials if trial.done]

    @property
    def imported(self) -> bool:
        """The trials are files of other tools; the study did not design them."""
        return any(trial.manifest.source for trial in self.trials)

    @property
    def by_deployment(self) -> bool:
        """One life of a cluster serves all blocks of its round."""
        return self.design.fresh == "deployment" and not self.imported


def percent(share: float) -> str:
    """A fraction as a percentage with three significant digits."""
    return f"{share * 100:.3g}%"


def check(name: str, status: Status, summary: str, details: Sequence[str] = ()) -> Check:
    """One check's outcome."""
    return Check(name=name, status=status, summary=summary, details=list(details))


def noted(evidence: Evidence) -> list[str]:
    """Each note once, with the trial or the number of trials that have it."""
    seen: dict[str, list[str]] = {}
    for trial in evidence.trials:
        for note in trial.manifest.notes:
            seen.setdefault(note, []).append(trial.name)
    return [
        f"{note} ({names[0] if len(names) == 1 else count(len(names), 'trial')})"
        for note, names in seen.items()
    ]
