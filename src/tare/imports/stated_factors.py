"""Levels of factors in a file's own settings: properties, workload file, threads.

A setting with the factor's name (`recordcount`, `mongodb-url`) gives its level; else the setting
that stands for the one field of a study that all of its levels set. A single level is given only by
its field: every file is of it, whatever a tool calls by the factor's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.imports.properties import PREFIX
from tare.study.patch import assignments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.schema import Study

_WORKLOAD = ("load", "workload")
_FIELDS: Mapping[tuple[str, ...], str] = {
    ("load", "threads"): "threads",
    ("load", "records"): f"{PREFIX}recordcount",
    ("load", "rate"): f"{PREFIX}target",
    _WORKLOAD: f"{PREFIX}workload file",
}
"""Field of a study to its names in load generators' output."""
_CORE = re.compile(r"workload([a-f])")
"""Files of YCSB's core workloads, which a study calls ycsb-a and so on."""


def stated_factors(
    study: Study, facts: Mapping[str, str], told: Mapping[str, str]
) -> dict[str, str]:
    """Factor to the text of its level, for every factor that the content gives.

    Args:
        facts: factors from a tool's reader; they override the rest.
        told: facts on tool and settings in the file.
    """
    known = {**told, **facts}
    by_name = {_key(name.removeprefix(PREFIX)): text for name, text in known.items()}
    found: dict[str, str] = {}
    for factor, levels in study.factors.items():
        text = by_name.get(_key(factor)) if len(levels) > 1 else None
        if text is None:
            text = known.get(_FIELDS.get(_field(study, factor), ""))
        if text is None:
            continue
        if core := _CORE.fullmatch(text):
            found[factor] = f"ycsb-{core[1]}"
        elif len(levels) > 1 or _field(study, factor) != _WORKLOAD:
            found[factor] = text  # a file of another name may be of any workload
    return {**found, **facts}


def _field(study: Study, factor: str) -> tuple[str, ...]:
    """The one field that the factor's levels set; empty where they set several, or none."""
    paths = {
        tuple(map(str, change.path))
        for patch in study.factors[factor].values()
        for change in assignments(patch)
    }
    return paths.pop() if len(paths) == 1 else ()


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
