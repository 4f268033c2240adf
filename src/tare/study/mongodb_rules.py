"""What cannot work in a MongoDB replica set, and what is not MongoDB's at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import either
from tare.runtimes.declaration import LAYER
from tare.runtimes.registry import declared
from tare.study.database import Database
from tare.study.load import NATIVE
from tare.study.mongod_settings import setting_problems
from tare.study.problems import Problem, later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.origins import FieldPath, Origins
    from tare.study.schema import Setup

_KIND: FieldPath = ("database", "kind")
_OF_CASSANDRA = ("consistency", "compaction", "key_cache", "heap", "jvm")
"""Fields of the database that MongoDB has nothing for."""
_TOOLS = ("tare", "ycsb")
"""Load generators that know MongoDB."""
_SECONDARIES = ("secondary",)
"""Read preferences with which a set of one member serves no read.
Source: MongoDB manual, Read Preference."""


def mongodb_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """What contradicts itself in this condition's replica set."""
    yield from _foreign(setup, origins, condition)
    yield from _members(setup, origins, condition)
    yield from _load(setup, origins, condition)
    yield from setting_problems(setup, origins, condition)
    yield from _storage(setup, origins, condition)
    if ("database", "version") not in origins.at:
        yield Problem(
            origins.of(_KIND),
            "database.version: not written, with database.kind mongodb",
            f"the default is a release of Cassandra (condition {condition})",
            'add database.version, a release in quotes, such as "7.0.14"',
        )


def _foreign(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """A field of Cassandra's would silently do nothing. Its default is no such wish."""
    for field in _OF_CASSANDRA:
        if getattr(setup.database, field) != Database.model_fields[field].default:
            yield Problem(
                later(origins, ("database", field), _KIND),
                f"database.{field}: with database.kind mongodb",
                f"it is Cassandra's, and would do nothing (condition {condition})",
                "remove it, or move it into the levels whose database is cassandra",
            )


def _members(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    database = setup.database
    nodes, copies, concern = database.nodes, database.replication_factor, database.write_concern
    if copies != nodes:
        yield Problem(
            later(origins, ("database", "replication_factor"), ("database", "nodes")),
            f"database.replication_factor: {copies}, with {nodes} nodes of MongoDB",
            f"every member of a replica set holds all rows (condition {condition})",
            f"set database.replication_factor to {nodes}",
        )
    if isinstance(concern, int) and concern > nodes:
        yield Problem(
            later(origins, ("database", "write_concern"), ("database", "nodes")),
            f"database.write_concern: {concern} members of {nodes}",
            f"every write would wait for ever (condition {condition})",
            f"set database.write_concern to majority, or to at most {nodes}",
        )
    if database.read_preference in _SECONDARIES and nodes == 1:
        yield Problem(
            later(origins, ("database", "read_preference"), ("database", "nodes")),
            "database.read_preference: secondary with 1 node",
            f"every read would fail: one member has no secondary (condition {condition})",
            "use secondaryPreferred, or raise database.nodes",
        )


def _storage(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """Container engines are told to make the directory; the stub keeps nothing and needs none."""
    runtime = declared(setup.platform.runtime)
    layer = setup.platform.storage == LAYER and runtime.orchestrator
    if layer and not setup.database.stubbed:
        yield Problem(
            later(origins, ("platform", "storage"), _KIND),
            f"platform.storage: layer of {runtime.name}, with database.kind mongodb",
            "no image of a mongod has the directory where Tare keeps a server's data, mongod "
            f"makes none, and an orchestrator is asked for none (condition {condition})",
            f"set platform.storage to {either(runtime.made_storages)}",
        )


def _load(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    load, tool = setup.load, setup.client.tool
    if load.kind != "ycsb":
        field = NATIVE if load.statements is not None else "workload"
        yield Problem(
            later(origins, ("load", field), _KIND),
            f"load.{field}: {load.label} with database.kind mongodb",
            f"it is made of CQL; MongoDB knows the workloads of YCSB (condition {condition})",
            "set load.workload to one of ycsb-a to ycsb-f",
        )
    if tool not in _TOOLS:
        yield Problem(
            later(origins, ("client", "tool"), _KIND),
            f"client.tool: {tool} with database.kind mongodb",
            f"it speaks CQL only (condition {condition})",
            f"set client.tool to {' or '.join(_TOOLS)}",
        )
