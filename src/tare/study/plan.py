"""The plan: deployments and trials in their random order, from one seed, and what they cost.

The order of slices within a block is drawn by `slice_schedule`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.study.comparisons import comparisons
from tare.study.conditions import Condition, expand
from tare.study.estimate import RunEstimate, estimate
from tare.study.left_out import LeftOutCondition, divide
from tare.study.schema import Study
from tare.study.slice_choice import Slicing, choose, settled
from tare.study.slice_shares import with_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.study.left_out import SeveralHindrances
    from tare.study.schema import Setup


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(_Part):
    """One pass over all conditions."""

    index: int = Field(description="1-based within its round")
    order: list[str] = Field(description="condition names, each once")


class Round(_Part):
    """One deployment of everything, and the blocks that it serves."""

    index: int = Field(description="1-based")
    deploy: list[str] = Field(description="deployment keys, in the order to deploy them")
    blocks: list[Block]


class PlannedTrial(_Part):
    """One condition in one block."""

    name: str = Field(description="directory name, e.g. D1-B03-docker-host")
    round: int = Field(description="1-based")
    block: int = Field(description="1-based within the round")
    position: int = Field(description="1-based within the block")
    condition: str
    deployment: str = Field(description="deployment key of the condition")


class Plan(_Part):
    """Everything that a run will do, in order."""

    study: Study
    seed: int
    conditions: list[Condition] = Field(description="those that are run")
    left_out: list[LeftOutCondition] = Field(
        [], description="conditions of the study that cannot be run, and why"
    )
    rounds: list[Round]
    looks: list[int] = Field(
        [], description="rounds after which a run until decided is looked at before its last one"
    )
    slicing: Slicing = Field(
        Slicing(), description="whether conditions are measured in slices, and why not"
    )
    estimate: RunEstimate = Field(description="of the conditions that are run")

    @property
    def planned(self) -> list[Condition]:
        """Every condition of the study: those that are run, then those that are left out."""
        return [*self.conditions, *(one.condition for one in self.left_out)]

    @property
    def whole(self) -> list[Condition]:
        """Every condition of the study, including conditions that are not selected here."""
        if not self.study.only:
            return self.planned
        return expand(self.study.model_copy(update={"only": {}}))

    @property
    def not_compared(self) -> list[tuple[Condition, Condition]]:
        """(baseline, treatment) of every comparison with a side that is left out."""
        running = {one.name for one in self.conditions}
        return [
            pair
            for pair in comparisons(self.study, self.planned)
            if not {one.name for one in pair} <= running
        ]

    @property
    def trials(self) -> list[PlannedTrial]:
        """All trials, in the order in which they are run."""
        deployment = {one.name: one.deployment for one in self.conditions}
        return [
            PlannedTrial(
                name=f"D{turn.index}-B{block.index:02}-{condition}",
                round=turn.index,
                block=block.index,
                position=position,
                condition=condition,
                deployment=deployment[condition],
            )
            for turn in self.rounds
            for block in turn.blocks
            for position, condition in enumerate(block.order, start=1)
        ]

    def kinds(self, deployment: str) -> list[Setup]:
        """A setup for each kind of load that the deployment's conditions put on it, in order.

        Setups that name an endpoint come first: the first setup says what the clusters offer.
        """
        setups = [one.setup for one in self.conditions if one.deployment == deployment]
        found: dict[str, Setup] = {}
        for setup in sorted(setups, key=lambda one: not one.platform.endpoint):
            found.setdefault(setup.load.operations, setup)
        return list(found.values())

    def endpoints(self, deployment: str) -> list[str]:
        """The endpoints by which clients of the deployment's conditions reach it."""
        own = [one.setup.platform for one in self.conditions if one.deployment == deployment]
        return list(dict.fromkeys(platform.endpoint for platform in own))

    def condition(self, name: str) -> Condition:
        """The condition of that name. KeyError when there is none."""
        for one in self.conditions:
            if one.name == name:
                return one
        raise KeyError(name)


def make_plan(
    study: Study,
    hindered: Callable[[Setup], SeveralHindrances | None] | None = None,
    machine_memory: int | None = None,
    unsliced: Callable[[Setup], str] = lambda setup: "",
) -> Plan:
    """Randomised complete blocks: every block holds every condition once, in a shuffled order.

    With `fresh: block`, conditions that share a cluster follow one another, so that one cluster
    lives at a time; clusters, and the conditions on each, come in a shuffled order.

    The same study and seed give the same plan. Rounds draw from the seed one after another, so
    that a study with more deployments begins with the very rounds of the shorter one.
    Source: complete randomised blocks, re-deployed in random order (Abedi and Brecht, ICPE 2017,
    "Conducting repeatable experiments in highly variable cloud computing environments").

    Args:
        hindered: why a setup cannot be run, None where it can. Such conditions are left out of the
            order and of the estimate. Without it every condition is in the plan.
        machine_memory: as `estimate` wants it.
        unsliced: why units of a setup cannot be driven in slices where they run; empty: they can.

    Raises:
        StudyError: as `expand`.
    """
    conditions, left_out = divide(expand(study), hindered)
    measured = conditions or [one.condition for one in left_out]
    slicing = choose(study, measured, unsliced)
    study = settled(study, slicing)
    if slicing.length_s is not None:
        conditions = with_shares(study, conditions)
    names = [one.name for one in conditions]
    keys = list(dict.fromkeys(one.deployment for one in conditions))
    # not for secrets: a published seed is what makes the order repeatable
    generator = random.Random(study.design.seed)  # noqa: S311
    deployment = {one.name: one.deployment for one in conditions}

    def shuffled(items: list[str]) -> list[str]:
        if study.design.order == "fixed":
            return list(items)
        return generator.sample(items, len(items))

    def ordered() -> list[str]:
        order = shuffled(names)
        if study.design.fresh != "block":
            return order
        turns = list(dict.fromkeys(deployment[name] for name in order))
        return sorted(order, key=lambda name: turns.index(deployment[name]))

    rounds = [
        Round(
            index=turn,
            deploy=shuffled(keys),
            blocks=[
                Block(index=block, order=ordered()) for block in range(1, study.design.blocks + 1)
            ],
        )
        for turn in range(1, study.design.deployments + 1)
    ]
    return Plan(
        study=study,
        seed=study.design.seed,
        conditions=conditions,
        left_out=left_out,
        rounds=rounds,
        looks=list(study.design.looks),
        slicing=slicing,
        estimate=estimate(conditions, study.design, machine_memory),
    )
