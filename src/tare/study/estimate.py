"""The cost of a plan in time, memory and disk: rough, stated before anything starts."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.databases import registry as databases
from tare.runtimes.registry import declared
from tare.study.quantities import MIB
from tare.study.row_size import row_bytes
from tare.study.server_needs import deploy_s, needs_of, node_memory
from tare.study.slice_schedule import block_seconds, cut_of
from tare.study.start import snapshot_content, why_not

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.machines.facts import Disk
    from tare.study.conditions import Condition
    from tare.study.schema import Design, Load, Setup

NODE_STOP_S = 1.0
"""A throw-away node is killed; draining it would take 13 s."""
IMAGE_S = 10.0
"""Building the image from the artifact tree, once: 137 MB in 2 s, more on a slow disk."""
ARTIFACTS_S = 5.0
"""Checking the artifact tree's checksums, once."""
BETWEEN_TRIALS_S = 1.0
"""Continuing and pausing clusters, starting client and probe, writing the record."""
TRUNCATE_S = 1.5
DRAIN_S = 13.0
"""Ending nodes cleanly, once for each snapshot."""
CLIENT_BYTES = 64 * MIB
"""One Rust load client (29 MB seen) and its histograms."""
LAB_BYTES = 300 * MIB
"""The experiment's own process with the container engine."""
IMAGE_DISK_BYTES = 300 * MIB
"""The image (137 MB) and the engine's working copy."""
REWRITE_FACTOR = 2.0
"""Compaction may hold old and new files at the same time; an oplog holds every insert again."""


class RunEstimate(BaseModel):
    """What a run of the plan needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(description="the whole run, set-up included, seconds")
    setup_seconds: float = Field(description="before the first cluster, once per run, seconds")
    memory_bytes: int = Field(description="peak resident memory of clusters, clients and lab")
    disk_bytes: int = Field(description="peak disk use of the clusters and images")
    engine_disk_bytes: int = Field(
        description="the part of disk_bytes in the directory of a container engine"
    )
    breakdown: dict[str, float] = Field(description="seconds by phase; they add up to `seconds`")


def estimate(
    conditions: list[Condition], design: Design, machine_memory: int | None = None
) -> RunEstimate:
    """Time, memory and disk of `design.deployments` rounds over the conditions.

    Args:
        machine_memory: of the machine, bytes. A server without a limit may use it if it takes a
            share of what it sees; None: not known.
    """
    first = {one.deployment: one for one in reversed(conditions)}
    sharing = Counter(one.deployment for one in conditions)
    loads: dict[str, set[str]] = {key: set() for key in first}
    for one in conditions:
        loads[one.deployment].add(one.setup.load.operations)
    passes = design.deployments * design.blocks
    breakdown = dict.fromkeys(
        (
            "set-up",
            "deploy",
            "populate",
            "warm up",
            "search",
            "measure",
            "between trials",
            "tear down",
        ),
        0.0,
    )
    images = len(_with_images(conditions))
    breakdown["set-up"] = ARTIFACTS_S + images * IMAGE_S
    breakdown["set-up"] += _snapshots_s([one.setup for one in first.values()], design)
    for key, one in first.items():
        lives = {
            "trial": passes * sharing[key],
            "block": passes,
            "deployment": design.deployments,
        }[design.fresh]
        breakdown["deploy"] += lives * _deploy_s(one.setup)
        if why_not(one.setup, design):
            breakdown["populate"] += lives * _populate_s(one.setup)
        kinds = 1 if design.fresh == "trial" else len(loads[key])
        compiles = databases.declared(one.setup.database.kind).compiles
        gentle = design.warm.gentle if compiles else 0.0
        breakdown["warm up"] += lives * kinds * (gentle + design.warm.at_most)
        breakdown["tear down"] += lives * _nodes(one.setup) * NODE_STOP_S
        if design.reset != "keep" and design.fresh != "trial":
            again = passes * sharing[key] - lives
            breakdown["populate"] += again * (_populate_s(one.setup) + TRUNCATE_S)
    breakdown["search"] = _search_s([one.setup.load for one in conditions])
    shares = [[one.share for one in conditions if one.deployment == key] for key in first]
    for one in conditions:
        breakdown["measure"] += passes * _trial_s(one.setup.load, design, shares)
    apart = len(conditions) if design.slice_s is None else 1  # slices: a block begins as a whole
    breakdown["between trials"] = passes * apart * BETWEEN_TRIALS_S
    in_engine = [one.setup for one in first.values() if in_engine_directory(one.setup)]
    image_bytes = images * IMAGE_DISK_BYTES
    return RunEstimate(
        seconds=sum(breakdown.values()),
        setup_seconds=breakdown["set-up"],
        memory_bytes=LAB_BYTES
        + _peak([_memory(one.setup, machine_memory) for one in first.values()], design)
        + _more_clients(conditions, first, design),
        disk_bytes=image_bytes + _peak([cluster_disk(one.setup) for one in first.values()], design),
        engine_disk_bytes=image_bytes + _peak([cluster_disk(one) for one in in_engine], design),
        breakdown=breakdown,
    )


def disk_needs(
    conditions: Iterable[Condition], design: Design, engines: Mapping[str, Disk]
) -> dict[int | None, int]:
    """Bytes that clusters and images take at most, by the device of their file system; None: the
    device of the runs.

    Args:
        engines: runtime to its engine's place for volumes, layers and images, if that is elsewhere.
    """
    every = list(conditions)
    clusters: dict[int | None, list[int]] = {}
    for setup in {one.deployment: one.setup for one in reversed(every)}.values():
        disk = engines.get(setup.platform.runtime) if in_engine_directory(setup) else None
        clusters.setdefault(disk.device if disk else None, []).append(cluster_disk(setup))
    found = {device: _peak(own, design) for device, own in clusters.items()}
    stores = {
        (disk.place, disk.device) if disk else ("", None)
        for disk in map(engines.get, _with_images(every))
    }
    for _, device in stores:
        found[device] = found.get(device, 0) + IMAGE_DISK_BYTES
    return found


def _peak(needs: list[int], design: Design) -> int:
    """All clusters of a round live at once, or one after another."""
    return sum(needs) if together(design) else max(needs, default=0)


def together(design: Design) -> bool:
    """Whether all clusters live at once: those of a round, or in slices those of a block."""
    return design.fresh == "deployment" or design.slice_s is not None


def _more_clients(
    conditions: list[Condition], first: Mapping[str, Condition], design: Design
) -> int:
    """Clients of a deployment's further conditions: in slices all are connected all the time."""
    if design.slice_s is None:
        return 0
    clients = sum(one.setup.clusters for one in conditions)
    return (clients - sum(one.setup.clusters for one in first.values())) * CLIENT_BYTES


