"""Requirements of the plan that this machine cannot meet: memory, disk, CPUs and runtimes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.databases import registry as databases
from tare.errors import StudyError
from tare.runtimes.registry import declared
from tare.study.comparisons import comparisons
from tare.study.conditions import baseline_condition, resolve
from tare.study.design import AUTO
from tare.study.domains import domains_of
from tare.study.estimate import disk_needs, estimate, together
from tare.study.left_out import reasons
from tare.study.quantities import GIB, cpus_of, size_in_words
from tare.study.server_needs import memory_in_words, node_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from tare.machines.facts import MachineFacts
    from tare.study.conditions import Condition
    from tare.study.domains import Domains
    from tare.study.estimate import RunEstimate
    from tare.study.left_out import Hindrance
    from tare.study.origins import FieldPath
    from tare.study.plan import Plan
    from tare.study.platform import Client, Platform
    from tare.study.schema import Limits, Setup

_KEEP_FREE_BYTES = GIB // 4
"""Memory left to everything else on the machine."""


@dataclass(frozen=True)
class Refusal:
    """One reason why the plan cannot be run here.

    Attributes:
        field: dotted path of the field that asks for too much.
        where: "file:line" or "--set a.b=c" that wrote it; "" when it is the default.
        reason: the request and what is available.
        remedy: the command or edit to try.
    """

    field: str
    where: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.field}: {self.reason}\n  try: {self.remedy}"


def refusals(
    plan: Plan,
    machine: MachineFacts,
    runtimes: Mapping[str, str | None],
    locked: Collection[str],
    elsewhere: Collection[str] = (),
    unfit: Callable[[Setup], Iterable[Hindrance]] = lambda setup: (),
) -> list[Refusal]:
    """Everything that this machine cannot give the plan; empty when it can run.

    Args:
        plan: the plan, its estimate included.
        machine: what the machine has, sizes in bytes.
        runtimes: runtime name to None where it can run, else to the reason why not.
        locked: versions of the database whose files can be fetched and verified.
        elsewhere: runtimes whose units run on other machines.
        unfit: why files or hosts that a setup names do not fit it.
    """
    found = list(_left_out(plan))
    if not plan.conditions:
        return found
    found += [*_runtimes(plan, runtimes), *_versions(plan, locked), *_routes(plan, machine)]
    found += _servers(plan, unfit)
    found += [*_cpus(plan, machine, elsewhere), *_limits(plan, machine), *_idle(plan, elsewhere)]
    here = [one for one in plan.conditions if _here(one.setup.platform, elsewhere)]
    domains = domains_of(plan.conditions, plan.study.design, machine.cpus)
    if here:
        need = estimate(here, plan.study.design, machine.memory_bytes)
        found += _memory(plan, machine, need, here)
    if domains:
        found += _domains(plan, machine, domains)
    on_disk = [*here, *(one for one in plan.conditions if one.setup.platform.source.made)]
    if on_disk:
        found += _disk(plan, machine, on_disk)
    return list(dict.fromkeys(found))


def _here(part: Platform | Client, elsewhere: Collection[str] = ()) -> bool:
    """Whether units of this part of a setup use this machine."""
    return part.source.here and part.runtime not in elsewhere


def refuse_plan(found: Sequence[Refusal]) -> None:
    """Returns when nothing was found.

    Raises:
        StudyError: for the first refusal; the others are listed with it.
    """
    if found:
        first, *others = found
        also = [f"also {str(one).splitlines()[0]}" for one in others]
        raise StudyError(
            f"{first.field}: {first.reason}",
            where=first.where,
            why="\n  ".join(also),
            remedy=first.remedy,
        )


def _left_out(plan: Plan) -> Iterator[Refusal]:
    """Conditions that cannot be run are left out, unless the others then answer nothing."""
    if not plan.left_out:
        return
    first, running = plan.left_out[0], {one.name for one in plan.conditions}
    if not running:
        reason = f"nothing can be run: {'; '.join(reasons(plan.left_out))}"
        yield _refusal(plan, first.condition, first.path, reason, first.remedy)
        return
    asked = list(comparisons(plan.study, plan.planned))
    bases = {base.name for base, _ in asked}
    if bases and not bases & running:
        lost = next(one for one in plan.left_out if one.condition.name in bases)
        yield _refusal(
            plan,
            lost.condition,
            lost.path,
            f"nothing is left to compare with: {lost.why} (condition {lost.condition.name})",
            "name another baseline",
        )
    reference = baseline_condition(plan.study)
    for one in plan.conditions:
        load = one.setup.load
        if load.sought and load.search.of == "baseline" and reference not in running:
            yield _refusal(
                plan,
                one,
                ("load", "search", "of"),
                f"load.{load.sought} is a share of the maximum of {reference}, which cannot be run",
                "set load.search.of to condition, or give the load a number",
            )


def _runtimes(plan: Plan, runtimes: Mapping[str, str | None]) -> Iterator[Refusal]:
    for one in plan.conditions:
        for part in ("platform", "client"):
            runtime = getattr(one.setup, part).runtime
            if not getattr(one.setup, part).source.here:
                continue  # its own host is asked, by `tare doctor --machines` and when a run begins
            why_not = runtimes.get(runtime, "this machine was not asked about it")
            if why_not is not None:
                yield _refusal(
                    plan,
                    one,
                    (part, "runtime"),
                    f"{runtime} cannot run here: {why_not}",
                    "see `tare doctor` for how to get it, or exclude the levels that need it",
                )


def _versions(plan: Plan, locked: Collection[str]) -> Iterator[Refusal]:
    for one in plan.conditions:
        database, in_place = one.setup.database, declared(one.setup.platform.runtime).in_place
        made_of_lock = database.home is None and (in_place or database.image is None)
        fetched = databases.declared(database.kind).locked and made_of_lock
        if fetched and database.version not in locked:
            yield _refusal(
                plan,
                one,
                ("database", "version"),
                f"Tare fetches {', '.join(sorted(locked))}, and not {database.version}",
                "name one of these, or your own files with database.home",
            )


def _servers(plan: Plan, unfit: Callable[[Setup], Iterable[Hindrance]]) -> Iterator[Refusal]:
    for one in plan.conditions:
        for fault in unfit(one.setup):
            yield _refusal(plan, one, fault.field, fault.why, fault.remedy)


def _routes(plan: Plan, machine: MachineFacts) -> Iterator[Refusal]:
    if machine.root:
        return
    for one in plan.conditions:
        for part in ("client", "platform"):
            runtime = declared(getattr(one.setup, part).runtime)
            for found in runtime.needs_root(one.setup, part):
                yield _refusal(plan, one, found.field, found.why, found.remedy)


def _idle(plan: Plan, elsewhere: Collection[str]) -> Iterator[Refusal]:
    """Where units elsewhere cannot be paused, each trial would need a cluster of its own."""
    design = plan.study.design
    if design.idle != "pause" or design.fresh == "trial":
        return
    first = {one.setup.platform.runtime: one for one in reversed(plan.conditions)}
    for runtime, one in first.items():
        why = declared(runtime).unpaused_elsewhere
        if why and runtime in elsewhere:
            remedy = "set design.idle to run, or design.fresh to trial"
            yield _refusal(plan, one, ("design", "idle"), why, remedy)


def _cpus(plan: Plan, machine: MachineFacts, elsewhere: Collection[str]) -> Iterator[Refusal]:
    for one, part, limits in _all_limits(plan):
        own = getattr(one.setup, part)
        if not _here(own, elsewhere) and not own.source.made:
            continue
        if limits.cpus is not None and limits.cpus > machine.cpus:
            yield _refusal(
                plan,
                one,
                (part, "limits", "cpus"),
                f"{limits.cpus:g} CPUs of {machine.cpus}",
                f"set {part}.limits.cpus to at most {machine.cpus}, or null for no limit",
            )
        asked = cpus_of(limits.cpuset) if limits.cpuset is not None else frozenset()
        missing = asked - set(range(machine.cpus))
        if missing:
            yield _refusal(
                plan,
                one,
                (part, "limits", "cpuset"),
                f"no CPU {min(missing)} here; there are 0 to {machine.cpus - 1}",
                f"name CPUs between 0 and {machine.cpus - 1}",
            )


def _limits(plan: Plan, machine: MachineFacts) -> Iterator[Refusal]:
    for one, part, limits in _all_limits(plan):
        own = getattr(one.setup, part)
        why = declared(own.runtime).limited_by_root if _here(own) else ""
        fields = [
            name for name in ("cpus", "cpuset", "memory") if getattr(limits, name) is not None
        ]
        if why and fields and not machine.root:
            yield _refusal(
                plan,
                one,
                (part, "limits", fields[0]),
                why,
                f"run as root, or set {part}.limits.{fields[0]} to null",
            )


def _memory(
    plan: Plan, machine: MachineFacts, needs: RunEstimate, here: Sequence[Condition]
) -> Iterator[Refusal]:
    need, free = needs.memory_bytes, machine.memory_available - _KEEP_FREE_BYTES
    if need <= free:
        return
    one = max(here, key=lambda each: node_memory(each.setup, machine.memory_bytes))
    sliced, alive_at_once = plan.study.design.slice_s is not None, together(plan.study.design)
    alive = len({each.deployment for each in here}) if alive_at_once else 1
    field, held, lower = memory_in_words(one.setup, machine.memory_bytes)
    remedies = [lower, "measure a part (--only FACTOR=LEVEL)"]
    if alive > 1:
        # with design.slice: auto the plan then has one piece; slices of a given length stay
        piece = "design.slice to off and " if sliced and plan.slicing.asked != AUTO else ""
        remedies.insert(0, f"set {piece}design.fresh to block, so that one cluster lives at a time")
    if sliced and len(here) > alive:
        remedies.insert(0, "set design.slice to off, so that one client lives at a time")
    words = f"{alive} deployments alive at once" if alive > 1 else "one deployment at a time"
    yield _refusal(
        plan,
        one,
        field,
        f"about {_gib(need)} of memory needed ({words}, {held}); "
        f"{_gib(machine.memory_available)} of {_gib(machine.memory_bytes)} is available",
        ", or ".join(remedies),
    )


def _domains(plan: Plan, machine: MachineFacts, domains: Sequence[Domains]) -> Iterator[Refusal]:
    """Virtual machines, all of which live for the whole run."""
    need = sum(one.count * one.memory for one in domains)
    here = [one for one in plan.conditions if _here(one.setup.platform)]
    beside = estimate(here, plan.study.design, machine.memory_bytes).memory_bytes if here else 0
    free = machine.memory_available - _KEEP_FREE_BYTES
    if need + beside <= free:
        return
    one = next(each for each in plan.conditions if each.setup.platform.source.made)
    sizes = ", ".join(f"{each.count} of {_gib(each.memory)}" for each in domains)
    also = f" beside {_gib(beside)} of what runs on this machine itself" if beside else ""
    yield _refusal(
        plan,
        one,
        ("platform", "machines"),
        f"virtual machines need about {_gib(need)} of memory ({sizes}){also}; "
        f"{_gib(machine.memory_available)} of {_gib(machine.memory_bytes)} is available",
        "lower database.nodes, database.heap or platform.limits.memory, set design.fresh to block, "
        "or measure a part (--only FACTOR=LEVEL)",
    )


def _disk(plan: Plan, machine: MachineFacts, here: Sequence[Condition]) -> Iterator[Refusal]:
    engines = machine.engine_disks
    for device, need in disk_needs(here, plan.study.design, engines).items():
        own = {name: disk for name, disk in engines.items() if disk.device == device}
        free = min((disk.free for disk in own.values()), default=machine.disk_free)
        if need <= free:
            continue
        place = _kept_by(list(own)) if own else "where the runs lie"
        one = max(here, key=lambda each: each.setup.load.records)
        yield _refusal(
            plan,
            one,
            ("load", "records"),
            f"about {_gib(need)} of disk needed {place}; {_gib(free)} is free",
            "lower load.records, or free some disk",
        )


def _kept_by(runtimes: Sequence[str]) -> str:
    whose = " and ".join(f"{name}'s" for name in runtimes)
    keeps = "engine keeps its" if len(runtimes) == 1 else "engines keep their"
    return f"where {whose} {keeps} data"


def _all_limits(plan: Plan) -> Iterator[tuple[Condition, str, Limits]]:
    for one in plan.conditions:
        yield one, "platform", one.setup.platform.limits
        yield one, "client", one.setup.client.limits


def _refusal(plan: Plan, one: Condition, path: FieldPath, reason: str, remedy: str) -> Refusal:
    origins = resolve(plan.study, one.levels)[1]
    return Refusal(".".join(map(str, path)), origins.of(path), reason, remedy)


def _gib(size: int) -> str:
    return f"{size / GIB:.1f}GiB" if size < 1024 * GIB else size_in_words(size)
