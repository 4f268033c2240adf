"""Settings that cannot work in a MongoDB replica set, and fields that are not MongoDB's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.mongodb.settings import setting_problems
from tare.enumeration import either
from tare.runtimes.declaration import LAYER
from tare.runtimes.registry import declared
from tare.study.database import Database
from tare.study.load import NATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

_KIND = "database.kind"
_OF_CASSANDRA = ("consistency", "compaction", "key_cache", "heap", "jvm")
"""Fields of the database without a counterpart in MongoDB."""
_INSTEAD = {
    "consistency": "write database.write_concern, such as majority, and database.read_preference",
    "heap": "write platform.limits.memory, of which mongod takes its cache",
}
_TOOLS = ("tare", "ycsb")
"""Load generators that know MongoDB."""
_SECONDARIES = ("secondary",)
"""Read preferences with which a set of one member serves no reads.
Source: MongoDB manual, Read Preference."""


def mongodb_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Contradictions in this condition's replica set."""
    yield from _foreign(setup, problems)
    yield from _members(setup, problems)
    yield from _load(setup, problems)
    yield from setting_problems(setup, problems)
    yield from _storage(setup, problems)
    if ("database", "version") not in problems.origins.at:
        yield problems.of(
            "database.version",
            "not written, with database.kind mongodb",
            "the default is a release of Cassandra",
            'add database.version, a release in quotes, such as "7.0.14"',
            at=_KIND,
        )


def _foreign(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Refuse fields of Cassandra, which would silently do nothing; their defaults are accepted."""
    for field in _OF_CASSANDRA:
        if getattr(setup.database, field) != Database.model_fields[field].default:
            yield problems.of(
                f"database.{field}",
                "with database.kind mongodb",
                "it is Cassandra's, and would do nothing",
                _INSTEAD.get(field, "remove it")
                + ", or move it into the levels whose database is cassandra",
                against=_KIND,
            )


def _members(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    database = setup.database
    nodes, copies, concern = database.nodes, database.replication_factor, database.write_concern
    if copies != nodes:
        yield problems.of(
            "database.replication_factor",
            f"{copies}, with {nodes} nodes of MongoDB",
            "every member of a replica set holds all rows",
            f"set database.replication_factor to {nodes}",
            against="database.nodes",
        )
    if isinstance(concern, int) and concern > nodes:
        yield problems.of(
            "database.write_concern",
            f"{concern} members of {nodes}",
            "every write would wait for ever",
            f"set database.write_concern to majority, or to at most {nodes}",
            against="database.nodes",
        )
    if database.read_preference in _SECONDARIES and nodes == 1:
        yield problems.of(
            "database.read_preference",
            "secondary with 1 node",
            "every read would fail: one member has no secondary",
            "use secondaryPreferred, or raise database.nodes",
            against="database.nodes",
        )


def _storage(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Container engines are told to make the directory; the stub keeps nothing and needs none."""
    runtime = declared(setup.platform.runtime)
    layer = setup.platform.storage == LAYER and runtime.orchestrator
    if layer and not setup.database.stubbed:
        yield problems.of(
            "platform.storage",
            f"layer of {runtime.name}, with database.kind mongodb",
            "no image of a mongod has the directory where Tare keeps a server's data, mongod "
            "makes none, and an orchestrator is asked for none",
            f"set platform.storage to {either(runtime.made_storages)}",
            against=_KIND,
        )


def _load(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    load, tool = setup.load, setup.client.tool
    if load.kind != "ycsb":
        field = NATIVE if load.statements is not None else "workload"
        yield problems.of(
            f"load.{field}",
            f"{load.label} with database.kind mongodb",
            "it is made of CQL; MongoDB knows the workloads of YCSB",
            "set load.workload to one of ycsb-a to ycsb-f",
            against=_KIND,
        )
    if tool not in _TOOLS:
        yield problems.of(
            "client.tool",
            f"{tool} with database.kind mongodb",
            "it speaks CQL only",
            f"set client.tool to {' or '.join(_TOOLS)}",
            against=_KIND,
        )
