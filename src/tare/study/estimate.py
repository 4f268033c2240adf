"""What a plan will cost in time, memory and disk: rough, stated before anything starts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.study.quantities import MIB

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tare.study.schema import Design, Load, Setup

# Measured with Cassandra 5.0.9 on a machine of 2 cores; where more was measured, it stands below.
NODE_START_S = 8.0
"""One node until it answers: 5 to 6 s alone, 8 s with the client's and the lab's own start."""
NODE_STOP_S = 1.0
"""A throw-away node is killed; draining it would take 13 s."""
CONTAINER_S = 1.0
"""Creating and removing one container with its network and volume."""
POD_S = 4.0
"""Making and removing one pod with its services, and its part of proving the path."""
IMAGE_S = 10.0
"""Building the image from the artifact tree, once: 137 MB in 2 s, more on a slow disk."""
ARTIFACTS_S = 5.0
"""Checking the artifact tree's checksums, once."""
SCHEMA_S = 2.0
"""Creating keyspace and table and waiting for schema agreement."""
POPULATE_OPS_PER_S = 12_000.0
"""Inserts per second and replica on 2 cores, between a cold server (11,600) and a warm one."""
BETWEEN_TRIALS_S = 1.0
"""Continuing and pausing clusters, starting client and probe, writing the record."""
TRUNCATE_S = 1.5
OFF_HEAP_BYTES = 450 * MIB
"""A node's memory beyond its heap: 0.95 GB at 512 MiB, 1.2 GB at 768 MiB, 1.5 GB at 1 GiB."""
CLIENT_BYTES = 64 * MIB
"""One Rust load client (29 MB seen) and its histograms."""
LAB_BYTES = 300 * MIB
"""The experiment's own process with the container engine."""
NODE_DISK_BYTES = 200 * MIB
"""Commit log, hints, system tables and logs of one node."""
IMAGE_DISK_BYTES = 300 * MIB
"""The image (137 MB) and the engine's working copy."""
ROW_OVERHEAD_BYTES, COLUMN_OVERHEAD_BYTES = 80, 22
"""On disk per row and replica beyond the values: 1,300 bytes were seen of YCSB's 10 x 100, 350 of
cassandra-stress's 5 x 34 (whose tables are not compressed)."""
OWN_ROW_BYTES = 1_000
"""A row of a workload of one's own, whose tables are not known here."""
REWRITE_FACTOR = 2.0
"""Compaction may hold old and new files at the same time."""


class Estimate(BaseModel):
    """What a run of the plan needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(description="the whole run, set-up included, seconds")
    setup_seconds: float = Field(description="before the first cluster, once per run, seconds")
    memory_bytes: int = Field(description="peak resident memory of clusters, clients and lab")
    disk_bytes: int = Field(description="peak disk use of the clusters and images")
    engine_disk_bytes: int = Field(
        description="the part of disk_bytes in the Docker engine's own directory"
    )
    breakdown: dict[str, float] = Field(description="seconds by phase; they add up to `seconds`")


def estimate(conditions: list[Condition], design: Design) -> Estimate:
    """Time, memory and disk of `design.deployments` rounds over the conditions."""
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
    breakdown["set-up"] = ARTIFACTS_S + (IMAGE_S if _any_docker(conditions) else 0.0)
    for key, one in first.items():
        lives = {
            "trial": passes * sharing[key],
            "block": passes,
            "deployment": design.deployments,
        }[design.fresh]
        breakdown["deploy"] += lives * _deploy_s(one.setup)
        breakdown["populate"] += lives * _populate_s(one.setup)
        kinds = 1 if design.fresh == "trial" else len(loads[key])
        breakdown["warm up"] += lives * kinds * (design.warm.gentle + design.warm.at_most)
        breakdown["tear down"] += lives * _nodes(one.setup) * NODE_STOP_S
        if design.reset != "keep" and design.fresh != "trial":
            again = passes * sharing[key] - lives
            breakdown["populate"] += again * (_populate_s(one.setup) + TRUNCATE_S)
    breakdown["search"] = _search_s([one.setup.load for one in conditions])
    for one in conditions:
        breakdown["measure"] += passes * _trial_s(one.setup.load)
        breakdown["between trials"] += passes * BETWEEN_TRIALS_S
    in_engine = [one.setup for one in first.values() if in_engine_directory(one.setup)]
    images = IMAGE_DISK_BYTES if _any_docker(conditions) else 0
    return Estimate(
        seconds=sum(breakdown.values()),
        setup_seconds=breakdown["set-up"],
        memory_bytes=LAB_BYTES + _peak([_memory(one.setup) for one in first.values()], design),
        disk_bytes=images + _peak([cluster_disk(one.setup) for one in first.values()], design),
        engine_disk_bytes=images + _peak([cluster_disk(one) for one in in_engine], design),
        breakdown=breakdown,
    )


def _peak(needs: list[int], design: Design) -> int:
    """With `fresh: deployment` all clusters of a round live at once, else one after another."""
    return sum(needs) if design.fresh == "deployment" else max(needs, default=0)


def _nodes(setup: Setup) -> int:
    return setup.clusters * setup.database.nodes


def _any_docker(conditions: list[Condition]) -> bool:
    return any(
        {"docker", "kubernetes"} & {one.setup.platform.runtime, one.setup.client.runtime}
        for one in conditions
    )


def _deploy_s(setup: Setup) -> float:
    container = CONTAINER_S if setup.platform.runtime == "docker" else 0.0
    if setup.platform.runtime in ("kubernetes", "swarm"):
        container = POD_S
    return _nodes(setup) * (NODE_START_S + container) + setup.clusters * SCHEMA_S


def _populate_s(setup: Setup) -> float:
    """All clusters of one machine share its cores, so their inserts add up."""
    copies = setup.clusters * setup.database.replication_factor
    return setup.load.records * copies / POPULATE_OPS_PER_S


def _search_s(loads: list[Load]) -> float:
    """Searches for maxima, once per run: one per condition, or one of the baseline."""
    sought = [load.search for load in loads if load.sought is not None]
    own = sum(one.budget for one in sought if one.of == "condition")
    return own + max((one.budget for one in sought if one.of == "baseline"), default=0.0)


def _trial_s(load: Load) -> float:
    return load.warmup + load.measured_s


def row_bytes(load: Load) -> int:
    """Bytes on disk of one populated row on one replica."""
    if load.statements is not None:
        return OWN_ROW_BYTES if load.statements.populate is not None else 0
    return ROW_OVERHEAD_BYTES + load.columns * (load.column_bytes + COLUMN_OVERHEAD_BYTES)


def _memory(setup: Setup) -> int:
    node = setup.database.heap + OFF_HEAP_BYTES
    limit = setup.platform.limits.memory
    return _nodes(setup) * (min(node, limit) if limit else node) + setup.clusters * CLIENT_BYTES


def in_engine_directory(setup: Setup) -> bool:
    """Whether the database's files lie where the Docker engine keeps volumes and layers."""
    return setup.platform.runtime == "docker" and setup.platform.storage != "directory"


def cluster_disk(setup: Setup) -> int:
    """Bytes that the clusters of one deployment may take on disk."""
    rows = setup.load.records * setup.database.replication_factor * setup.clusters
    data = rows * row_bytes(setup.load) * REWRITE_FACTOR
    return round(data) + _nodes(setup) * NODE_DISK_BYTES