def _nodes(setup: Setup) -> int:
    return setup.clusters * setup.database.nodes


def _with_images(conditions: Iterable[Condition]) -> set[str]:
    """Runtimes for whose units an engine of this machine makes an image."""
    used = {part.runtime for one in conditions for part in (one.setup.platform, one.setup.client)}
    return {runtime for runtime in used if declared(runtime).local_images}


def _deploy_s(setup: Setup) -> float:
    return _nodes(setup) * declared(setup.platform.runtime).unit_s + setup.clusters * deploy_s(
        setup
    )


def _populate_s(setup: Setup) -> float:
    """All clusters of one machine share its cores, so their inserts add up."""
    copies = setup.clusters * setup.database.replication_factor
    return setup.load.records * copies / needs_of(setup).inserts_per_s


def _snapshots_s(setups: list[Setup], design: Design) -> float:
    """Making each snapshot that the deployments start from, if none is in the cache yet."""
    kinds = {
        json.dumps(snapshot_content(one)): deploy_s(one) + _populate_s(one) / one.clusters + DRAIN_S
        for one in setups
        if not why_not(one, design)
    }
    return sum(kinds.values())


def _search_s(loads: list[Load]) -> float:
    """Searches for maxima, once per run: one per condition, or one of the baseline."""
    sought = [load.search for load in loads if load.sought is not None]
    own = sum(one.budget for one in sought if one.of == "condition")
    return own + max((one.budget for one in sought if one.of == "baseline"), default=0.0)


def _trial_s(load: Load, design: Design, shares: list[list[int]]) -> float:
    """In slices, an equal part of the block, which shares none of its time with other trials.

    Args:
        shares: for each deployment, the shares of its trials.
    """
    if design.slice_s is None:
        return load.warmup + load.measured_s
    return block_seconds(shares, cut_of(load, design)) / sum(map(len, shares))


def _memory(setup: Setup, machine: int | None) -> int:
    return _nodes(setup) * node_memory(setup, machine) + setup.clusters * CLIENT_BYTES


def in_engine_directory(setup: Setup) -> bool:
    """Whether the database's files lie where a container engine keeps volumes and layers."""
    platform = setup.platform
    return not platform.source.made and platform.storage in declared(platform.runtime).in_engine


def cluster_disk(setup: Setup) -> int:
    """Bytes that the clusters of one deployment may take on disk."""
    rows = setup.load.records * setup.database.replication_factor * setup.clusters
    data = rows * row_bytes(setup.load) * REWRITE_FACTOR
    return round(data) + _nodes(setup) * needs_of(setup).disk_bytes
