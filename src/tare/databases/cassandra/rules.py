"""Settings that cannot work in a Cassandra cluster, and fields that are not Cassandra's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.cassandra.jvm_rules import jvm_problems
from tare.databases.cassandra.settings import cassandra_setting_problems
from tare.enumeration import count
from tare.study.database import SHORT_STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

# Options that only one strategy knows; the others refuse a table that has them.
# Source: Cassandra 5.0, CompactionParams and the strategies' validateOptions.
_OWN_OPTIONS = {
    "sstable_size_in_mb": "LeveledCompactionStrategy",
    "fanout_size": "LeveledCompactionStrategy",
    "single_sstable_uplevel": "LeveledCompactionStrategy",
    "compaction_window_unit": "TimeWindowCompactionStrategy",
    "compaction_window_size": "TimeWindowCompactionStrategy",
    "timestamp_resolution": "TimeWindowCompactionStrategy",
    "scaling_parameters": "UnifiedCompactionStrategy",
    "target_sstable_size": "UnifiedCompactionStrategy",
    "base_shard_count": "UnifiedCompactionStrategy",
    "sstable_growth": "UnifiedCompactionStrategy",
}


def replicas_needed(level: str, copies: int) -> int:
    """How many replicas, of a row's copies, answer an operation at a consistency level."""
    quorum = copies // 2 + 1
    few = {"TWO": 2, "THREE": 3}
    all_or_most = {
        "QUORUM": quorum, "LOCAL_QUORUM": quorum, "EACH_QUORUM": quorum, "ALL": copies,
    }  # fmt: skip
    return (few | all_or_most).get(level, 1)


def cassandra_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Contradictions in this condition's Cassandra cluster."""
    yield from _replicas(setup, problems)
    yield from _memory(setup, problems)
    yield from _compaction(setup, problems)
    yield from jvm_problems(setup, problems.origins)
    yield from cassandra_setting_problems(setup, problems)
    for field in ("write_concern", "read_preference", "journal", "stand_in"):
        value = getattr(setup.database, field)
        if value is not None and value is not False:
            yield problems.of(
                f"database.{field}",
                "with database.kind cassandra",
                "it is MongoDB's; Cassandra has consistency levels",
                "remove it and set database.consistency, or set database.kind to mongodb",
                against="database.kind",
            )


def _replicas(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    database = setup.database
    copies, nodes = database.replication_factor, database.nodes
    if copies > nodes:
        yield problems.of(
            "database.replication_factor",
            f"{copies} copies on {count(nodes, 'node')}",
            "each copy of a row needs a node of its own",
            f"set database.replication_factor to at most {nodes}, or database.nodes to {copies}",
            against="database.nodes",
        )
    for operation, level in (
        ("read", database.consistency.read),
        ("write", database.consistency.write),
    ):
        needed = replicas_needed(level, copies)
        if needed > copies:
            yield problems.of(
                f"database.consistency.{operation}",
                f"{level} with replication factor {copies}",
                f"every {operation} would fail: {needed} replicas must answer",
                f"use ONE, QUORUM or ALL, or set database.replication_factor to {needed}",
                against="database.replication_factor",
            )


def _memory(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    heap, limit = setup.database.heap, setup.platform.limits.memory
    if limit is not None and heap >= limit:
        yield problems.of(
            "database.heap",
            f"{_mib(heap)} in a unit limited to {_mib(limit)}",
            "the node would be killed: heap and all else must fit the limit",
            f"raise platform.limits.memory above {_mib(heap)}, or lower database.heap; "
            "a node needs some 450MiB beyond its heap",
            against="platform.limits.memory",
        )


def _compaction(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    compaction = setup.database.compaction
    for option in compaction.options:
        owner = _OWN_OPTIONS.get(option, compaction.strategy)
        if owner != compaction.strategy:
            short = next(name for name, full in SHORT_STRATEGIES.items() if full == owner)
            yield problems.of(
                f"database.compaction.options.{option}",
                f"not an option of {compaction.strategy}",
                f"it belongs to {owner}",
                f"remove it, or set database.compaction.strategy to {short}",
                against="database.compaction.strategy",
            )


def _mib(size: int) -> str:
    return f"{size / 1024**2:g}MiB"
