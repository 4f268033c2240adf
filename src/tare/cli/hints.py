"""Hints where a plan's result will not answer what its author may expect, in lines for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tare.databases import registry as databases
from tare.report import numbers
from tare.runtimes.registry import containers, declared
from tare.study.comparisons import comparisons
from tare.study.design import AUTO
from tare.study.metric_names import primary_metrics
from tare.study.patch import assignments
from tare.study.platform import published_between
from tare.study.slice_lengths import FEW_IN_FLIGHT, lengthened
from tare.study.slice_schedule import cut_of, turn_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.plan import Plan
    from tare.study.schema import Database, Setup, Study

_OF_THE_HOST = ("host", "directory")
"""A platform's network and storage if a study names none."""
_LARGE_PART = 1 / 3


def hint_lines(plan: Plan) -> list[str]:
    """The hints, each with the edit to make; empty: none."""
    if not plan.conditions:
        return []
    found = [*_own_maxima(plan), *_rates(plan), *_unpinned(plan), *_unintended(plan)]
    found += [*_in_flight(plan), *_replicas(plan), *_compilers(plan), *_ports_between(plan)]
    found += [*_filled_anew(plan), *_left_of_containers(plan), *_standstills(plan)]
    return [f"hint: {line}" for line in found]


def _own_maxima(plan: Plan) -> Iterator[str]:
    """Conditions under different loads: each gets a share of its own maximum."""
    own = [one for one in plan.conditions if one.setup.load.sought and _of_its_own(one.setup)]
    if len(own) > 1:
        asked = own[0].setup.load.asked
        yield (
            f"each condition has a maximum of its own, so that {asked} is another load for each; "
            "to compare them under one load, write load.search.of: baseline"
        )


def _of_its_own(setup: Setup) -> bool:
    return setup.load.search is None or setup.load.search.of == "condition"


def _rates(plan: Plan) -> Iterator[str]:
    """Throughput among the deciding metrics, although a rate sets it."""
    study = plan.study
    set_ = [one for one in plan.conditions if _one_rate(one.setup)]
    primary = primary_metrics(study.margins, study.analysis.primary)
    if "throughput" in primary and len(set_) == len(plan.conditions):
        rest = [name for name in primary if name not in ("throughput", "service_demand")]
        rest = ["service_demand", *(rest or ["all.p99"])]
        yield (
            "load.rate sets the throughput, which is then alike whatever the platform costs; "
            f"latency and service demand answer: analysis: {{primary: [{', '.join(rest)}]}}"
        )


def _one_rate(setup: Setup) -> bool:
    """Whether the rate is the same on every platform, not a share of each one's maximum."""
    return setup.load.rate is not None and not (setup.load.sought and _of_its_own(setup))


def _unpinned(plan: Plan) -> Iterator[str]:
    """Clients that take CPU time from the servers that they measure."""
    shared = [one for one in plan.conditions if _shares_cpus(one.setup)]
    if shared:
        yield (
            "clients and servers share the CPUs of this machine, and each slows the other; to "
            "keep them apart, write e.g. platform.limits.cpuset: 0 and client.limits.cpuset: 1"
        )


def _shares_cpus(setup: Setup) -> bool:
    client, platform = setup.client, setup.platform
    here = client.source.here and platform.source.here
    placed = any(declared(one.runtime).orchestrator for one in (client, platform))
    return here and not placed and not (client.limits.cpuset and platform.limits.cpuset)


def _unintended(plan: Plan) -> Iterator[str]:
    """Loads that are compared with one another beside platforms."""
    study = plan.study
    if study.analysis.has_roles:
        return
    loads = [factor for factor in study.factors if _sets(study, factor) == {"load"}]
    others = [factor for factor in study.factors if factor not in loads]
    compared = {
        factor
        for base, treated in comparisons(study, plan.conditions)
        for factor in loads
        if base.levels[factor] != treated.levels[factor]
    }
    for factor in loads if others else ():
        if factor in compared:
            yield (
                f"levels of {factor} are compared with one another, which tells of the load and "
                f"not of the platform; to compare {', '.join(others)} at each of them instead, "
                f"write analysis: {{by: [{factor}]}}"
            )


