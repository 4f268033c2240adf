"""Hints that a plan needs a level that repeats another (A/A)."""

from __future__ import annotations

import io
import itertools
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from tare.study.comparisons import comparisons

if TYPE_CHECKING:
    from tare.study.plan import Plan
    from tare.study.schema import Study


def control_lines(plan: Plan) -> list[str]:
    """A hint, with the level to add; empty: the study has such a level, or compares nothing.

    A level that `--only` leaves out is left out on purpose.
    """
    pairs = list(comparisons(plan.study, plan.planned))
    if not pairs or any(one.aa_of for one in plan.whole):
        return []
    base, treated = pairs[0]
    factor = next(name for name, level in base.levels.items() if treated.levels[name] != level)
    again = _level(plan.study, factor, base.levels[factor])
    return [
        "hint: nothing is compared with itself, so that the report cannot say what identical "
        f"setups differ by; for that, add an A/A level to the study: factors: {again}"
    ]


def _level(study: Study, factor: str, level: str) -> str:
    """The level again under a new name, as YAML on one line."""
    levels = study.factors[factor]
    names = (f"{level}-again{number or ''}" for number in itertools.count())
    name = next(one for one in names if one not in levels)
    return _in_one_line({factor: {name: dict(levels[level])}})


def _in_one_line(value: dict[str, Any]) -> str:
    yaml, out = YAML(typ="safe", pure=True), io.StringIO()
    yaml.default_flow_style = True
    yaml.width = 10_000
    yaml.dump(value, out)
    return out.getvalue().strip()
