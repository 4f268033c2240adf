"""Conditions of a run that differ from the published study's, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.host_groups import emulated_conditions
from tare.enumeration import cut
from tare.knowledge.replication.matching import names_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.knowledge.replication.matching import Pair
    from tare.knowledge.replication.measured import MeasuredRun
    from tare.knowledge.replication.reference import Reference
    from tare.study.schema import Setup

_FREE: Any = {
    "database": {"version", "home", "image", "heap", "jvm", "settings"},
    "platform": {"limits"},
    "client": {"limits", "tool"},
    "load": {
        "records", "threads", "rate", "rate_per", "phases", "search", "warmup", "measure",
        "timeout",
    },
}  # fmt: skip
"""Sizes, bits and how hard the database is driven: where these differ, the scorecard says so and
judges. Any other difference of a setup makes another comparison."""
_EMULATED = "emulated by QEMU here"
_MOST_NAMED = 3
_MOST_LETTERS = 40


def departures(run: MeasuredRun, reference: Reference) -> dict[str, tuple[str, ...]]:
    """Condition to its differences from the study's; conditions without any are missing.

    A run's condition is the study's condition of the same name, but its setup may have been set
    otherwise: `--set factors.server.docker.platform.network=host`. No paper measured in a machine
    whose processor a program emulates.
    """
    theirs = {one.name: one.setup for one in reference.conditions}
    emulated = set(emulated_conditions(run.trials))
    found = {
        name: (
            *((_EMULATED,) if name in emulated else ()),
            *_apart(run.conditions[name].setup, setup),
        )
        for name, setup in theirs.items()
        if name in run.conditions
    }
    return {name: said for name, said in found.items() if said}


def departed(pairs: Sequence[Pair], apart: Mapping[str, Sequence[str]]) -> str:
    """The differences of these pairs from the study, in words; empty: none."""
    said = dict.fromkeys(text for name in names_in(pairs) for text in apart.get(name, ()))
    return "; ".join(cut([*said], _MOST_NAMED))


def _apart(here: Setup, there: Setup) -> Iterator[str]:
    ours, theirs = (
        dict(_fields(one.model_dump(mode="json", exclude=_FREE), ())) for one in (here, there)
    )
    for field in dict.fromkeys([*theirs, *ours]):
        mine, other = ours.get(field), theirs.get(field)
        if mine != other:
            yield f"{field} {_value(mine)} here, {_value(other)} in the study"


def _fields(part: object, path: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """(dotted name, value) of every field that is no mapping."""
    if not isinstance(part, dict):
        yield ".".join(path), part
        return
    for key, value in part.items():
        yield from _fields(value, (*path, str(key)))


def _value(value: object) -> str:
    text = "nothing" if value is None or value == "" else str(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 3]}..."