def _in_flight(plan: Plan) -> Iterator[str]:
    """Slices that are long because many operations are in flight."""
    length_s = plan.slicing.length_s
    if plan.slicing.asked != AUTO or plan.slicing.turn != "pass" or length_s is None:
        return
    setups = [one.setup for one in plan.conditions]
    closed = all(one.load.rate is None and not one.load.phases for one in setups)
    alike = len({one.load.threads for one in setups}) == 1
    if closed and alike and any(lengthened(one, length_s) for one in setups):
        yield (
            f"what is in flight asks for slices of {length_s * 1000:.3g} ms; with load.threads: "
            f"{FEW_IN_FLIGHT} they are shorter and intervals narrower, half as wide where both "
            "were measured; that is another load, at which each way in costs an operation more"
        )


def _replicas(plan: Plan) -> Iterator[str]:
    """Clusters that each choose the replica for a read by their own latencies."""
    between = any(
        base.deployment != treated.deployment
        for base, treated in comparisons(plan.study, plan.conditions)
    )
    if between and any(_chooses(one.setup.database) for one in plan.conditions):
        yield (
            "Cassandra's dynamic snitch chooses who answers a read by latencies that each cluster "
            "has seen, so that identical clusters pass on different shares of their reads; "
            "to have them alike, write database.settings: {dynamic_snitch: false}"
        )


def _compilers(plan: Plan) -> Iterator[str]:
    """Servers that are measured before their methods are compiled."""
    warm = plan.study.design.warm
    setups = [one.setup for one in plan.conditions]
    told = (databases.declared(one.database.kind).still_compiling(one, warm) for one in setups)
    yield from dict.fromkeys(filter(None, told))


def _standstills(plan: Plan) -> Iterator[str]:
    """Nodes that stand still for long between their turns."""
    if plan.slicing.length_s is None:
        return
    own = Counter(one.deployment for one in plan.trials if (one.round, one.block) == (1, 1))
    cut = cut_of(plan.conditions[0].setup.load, plan.study.design)
    turn_s = turn_seconds(cut.turn(max(own.values())), cut.length_s, cut.drain_s)
    told = (
        databases.declared(one.setup.database.kind).stands_still(
            one.setup.database, (len(own) - 1) * turn_s
        )
        for one in plan.conditions
    )
    yield from dict.fromkeys(filter(None, told))


def _filled_anew(plan: Plan) -> Iterator[str]:
    """Tables that are filled again and again, for a large part of the run."""
    design, parts = plan.study.design, plan.estimate.breakdown
    again = design.reset != "keep" and design.fresh != "trial"
    if again and parts["populate"] > _LARGE_PART * plan.estimate.seconds:
        yield (
            f"{design.reset} fills the tables anew before each trial, which takes "
            f"{numbers.length(parts['populate'])} of {numbers.length(plan.estimate.seconds)}; "
            "where trials read and overwrite the rows that exist, write design.reset: keep"
        )


def _ports_between(plan: Plan) -> Iterator[str]:
    """Nodes on one machine that reach each other as if each had its own machine."""
    setups = [one.setup for one in plan.conditions]
    if any(
        one.platform.source.here and published_between(one.platform.network, one.database.nodes)
        for one in setups
    ):
        yield (
            "nodes reach each other by published ports of one engine, and there through its "
            "userland proxy, which nodes on machines of their own never meet "
            "(docs/weigh.md#nodes-behind-published-ports); to have clients alone come by a "
            "published port, write platform: {network: bridge, endpoint: published}; for a "
            "machine for each node: docs/machines.md"
        )


def _left_of_containers(plan: Plan) -> Iterator[str]:
    """Containers that have neither a network nor storage of their own, in the whole study."""
    setups = [one.setup.platform for one in plan.conditions]
    contained = [one for one in setups if one.runtime in containers()]
    if contained and all((one.network, one.storage) == _OF_THE_HOST for one in contained):
        yield (
            f"{contained[0].runtime} has the host's network and a directory of the host here, so "
            "that neither a way into a container nor its storage is measured; "
        ) + (
            "to measure what most containers have, write platform: "
            f"{{runtime: {contained[0].runtime}, network: bridge, storage: volume}}"
            if any(one.source.here for one in contained)
            else "to measure a published port and a volume, write platform: "
            f"{{runtime: {contained[0].runtime}, network: published, storage: volume}}"
        )


def _chooses(database: Database) -> bool:
    return databases.declared(database.kind).replica_chosen(database)


def _sets(study: Study, factor: str) -> set[str]:
    """The parts of the setup that levels of the factor change."""
    return {
        str(one.path[0])
        for patch in study.factors[factor].values()
        for one in assignments(patch or {})
        if one.sets
    }
