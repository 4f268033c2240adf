"""Chooses whether a study is measured in slices: as it says, or wherever that is possible."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.study.design import AUTO, OFF
from tare.study.rules import slice_problems
from tare.study.slice_lengths import USUAL_SLICE_S, answered_s, drain_s, slice_in_turn_s
from tare.study.slice_shares import with_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tare.study.conditions import Condition
    from tare.study.schema import Setup, Study

LEAST_TAKING_TURNS = 2
SAMPLED = ("cpu.util", "cpu.softirq", "disk.write_kbps")
"""Metrics that are made of one-second samples, which trials in slices do not have."""
_OVER_TIME = ("band", "interval-means")
"""Exhibits that are drawn from one-second series, likewise."""


class Slicing(BaseModel):
    """What was chosen, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: Literal["auto", "off"] | float = Field(
        OFF, description="design.slice as the study says it: auto, off, or seconds"
    )
    length_s: float | None = Field(
        None, description="length of a slice, seconds; null: measured in one piece"
    )
    drain_s: float | None = Field(
        None, description="time for the last replies after each, seconds; null as length_s"
    )
    turn: Literal["slice", "pass"] = Field(
        "slice", description="what a server is driven for until another has its turn"
    )
    why_not: str = Field(
        "", description="where auto came to one piece, the first reason; else empty"
    )

    @property
    def words(self) -> str:
        """The choice in a line."""
        said = self.asked if isinstance(self.asked, str) else f"{self.asked * 1000:g}ms"
        if self.length_s is None:
            reason = f": {self.why_not}" if self.why_not else ""
            return f"one condition after another, in one piece (design.slice: {said}){reason}"
        turns = "the conditions of a block in turn"
        if self.turn == "pass":
            turns = "the servers of a block in turn, each with all its conditions"
        return f"in slices of {round(self.length_s * 1000, 1):g} ms, {turns} (design.slice: {said})"


def choose(
    study: Study, conditions: Sequence[Condition], unsliced: Callable[[Setup], str]
) -> Slicing:
    """The study's own choice; with `auto`, slices of the usual length unless something hinders.

    Where servers have several conditions, a server's turn has a slice of each
    (`slice_in_turn_s`).

    Args:
        conditions: the conditions that are measured.
        unsliced: why units of a setup cannot be driven in slices where they run; empty: they can.
    """
    asked, turn, drain = study.design.slice, study.design.turn, study.design.drain
    setups = [one.setup for one in conditions]
    all_s = max(map(answered_s, setups), default=0.0)
    last_s = max(map(drain_s, setups), default=0.0) if drain == AUTO else float(drain)
    if asked == OFF:
        return Slicing(asked=OFF)
    if asked != AUTO:
        chosen: Literal["slice", "pass"] = "pass" if turn == "pass" else "slice"
        length_s = study.design.slice_s
        return Slicing(asked=asked, length_s=length_s, drain_s=last_s, turn=chosen)
    for reason in _hindrances(study, setups, unsliced):
        return Slicing(asked=AUTO, why_not=reason)
    most = 1 if turn == "slice" else _slices_per_pass(with_shares(study, conditions))
    length_s = slice_in_turn_s(most, all_s)
    return Slicing(
        asked=AUTO, length_s=length_s, drain_s=last_s, turn="pass" if most > 1 else "slice"
    )


def _slices_per_pass(conditions: Iterable[Condition]) -> int:
    """The slices of the server that has most."""
    shares: Counter[str] = Counter()
    for one in conditions:
        shares[one.deployment] += one.share
    return max(shares.values(), default=1)


def settled(study: Study, slicing: Slicing) -> Study:
    """The study with the choice as its design.slice, for all other code."""
    length: Literal["off"] | float = OFF if slicing.length_s is None else slicing.length_s
    turn = slicing.turn if slicing.turn == "pass" else study.design.turn  # auto is a slice, then
    drain = study.design.drain if slicing.drain_s is None else slicing.drain_s
    design = study.design.model_copy(update={"slice": length, "turn": turn, "drain": drain})
    return study.model_copy(update={"design": design})


def _hindrances(
    study: Study, setups: Sequence[Setup], unsliced: Callable[[Setup], str]
) -> Iterator[str]:
    """Why slices are impossible, or would not answer the study's questions."""
    if len(setups) < LEAST_TAKING_TURNS:
        yield "a single condition has none to take turns with"
    tried = settled(study, Slicing(length_s=USUAL_SLICE_S))
    for problem in slice_problems(tried, setups):
        yield problem.what.removeprefix("design.slice: ")
    if study.design.fresh == "block":
        yield "design.fresh: block has one deployment alive at a time; in slices all live at once"
    if len({one.database.compaction.model_dump_json() for one in setups}) > 1:
        yield "compaction is compared, which takes longer than a slice and stands still between two"
    yield from _over_time(study)
    for setup in setups:
        if reason := unsliced(setup):
            yield reason


def _over_time(study: Study) -> Iterator[str]:
    """Metrics and exhibits that the study names and that trials in slices lack."""
    asked = study.analysis
    for index, one in enumerate(asked.show):
        if one.kind in _OVER_TIME:
            yield f"analysis.show.{index}: {one.kind} is drawn over time, which slices are not"
    named = [*asked.primary, *asked.metrics, *study.margins]
    named += [metric for one in asked.show for metric in one.metrics]
    for metric in named:
        if metric in SAMPLED:
            yield f"{metric} is made of samples of every second, which slices do not have"
