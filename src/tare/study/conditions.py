"""From factors to conditions: the cartesian product, minus the exclusions, resolved."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import StudyError
from tare.study.origins import FieldPath, Origins
from tare.study.patch import Assignment, apply, assignments
from tare.study.schema import Setup, Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_CONDITIONS = 1200
UNVARIED = "base"
"""Name of the only condition of a study without factors."""
SHARED = "all"
"""Deployment key where no factor touches the deployment."""

# What a cluster is made for: conditions that differ in one of these cannot share a cluster. The
# client's place is not among them: a client is new in every trial, and the cluster stays as it is.
_DEPLOYED: tuple[FieldPath, ...] = (
    ("database",),
    ("platform",),
    ("clusters",),
    ("load", "records"),
    ("load", "fields"),
    ("load", "field_length"),
    ("load", "statements"),
)
_WORKLOAD: FieldPath = ("load", "workload")
_ENDPOINT: FieldPath = ("platform", "endpoint")
"""All endpoints reach one cluster at once: another client's endpoint needs no other cluster."""


class Condition(BaseModel):
    """One combination of levels, and what it comes to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="its levels, joined by dots, in the order of the factors")
    levels: dict[str, str] = Field(description="factor name to level name")
    setup: Setup = Field(description="the base document with the levels' patches applied")
    deployment: str = Field(
        description="deployment key: conditions with the same key can share one cluster"
    )
    aa_of: str | None = Field(
        description="first earlier condition with the same setup, which this one repeats"
    )
    share: int = Field(
        1, ge=1, description="slices for each one of another condition of its deployment"
    )

    def repeats(self, other: Condition) -> bool:
        """Both have the same setup (A/A), so that every difference is noise."""
        return (self.aa_of or self.name) == (other.aa_of or other.name)


def expand(study: Study) -> list[Condition]:
    """All conditions of the study, in the order in which its levels are written.

    Raises:
        StudyError: more than MOST_CONDITIONS combinations, or a patch that does not fit the
            schema (only where the study was not read by `load_study`, which refuses it earlier).
    """
    deployed = _deployment_factors(study)
    conditions: list[Condition] = []
    first: dict[str, str] = {}
    base = study.setup.model_dump(mode="json")
    for levels in combinations(study):
        setup = Setup.model_validate(_document(base, study, levels))
        name = condition_name(levels)
        twin = first.setdefault(setup.model_dump_json(), name)
        conditions.append(
            Condition(
                name=name,
                levels=levels,
                setup=setup,
                deployment=".".join(keys[levels[factor]] for factor, keys in deployed.items())
                or SHARED,
                aa_of=None if twin == name else twin,
            )
        )
    return conditions


def condition_name(levels: Mapping[str, str]) -> str:
    """The name of the condition with these levels."""
    return ".".join(levels.values()) or UNVARIED


def baseline_condition(study: Study) -> str:
    """The name of the condition that the others are compared with."""
    return condition_name({factor: study.baseline[factor] for factor in study.factors})


def combinations(study: Study) -> Iterator[dict[str, str]]:
    """Factor to level, for every combination that is selected and not excluded."""
    total = math.prod(len(levels) for levels in study.factors.values())
    if total > MOST_CONDITIONS:
        raise StudyError(
            f"factors: {total:,} combinations of levels",
            where=study.origin(("factors",)),
            why=f"more than {MOST_CONDITIONS} conditions are no study that anybody can read",
            remedy="take out a factor or some levels, or split the study in two",
        )
    for combination in itertools.product(*study.factors.values()):
        levels = dict(zip(study.factors, combination, strict=True))
        chosen = all(levels.get(factor) in named for factor, named in study.only.items())
        if chosen and not any(matches(entry, levels) for entry in study.exclude):
            yield levels


def matches(exclusion: Mapping[str, list[str]], levels: Mapping[str, str]) -> bool:
    """Whether the exclusion names this combination; factors that it omits may have any level."""
    return all(levels.get(factor) in excluded for factor, excluded in exclusion.items())


def resolve(study: Study, levels: Mapping[str, str]) -> tuple[dict[str, Any], Origins]:
    """The base document with these levels' patches, and where each of its fields was written.

    Patches apply in the order of the factors; where two set the same field, the later wins.
    The document is plain data, not yet validated.
    """
    document: dict[str, Any] = study.setup.model_dump(mode="json")
    at = {
        path: where for path, where in study.origins.at.items() if not path or path[0] in document
    }
    patched: set[FieldPath] = set()
    made: list[Assignment] = []
    for factor, level in levels.items():
        prefix = ("factors", factor, level)
        changes = list(assignments(study.factors[factor][level]))
        made += changes
        for one in changes:
            where = study.origin((*prefix, *one.written))
            for length in range(1, len(one.path)):
                at.setdefault(one.path[:length], where)
            at = _without_below(at, one.path)
            at[one.path] = where
            patched.add(one.path)
    return apply(document, made), Origins(at, frozenset(patched), study.origins.scaled)


def _document(base: Mapping[str, Any], study: Study, levels: Mapping[str, str]) -> dict[str, Any]:
    """The document of `resolve` alone: a study of hundreds of conditions is expanded often."""
    return apply(
        base,
        (one for f, level in levels.items() for one in assignments(study.factors[f][level])),
    )


def _without_below(at: dict[FieldPath, str], path: FieldPath) -> dict[FieldPath, str]:
    """Without the places of the field's former content."""
    return {one: where for one, where in at.items() if one == path or one[: len(path)] != path}


def _deployment_factors(study: Study) -> dict[str, dict[str, str]]:
    """The factors with a level that patches what a cluster is made for: level to deployment key.

    The patched field decides, not its value: a level of such a factor without any effect (A/A) gets
    a cluster of its own, which is its purpose.
    """
    return {
        factor: _keys(levels)
        for factor, levels in study.factors.items()
        if any(_touches(one) for patch in levels.values() for one in assignments(patch))
        or len({_table(study, factor, level) for level in levels}) > 1
    }


def _keys(levels: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Level to the first level with the same clusters, possibly itself.

    Levels that differ only in the endpoint share clusters. Levels that do not differ at all (A/A)
    exist to have a cluster each.
    """
    shared: dict[str, list[dict[FieldPath, Any]]] = {}
    found: dict[str, str] = {}
    for level, patch in levels.items():
        made = {one.path: one.value for one in assignments(patch) if one.sets}
        key = next((one for one, others in shared.items() if _joins(made, others)), level)
        shared.setdefault(key, []).append(made)
        found[level] = key
    return found


def _joins(made: dict[FieldPath, Any], others: list[dict[FieldPath, Any]]) -> bool:
    """Whether a level may share the clusters of these others, which differ in the endpoint."""
    return made not in others and _without_endpoint(made) == _without_endpoint(others[0])


def _without_endpoint(made: dict[FieldPath, Any]) -> dict[FieldPath, Any]:
    return {path: value for path, value in made.items() if path != _ENDPOINT}


def _touches(change: Assignment) -> bool:
    return (
        change.sets
        and change.path != _ENDPOINT
        and any(change.path[: len(path)] == path for path in _DEPLOYED)
    )


def _table(study: Study, factor: str, level: str) -> str:
    """The table that the level's workload uses."""
    chosen = [
        one.value for one in assignments(study.factors[factor][level]) if one.path == _WORKLOAD
    ]
    load = study.load.model_copy(update={"workload": chosen[-1]}) if chosen else study.load
    return load.table
