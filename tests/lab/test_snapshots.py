"""Which deployments start from a snapshot, and a snapshot's key."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.databases.mongodb.declaration import OF_A_SET
from tare.databases.mongodb.installation import Installation
from tare.errors import ArtifactError
from tare.lab.snapshots import Snapshots, key_of, maker, makers, refuse_too_large
from tare.runtimes.unit import Bits
from tare.study.schema import Design, Setup
from tare.study.start import why_not

KEEP = Design(reset="keep")


def setup(**fields: Any) -> Setup:
    return Setup.model_validate(fields)


DOCKER = {"runtime": "docker", "network": "bridge", "storage": "volume"}


FREE = {
    "runtime": "swarm",
    "storage": "volume",
    "network": "host-port",
    "placement": {"spread": "none"},
}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"platform": DOCKER}, ""),
        ({"database": {"nodes": 3}}, ""),
        ({"database": {"kind": "mongodb", "home": "/opt/mongodb"}}, "name its members"),
        ({"database": {"kind": "mongodb", "stand_in": True}}, "keeps nothing"),
        ({"database": {"kind": "mongodb", "home": "/opt/ferretdb", "stand_in": True}}, ""),
        ({"database": {"image": "cassandra:5"}}, "another's image"),
        ({"platform": {"runtime": "kubernetes", "storage": "emptydir"}}, ""),
        ({"platform": {"runtime": "kubernetes", "storage": "layer"}}, ""),
        ({"platform": {"runtime": "swarm", "storage": "volume"}}, ""),
        ({"platform": {"runtime": "swarm", "storage": "layer"}}, "writable layer"),
        ({"platform": FREE}, "the Swarm chooses its node"),
        ({"platform": FREE | {"network": "host"}}, ""),
        ({"platform": {"machines": "ssh"}}, ""),
        ({"platform": {"machines": "ssh", "runtime": "docker", "storage": "layer"}}, ""),
    ],
)
def test_a_deployment_that_cannot_start_from_one_says_why(
    fields: dict[str, Any], reason: str
) -> None:
    found = why_not(setup(**fields), KEEP)
    assert reason in found
    assert bool(found) == bool(reason)


def test_nodes_of_a_swarm_whose_engines_are_not_named_are_given_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TARE_SWARM", raising=False)
    one = setup(platform={"runtime": "swarm", "storage": "volume"})
    assert "names no engines" in why_not(one, KEEP, here=True)
    assert why_not(setup(), KEEP, here=True) == ""


def test_nodes_that_do_not_fit_into_this_machine_make_no_snapshot_here() -> None:
    large = maker(setup(database={"nodes": 3, "heap": "8GiB"}, platform={"machines": "ssh"}))
    with pytest.raises(ArtifactError, match="do not fit") as refused:
        refuse_too_large(large, 16 << 30)
    assert "of 16.0" in refused.value.why
    refuse_too_large(large, 32 << 30)


def test_a_design_that_fills_tables_has_none() -> None:
    assert "reset: truncate" in why_not(setup(), Design(reset="truncate"))
    assert "data: populate" in why_not(setup(), Design(reset="keep", data="populate"))


def test_one_native_node_makes_the_snapshot_of_all_platforms() -> None:
    both = [setup(), setup(platform=DOCKER), setup(load={"threads": 4})]
    made = makers(both, KEEP)
    assert [one.platform.runtime for one in made] == ["native", "native"]
    keys = {key_of(maker(one), "bits", 7) for one in both}
    assert len(keys) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"database": {"version": "4.1"}},
        {"database": {"settings": {"memtable_heap_space": "64MiB"}}},
        {"database": {"compaction": {"strategy": "LCS"}}},
        {"database": {"key_cache": "0MiB"}},
        {"database": {"nodes": 3}},
        {"database": {"nodes": 3, "replication_factor": 3}},
        {"load": {"records": 5}},
        {"load": {"field_length": 10}},
        {"load": {"workload": "stress-mixed"}},
    ],
)
def test_what_the_data_depends_on_is_in_the_key(other: dict[str, Any]) -> None:
    assert key_of(setup(**other), "bits", 7) != key_of(setup(), "bits", 7)


def test_a_set_is_given_none_even_where_a_stand_in_was_asked_for(tmp_path: Path) -> None:
    one = setup(database={"kind": "mongodb", "home": "/opt/mongodb", "stand_in": True})
    server = Installation("/opt/mongodb/bin/mongod", Bits("digest"))
    said: list[str] = []
    watcher = SimpleNamespace(say=said.append)
    resources = SimpleNamespace(server=lambda _: server)
    found = Snapshots(resources, KEEP, watcher, 7, tmp_path)  # type: ignore[arg-type]
    assert [found.of(one), found.of(one)] == 2 * [(None, OF_A_SET)]
    assert said == [f"deployments fill their own tables: {OF_A_SET}"]
    assert list(tmp_path.iterdir()) == []


def test_bits_and_seed_are_in_the_key_and_the_jvm_is_not() -> None:
    own = key_of(setup(), "bits", 7)
    assert key_of(setup(), "other", 7) != own
    assert key_of(setup(), "bits", 8) != own
    assert key_of(setup(database={"jvm": ["-Xss1m"], "heap": "1GiB"}), "bits", 7) == own
