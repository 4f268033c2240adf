"""A study's plan on this machine, and what cannot work here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.lock import locked_versions
from tare.databases import registry as databases
from tare.machines import registry as machines
from tare.machines.facts import local_facts
from tare.machines.inventory.read import named_inventory
from tare.runtimes.availability import obstacle
from tare.runtimes.host_groups import group_faults
from tare.runtimes.registry import declared
from tare.runtimes.unsliced import unsliced
from tare.study.plan import Plan, make_plan
from tare.study.read import load_study
from tare.study.refusals import refusals, refuse_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.obstacle import Obstacle
    from tare.study.left_out import Hindrance
    from tare.study.schema import Setup, Study


def checked_plan(
    study: Path,
    overrides: list[str] | None,
    where: Path | None = None,
    *,
    scale: str | None = None,
    only: list[str] | None = None,
) -> Plan:
    """Read, expand and order a study, and refuse what cannot work on this machine.

    Args:
        study: the study file.
        overrides: `--set` values.
        where: where the runs will lie; its disk must have room.
        scale: one of the study's scales; None: the one that it names, if it does.
        only: `--only` values.

    Raises:
        StudyError: for the first refusal, with file, line, reason and remedy, and all others.
    """
    plan = plan_here(load_study(study, overrides or [], scale, only or []))
    refuse_here(plan, where)
    return plan


def plan_here(study: Study) -> Plan:
    """The study's plan on this machine, without conditions that cannot run here."""
    memory = local_facts().memory_bytes
    return make_plan(study, obstacle_here(), memory, unsliced_here())


def refuse_here(plan: Plan, where: Path | None = None) -> None:
    """Refuse what cannot work on this machine.

    Raises:
        StudyError: for the first refusal, with file, line, reason and remedy, and all others.
    """
    used = sorted({name for one in plan.conditions for name in _runtimes(one.setup)})
    kept = used if plan.estimate.engine_disk_bytes else []
    stores = {name: store for name in kept if (store := declared(name).store()) is not None}
    machine = local_facts(where, stores)
    states = {name: declared(name).fault() for name in used}
    elsewhere = {name for name in used if declared(name).elsewhere()}
    refuse_plan(refusals(plan, machine, states, locked_versions(), elsewhere, _unfit_in(plan)))


def _unfit_in(plan: Plan) -> Callable[[Setup], list[Hindrance]]:
    """Why files or hosts that a setup names do not meet its requirements."""
    setups = [one.setup for one in plan.conditions]
    of_inventory = any(one.platform.source.from_inventory for one in setups)
    inventory = named_inventory() if of_inventory else None

    def unfit_setup(setup: Setup) -> list[Hindrance]:
        hosts = group_faults(setup, setups, inventory) if inventory else ()
        return [*databases.declared(setup.database.kind).unfit(setup), *hosts]

    return unfit_setup


def _of_inventory(setup: Setup) -> bool:
    """Whether nodes or clients are on an inventory's hosts."""
    return setup.platform.source.from_inventory or setup.client.source.from_inventory


def _runtimes(setup: Setup) -> set[str]:
    return {setup.platform.runtime, setup.client.runtime}


def obstacle_here() -> Callable[[Setup], Obstacle | None]:
    """Why a setup cannot run here; an orchestrator is asked once, and only if needed."""
    asked, hosts = cache(lambda name: declared(name).named()), cache(named_inventory)
    missing = cache(lambda name: machines.declared(name).missing())

    def hindered(setup: Setup) -> Obstacle | None:
        return obstacle(
            setup,
            {name: found for name in _runtimes(setup) if (found := asked(name)) is not None},
            hosts() if _of_inventory(setup) else None,
            missing,
        )

    return hindered


def unsliced_here() -> Callable[[Setup], str]:
    """Why a setup's units cannot be driven in slices; each is asked only if needed."""
    elsewhere, hosts = cache(lambda name: declared(name).elsewhere()), cache(named_inventory)

    def why_not(setup: Setup) -> str:
        return unsliced(setup, elsewhere, hosts() if _of_inventory(setup) else None)

    return why_not
