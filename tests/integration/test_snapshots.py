"""Real deployments that start from one snapshot: they hold its rows and are not filled again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.runtimes.confinement import OWN_USER
from tests.machines.neighbour import a_neighbour

from .from_snapshots import (
    ROWS,
    assert_only_our_rule_keeps_out,
    raised,
    resources_for,
    rights,
    rows,
    setup,
    side_by_side,
    snapshot_cache,
    snapshots_of,
    the_only_one,
)

__all__ = ["snapshot_cache"]
pytestmark = pytest.mark.engine

neighbour = pytest.fixture(a_neighbour)


DIRECTORY = {"runtime": "docker", "network": "published", "storage": "directory"}
VOLUME = {"runtime": "docker", "network": "host", "storage": "volume"}
LAYER = {"runtime": "docker", "network": "bridge", "storage": "layer"}


def test_every_platform_starts_from_the_same_snapshot_which_is_made_once(
    snapshot_cache: Path, tmp_path: Path
) -> None:
    setups = [setup(platform) for platform in ({}, {}, VOLUME, LAYER, DIRECTORY)]
    user = str(OWN_USER if os.getuid() == 0 else os.getuid())
    none = {"Uid": user, "CapEff": 16 * "0", "CapBnd": 16 * "0", "NoNewPrivs": "1"}
    with side_by_side(setups, tmp_path / "work") as started:
        for one, (cluster, _) in zip(setups, started, strict=True):
            if one.platform.runtime == "docker":
                assert none.items() <= rights(cluster).items()
        told = [data for _, data in started]
    assert all(data == told[0] for data in told)
    assert told[0]["key"] == the_only_one(snapshot_cache)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root; `sudo make test` runs it")
def test_a_published_port_is_out_of_a_neighbour_s_reach(
    snapshot_cache: Path, tmp_path: Path, neighbour: str
) -> None:
    assert_only_our_rule_keeps_out(neighbour, DIRECTORY, tmp_path / "work")


def test_what_a_deployment_wrote_is_not_handed_on(snapshot_cache: Path, tmp_path: Path) -> None:
    one = setup({})
    with resources_for([one], tmp_path / "work") as resources:
        snapshots = snapshots_of(resources)
        with raised("D1", one, resources, snapshots) as (cluster, first):
            with cluster.session(cluster.nodes[0]) as session:
                session.execute("TRUNCATE ycsb.usertable", "ALL")
            assert rows(cluster) == 0
        with raised("D2", one, resources, snapshots) as (cluster, second):
            assert rows(cluster) == ROWS
        assert first == second


@pytest.mark.parametrize(
    "platform", [pytest.param({}, id="native"), pytest.param(VOLUME, id="docker")]
)
@pytest.mark.long
def test_three_nodes_start_at_new_addresses_and_know_nobody_else(
    cache: Path, tmp_path: Path, platform: dict[str, str]
) -> None:
    one = setup(platform, nodes=3)
    with resources_for([one], tmp_path / "work") as resources:
        snapshots = snapshots_of(resources)
        with raised("D1", one, resources, snapshots) as (cluster, data):
            assert data["key"] in {path.name for path in (cache / "snapshots").iterdir()}
            addresses = {node.unit.site.listen for node in cluster.nodes}
            for number, node in enumerate(cluster.nodes):
                assert rows(cluster, number) == ROWS
                with cluster.session(node) as session:
                    known = session.execute("SELECT address FROM system_views.gossip_info")
                    peers = session.execute("SELECT peer FROM system.peers")
                assert {str(row.address) for row in known} == addresses
                assert {str(row.peer) for row in peers} == addresses - {node.unit.site.listen}
