"""All checks of a run: those that object first, else in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks import (
    client,
    cluster,
    completeness,
    crosschecks,
    files,
    imported_trials,
    noise,
    platform,
    slices,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.analysis.checks.evidence import Evidence
    from tare.analysis.model import Check

# Within a status, in this order: what a reader must know first.
CHECKS: tuple[Callable[[Evidence], Check | None], ...] = (
    platform.stand_in,
    platform.emulation,
    noise.noise_floor,
    noise.told_apart,
    completeness.trials,
    completeness.records,
    client.errors,
    client.answers,
    client.saturation,
    client.open_loop,
    slices.overload,
    slices.utilisation,
    slices.unequally_driven,
    slices.undrained,
    slices.other_work,
    slices.late,
    cluster.warm_up,
    cluster.compiler,
    cluster.steady,
    platform.host_groups,
    platform.parity,
    platform.bits,
    platform.notes,
    platform.steal,
    platform.observer,
    slices.frozen,
    slices.pace,
    completeness.rounds,
    completeness.deployments,
    crosschecks.crosschecks,
)
# What files of other tools can be judged by: the other checks ask how Tare itself measured.
OF_FILES = (
    noise.noise_floor,
    noise.told_apart,
    imported_trials.trials,
    imported_trials.endpoints,
    imported_trials.identical,
    completeness.records,
    files.skipped,
    files.errors,
    files.differences,
    cluster.steady,
    platform.steal,
    completeness.deployments,
    crosschecks.crosschecks,
    files.notes,
    files.unknown,
)
GRAVITY = {"invalid": 0, "warning": 1, "ok": 2}
"""States of a check, the gravest first."""


def run_checks(evidence: Evidence) -> list[Check]:
    """The outcome of every check that applies; one invalid makes the result invalid.

    Without a single result, only the records are judged: nothing can be said of the rest.
    """
    apply = OF_FILES if evidence.imported else CHECKS
    if not evidence.done:
        own = imported_trials.trials if evidence.imported else completeness.trials
        apply = (own, completeness.records)
    outcomes = [outcome for one in apply if (outcome := one(evidence)) is not None]
    return sorted(outcomes, key=lambda outcome: GRAVITY[outcome.status])
