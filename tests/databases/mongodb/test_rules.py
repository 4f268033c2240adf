"""How a study declares MongoDB replica sets, and which fields do not apply to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.lab.directory import study_text

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

MONGODB = """\
study: x
database:
  kind: mongodb
  version: "3.2.4"
  nodes: 3
  replication_factor: 3
  write_concern: 2
  read_preference: nearest
"""


def test_a_replica_set_has_write_concern_and_read_preference(read: ReadStudy) -> None:
    database = read(MONGODB).database
    assert (database.write_concern, database.read_preference) == (2, "nearest")
    assert read(MONGODB, ("database.write_concern=majority",)).database.write_concern == "majority"


def test_without_them_the_server_s_own_defaults_hold(read: ReadStudy) -> None:
    text = "".join(MONGODB.splitlines(keepends=True)[:6])
    database = read(text).database
    assert (database.write_concern, database.read_preference) == (None, None)


def test_a_study_as_a_run_records_it_reads_back(read: ReadStudy) -> None:
    study = read(MONGODB)
    assert read(study_text(study)) == study


@pytest.mark.parametrize(
    ("override", "what", "remedy"),
    [
        ("database.heap=1GiB", "database.heap: with database.kind mongodb", "cassandra"),
        ("database.jvm=[-Xss1m]", "database.jvm: with database.kind mongodb", "remove it"),
        ("database.consistency={read: ONE}", "database.consistency: with", "write_concern"),
        ("database.compaction={strategy: LCS}", "database.compaction: with", "remove it"),
        ("database.key_cache=0MiB", "database.key_cache: with", "remove it"),
        ("database.replication_factor=2", "2, with 3 nodes of MongoDB", "to 3"),
        ("database.write_concern=4", "4 members of 3", "majority"),
        ("database.write_concern=0", "neither majority nor a number of members", "majority"),
        ("database.write_concern=true", "neither majority nor a number of members", "majority"),
        ("database.write_concern=most", "neither majority nor a number of members", "majority"),
        ("database.read_preference=secondry", "'secondry' is not known", "did you mean secondary"),
        ("load.workload=stress-mixed", "load.workload: stress-mixed with", "ycsb-a to ycsb-f"),
        (
            "platform={runtime: kubernetes, storage: layer}",
            "platform.storage: layer of kubernetes, with",
            "host-path",
        ),
        ("client.tool=latte", "client.tool: latte with database.kind mongodb", "tare or ycsb"),
    ],
)
def test_what_a_replica_set_cannot_have(
    refuse: RefuseStudy, override: str, what: str, remedy: str
) -> None:
    error = refuse(MONGODB, (override,))
    assert error.where == f"--set {override}"
    assert what in error.what
    assert remedy in error.remedy


def test_an_engine_makes_the_directory_in_a_container_s_layer_and_the_stub_needs_none(
    read: ReadStudy,
) -> None:
    for runtime in ("docker", "podman"):
        layer = f"platform={{runtime: {runtime}, storage: layer}}"
        assert read(MONGODB, (layer,)).platform.storage == "layer"
    stub = ("platform={runtime: kubernetes, storage: layer}", "database.stand_in=true")
    assert read(MONGODB, stub).platform.storage == "layer"


def test_one_member_serves_no_read_of_secondaries(refuse: RefuseStudy) -> None:
    text = 'study: x\ndatabase: {kind: mongodb, version: "7.0", read_preference: secondary}\n'
    assert "secondary with 1 node" in refuse(text).what


def test_the_version_is_written_for_the_default_is_cassandra_s(refuse: RefuseStudy) -> None:
    error = refuse("study: x\ndatabase: {kind: mongodb}\n")
    assert error.what.startswith("database.version: not written")
    assert error.where == "study.yaml:2"


@pytest.mark.parametrize("field", ["write_concern: 2", "read_preference: primary"])
def test_cassandra_has_consistency_levels_instead(refuse: RefuseStudy, field: str) -> None:
    error = refuse(f"study: x\ndatabase: {{{field}}}\n")
    assert "with database.kind cassandra" in error.what
    assert "database.consistency" in error.remedy


def test_a_study_of_both_says_what_is_whose_in_its_levels(read: ReadStudy) -> None:
    study = read(
        "study: x\n"
        "factors:\n"
        "  database:\n"
        "    cassandra: {database.heap: 1GiB}\n"
        '    mongodb: {database: {kind: mongodb, version: "7.0", write_concern: majority}}\n'
        "baseline: {database: cassandra}\n"
    )
    assert list(study.factors["database"]) == ["cassandra", "mongodb"]
