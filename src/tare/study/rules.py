"""What cannot work on any machine: fields that contradict each other in one condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.load_rules import load_problems
from tare.study.problems import Problem, line_of, remedy_for
from tare.study.schema import SHORT_STRATEGIES, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tare.study.origins import FieldPath, Origins
    from tare.study.schema import Setup, Study

_REPLICAS_NEEDED = {"TWO": 2, "THREE": 3}

# Options that one strategy alone knows; the others refuse a table that has them.
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


def setup_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """What contradicts itself in this condition's setup; places are the later of two fields."""
    yield from _replicas(setup, origins, condition)
    yield from _platform(setup, origins, condition)
    yield from _memory(setup, origins, condition)
    yield from _compaction(setup, origins, condition)
    yield from _jvm(setup, origins)
    yield from load_problems(setup, origins, condition)


def _replicas(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    database = setup.database
    copies, nodes = database.replication_factor, database.nodes
    if copies > nodes:
        yield Problem(
            _later(origins, ("database", "replication_factor"), ("database", "nodes")),
            f"database.replication_factor: {copies} copies on {_count(nodes, 'node')}",
            f"each copy of a row needs a node of its own (condition {condition})",
            f"set database.replication_factor to at most {nodes}, or database.nodes to {copies}",
        )
    for operation, level in (
        ("read", database.consistency.read),
        ("write", database.consistency.write),
    ):
        needed = _REPLICAS_NEEDED.get(level, 1)
        if needed > copies:
            field: FieldPath = ("database", "consistency", operation)
            yield Problem(
                _later(origins, field, ("database", "replication_factor")),
                f"database.consistency.{operation}: {level} with replication factor {copies}",
                f"every {operation} would fail: {needed} replicas must answer "
                f"(condition {condition})",
                f"use ONE, QUORUM or ALL, or set database.replication_factor to {needed}",
            )


def _platform(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    platform = setup.platform
    native = platform.runtime == "native"
    clashes: list[tuple[FieldPath, str, str]] = []
    if native and platform.network != "host":
        clashes.append((("platform", "network"), platform.network, "host"))
    if native and platform.storage != "directory":
        clashes.append((("platform", "storage"), platform.storage, "directory"))
    if setup.client.runtime == "native" and setup.client.network != "host":
        clashes.append((("client", "network"), setup.client.network, "host"))
    for path, value, only in clashes:
        part, name = path
        yield Problem(
            _later(origins, path, (part, "runtime")),
            f"{part}.{name}: {value} with {part}.runtime native",
            f"a native process has no {value} {name}; that is Docker's (condition {condition})",
            f"set {part}.{name} to {only}, or {part}.runtime to docker",
        )


def _memory(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    heap, limit = setup.database.heap, setup.platform.limits.memory
    if limit is not None and heap >= limit:
        yield Problem(
            _later(origins, ("database", "heap"), ("platform", "limits", "memory")),
            f"database.heap: {_mib(heap)} in a unit limited to {_mib(limit)}",
            f"the node would be killed: heap and all else must fit the limit "
            f"(condition {condition})",
            f"raise platform.limits.memory above {_mib(heap)}, or lower database.heap; "
            "a node needs some 450MiB beyond its heap",
        )


def _compaction(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    compaction = setup.database.compaction
    for option in compaction.options:
        owner = _OWN_OPTIONS.get(option, compaction.strategy)
        if owner != compaction.strategy:
            short = next(name for name, full in SHORT_STRATEGIES.items() if full == owner)
            path: FieldPath = ("database", "compaction", "options", option)
            yield Problem(
                _later(origins, path, ("database", "compaction", "strategy")),
                f"database.compaction.options.{option}: not an option of {compaction.strategy}",
                f"it belongs to {owner} (condition {condition})",
                f"remove it, or set database.compaction.strategy to {short}",
            )


def _jvm(setup: Setup, origins: Origins) -> Iterator[Problem]:
    for index, argument in enumerate(setup.database.jvm):
        if argument.startswith(("-Xms", "-Xmx")):
            yield Problem(
                origins.of(("database", "jvm", index)),
                f"database.jvm.{index}: {argument} sets the heap",
                "the heap has a field of its own, which the estimate and the report know",
                "remove it, and set database.heap",
            )


def factor_problems(study: Study) -> Iterator[Problem]:
    """Baseline and exclusions that name what the study does not have, or leave nothing."""
    for factor, levels in study.factors.items():
        if not levels:
            yield Problem(
                study.origin(("factors", factor)),
                f"factors.{factor}: no levels",
                "a factor has at least one level",
                f"add a level below {factor}, or remove the factor",
            )
        elif factor not in study.baseline:
            yield Problem(
                study.origin(("baseline",)),
                f"baseline: no level of factor {factor}",
                "effects are relative to the baseline, so it names one level of every factor",
                f"add {factor}: {next(iter(levels))} to baseline",
            )
    for factor, level in study.baseline.items():
        yield from _known(study, ("baseline", factor), factor, [level])
    for index, entry in enumerate(study.exclude):
        if not entry:
            yield Problem(
                study.origin(("exclude", index)),
                f"exclude.{index}: an empty exclusion",
                "it would leave out every condition",
                "remove it, or name a factor and its level",
            )
        for factor, excluded in entry.items():
            yield from _known(study, ("exclude", index, factor), factor, excluded)


def _known(study: Study, path: FieldPath, factor: str, levels: Iterable[str]) -> Iterator[Problem]:
    name = ".".join(map(str, path))
    if factor not in study.factors:
        yield Problem(
            study.origin(path), f"{name}: unknown factor", *_names("factors", factor, study.factors)
        )
        return
    for level in levels:
        if level not in study.factors[factor]:
            yield Problem(
                study.origin(path),
                f"{name}: unknown level {level!r}",
                *_names(f"levels of {factor}", level, study.factors[factor]),
            )


def _names(kind: str, wanted: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    return f"{kind}: {', '.join(names) or 'none'}", remedy_for(wanted, names)


def image_problems(study: Study, setups: Iterable[Setup]) -> Iterator[Problem]:
    """A named image that no condition would run."""
    if study.database.image is not None and all(one.platform.runtime == "native" for one in setups):
        yield Problem(
            study.origin(("database", "image")),
            f"database.image: {study.database.image} would run nowhere",
            "every condition runs its nodes natively, from files",
            "remove it, or give a condition platform.runtime docker",
        )


def design_problems(study: Study) -> Iterator[Problem]:
    """A warm-up that cannot end as it is described."""
    warm = study.design.warm
    if warm.at_least > warm.at_most:
        yield Problem(
            _later(study.origins, ("design", "warm", "at_least"), ("design", "warm", "at_most")),
            f"design.warm: at_least {warm.at_least:g}s is more than at_most {warm.at_most:g}s",
            "the shortest warm-up is longer than the longest",
            "lower at_least, or raise at_most",
        )
    elif warm.at_most < WINDOWS * warm.window:
        yield Problem(
            _later(study.origins, ("design", "warm", "at_most"), ("design", "warm", "window")),
            f"design.warm: at_most {warm.at_most:g}s holds less than {WINDOWS} windows of "
            f"{warm.window:g}s",
            "flat means that the last two windows agree with the two before them",
            f"raise at_most to {WINDOWS * warm.window:g}s, or shorten window",
        )


def _later(origins: Origins, first: FieldPath, second: FieldPath) -> str:
    """Of two fields that clash, the place that brought the clash in.

    An override comes after a level's patch, a patch after the base, a lower line after a higher.
    """

    def order(path: FieldPath) -> tuple[bool, bool, int]:
        where = origins.of(path)
        return where.startswith("--set "), path in origins.patched, line_of(where)

    return origins.of(max(first, second, key=order))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _mib(size: int) -> str:
    return f"{size / 1024**2:g}MiB"
