"""The slices that a condition gets for each slice of the others on the same server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.comparisons import comparisons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.study.conditions import Condition
    from tare.study.schema import Study


def with_shares(study: Study, conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions, each with its share of its deployment's slices.

    Where all comparisons inside a deployment have one baseline, the baseline has as many slices as
    the k treatments together. A deployment has S slices whatever its conditions, because all are
    driven equally often. The log-ratio of a treatment then has the variance 2k/S + 2/S of one
    slice's, equal to (k + 1)/S + (k + 1)/S with equal shares. In comparisons with other deployments
    the baseline has S/2 slices instead of S/(k + 1). Source of unequal shares: C. W. Dunnett, A
    Multiple Comparison Procedure for Comparing Several Treatments with a Control, JASA 50 (1955),
    who has root k for comparisons inside alone.

    Args:
        conditions: the conditions that are run.
    """
    deployment = {one.name: one.deployment for one in conditions}
    inside: dict[str, list[str]] = {}
    for baseline, treatment in comparisons(study, conditions):
        if baseline.deployment == treatment.deployment:
            inside.setdefault(deployment[baseline.name], []).append(baseline.name)
    shares = {names[0]: len(names) for names in inside.values() if len(set(names)) == 1}
    return [one.model_copy(update={"share": shares.get(one.name, 1)}) for one in conditions]
