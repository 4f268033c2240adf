"""The levels of a factor as numbers: threads, rates, clusters, replicas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.study.patch import assignments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.schema import Study

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_TITLES: dict[tuple[str | int, ...], tuple[str, str]] = {
    ("load", "threads"): ("Client threads", ""),
    ("load", "rate"): ("Offered load", "operations/s"),
    ("load", "records"): ("Records", ""),
    ("clusters",): ("Clusters side by side", ""),
    ("database", "nodes"): ("Nodes", ""),
    ("database", "replication_factor"): ("Replication factor", ""),
}


@dataclass(frozen=True)
class Steps:
    """A factor whose levels are steps on a numeric axis.

    Attributes:
        title, unit: of the axis.
        values: level to number, in the order of the study; no two alike.
    """

    title: str
    unit: str
    values: Mapping[str, float]


def numeric_steps(study: Study, factor: str) -> Steps | None:
    """The factor's levels as numbers, or None where they are not all different numbers.

    A level's number is the one that it sets, where every level sets the same one field of the setup
    or leaves it at the base document's value. Else it is the one number in its name (t10, 40k is
    40).
    """
    levels = study.factors.get(factor, {})
    if len(levels) < 2:
        return None
    return _set_by(study, levels) or _named(factor, list(levels))


def _set_by(study: Study, levels: Mapping[str, Mapping[str, object]]) -> Steps | None:
    changes = {level: list(assignments(patch)) for level, patch in levels.items()}
    paths = {one.path for made in changes.values() for one in made}
    if len(paths) != 1:
        return None
    path = paths.pop()
    base: object = study
    for part in path:
        base = getattr(base, str(part), None)
    values = {level: _number(made[-1].value if made else base) for level, made in changes.items()}
    title, unit = _TITLES.get(path, (".".join(map(str, path)), ""))
    return _steps(title, unit, values)


def _named(factor: str, levels: list[str]) -> Steps | None:
    values: dict[str, float | None] = {}
    for level in levels:
        found = _NUMBER.findall(level)
        values[level] = float(found[0]) if len(found) == 1 else None
    return _steps(factor, "", values)


def _steps(title: str, unit: str, values: Mapping[str, float | None]) -> Steps | None:
    numbers = {level: value for level, value in values.items() if value is not None}
    if len(numbers) < len(values) or len(set(numbers.values())) < len(values):
        return None
    return Steps(title, unit, numbers)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
