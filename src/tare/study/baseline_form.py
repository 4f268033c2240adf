"""A baseline that names a level and no factor: the likely meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.study.patch import mapping
from tare.study.problems import Problem
from tare.study.quantities import parse_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.study.origins import Origins

NAMES_EVERY_FACTOR = "effects are relative to the baseline, so it names one level of every factor"


def baseline_form_problems(data: Mapping[str, Any], origins: Origins) -> Iterator[Problem]:
    """What is wrong with `baseline: volume`, and the mapping to write instead."""
    written = data.get("baseline", {})
    if isinstance(written, dict):
        return
    given = [str(parse_name(one)) for one in (written if isinstance(written, list) else [written])]
    meant = {
        str(factor): _level(given, [str(parse_name(name)) for name in mapping(levels)])
        for factor, levels in mapping(data.get("factors")).items()
    }
    pairs = ", ".join(f"{factor}: {level}" for factor, level in meant.items())
    yield Problem(
        origins.of(("baseline",)),
        f"baseline: {', '.join(given)!r} is not a mapping (factor: level)",
        NAMES_EVERY_FACTOR,
        f"write baseline: {{{pairs}}}" if meant else "remove it: the study has no factors",
    )


def _level(given: list[str], levels: list[str]) -> str:
    """The level that was given, else the factor's first."""
    return next((one for one in given if one in levels), levels[0] if levels else "LEVEL")
