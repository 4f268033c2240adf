"""A server's needs: Cassandra by its heap, MongoDB by its cache; known values of both."""

from __future__ import annotations

from typing import Any

import pytest

from tare.databases.cassandra.declaration import OFF_HEAP_BYTES
from tare.databases.mongodb.declaration import MONGOD_BYTES
from tare.databases.registry import declared
from tare.study.conditions import expand
from tare.study.quantities import GIB, MIB
from tare.study.schema import Setup, Study
from tare.study.server_needs import deploy_s, memory_in_words, needs_of, node_memory

MANY = 100_000_000
"""Records that fill any cache here."""


def setup(memory: str | None = None, records: int = MANY, **database: Any) -> Setup:
    study = {
        "study": "x",
        "database": {"kind": "mongodb", "version": "7.0", **database},
        "load": {"records": records, "threads": 10},
        "platform": {"limits": {"memory": memory}},
    }
    return expand(Study.model_validate(study))[0].setup


def kept_in_memory(one: Setup, machine: int | None) -> int:
    return declared(one.database.kind).kept_in_memory(one, machine)


def cassandra(memory: str | None = None) -> Setup:
    study = {"study": "x", "platform": {"limits": {"memory": memory}}}
    return expand(Study.model_validate(study))[0].setup


@pytest.mark.parametrize(
    ("memory", "cache"),
    [("512MiB", 256 * MIB), ("1GiB", 256 * MIB), ("2GiB", GIB // 2), ("9GiB", 4 * GIB)],
)
def test_a_mongod_s_cache_is_of_the_unit_s_own_limit(memory: str, cache: int) -> None:
    assert kept_in_memory(setup(memory), 64 * GIB) == cache


def test_a_mongod_takes_its_cache_its_own_and_its_connections() -> None:
    assert node_memory(setup("9GiB"), None) == 4 * GIB + MONGOD_BYTES + 10 * MIB


def test_a_limit_bounds_all_of_it() -> None:
    assert node_memory(setup("300MiB"), None) == 300 * MIB
    assert node_memory(cassandra("600MiB"), None) == 600 * MIB


def test_without_a_limit_the_cache_is_of_the_machine() -> None:
    assert kept_in_memory(setup(), 24 * GIB) == 23 * GIB // 2


def test_a_cache_holds_no_more_than_there_are_data() -> None:
    held = kept_in_memory(setup(records=100_000), 24 * GIB)
    assert 256 * MIB < held < GIB
    assert kept_in_memory(setup(records=100_000), None) == held


def test_the_settings_of_the_study_win() -> None:
    settings = {"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": 3}}}}
    assert kept_in_memory(setup("9GiB", settings=settings), None) == 3 * GIB
    assert kept_in_memory(setup(settings=settings), None) == 3 * GIB


def test_cassandra_takes_its_heap_and_what_lies_beside_it() -> None:
    assert kept_in_memory(cassandra(), 64 * GIB) == 512 * MIB
    assert node_memory(cassandra(), 64 * GIB) == 512 * MIB + OFF_HEAP_BYTES


def test_a_node_with_an_archive_of_its_classes_starts_in_half_the_time() -> None:
    own_files = cassandra().model_copy(
        update={"database": cassandra().database.model_copy(update={"home": "/opt/cassandra"})}
    )
    assert deploy_s(cassandra()) <= deploy_s(own_files) - 4


def test_a_set_of_several_waits_for_an_election() -> None:
    one, three = setup(), setup(nodes=3, replication_factor=3)
    assert deploy_s(one) < deploy_s(cassandra())
    assert deploy_s(three) > 3 * needs_of(three).start_s + 10


def test_what_lowers_it_is_a_field_of_the_database() -> None:
    assert memory_in_words(cassandra(), GIB)[0] == ("database", "heap")
    path, held, lower = memory_in_words(setup("2GiB"), GIB)
    assert path == ("platform", "limits", "memory")
    assert held == "cache 0.5GiB a node"
    assert "heap" not in lower
    settings = {"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": 3}}}}
    assert memory_in_words(setup(settings=settings), GIB)[0] == ("database", "settings")
