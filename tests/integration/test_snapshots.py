"""Real deployments that start from one snapshot: they hold its rows and are not filled again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tare.databases.cassandra.cluster import CassandraCluster
from tare.databases.cassandra.configuration import NATIVE_PORT
from tare.lab.deployment import Deployment
from tare.lab.progress import Silent
from tare.lab.run_lock import RunLock
from tare.lab.run_resources import RunResources, prepare
from tare.lab.snapshots import Snapshots, makers
from tare.machines import neighbours
from tare.runtimes.confinement import OWN_USER
from tare.study.schema import Design, Setup, Warm
from tests.machines.neighbour import a_neighbour, reaches

from .conftest import cassandra_cache

pytestmark = pytest.mark.engine

neighbour = pytest.fixture(a_neighbour)


@pytest.fixture(scope="module")
def snapshot_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache with Cassandra's files, and then with the one snapshot of this setup."""
    with pytest.MonkeyPatch.context() as environment:
        yield cassandra_cache(tmp_path_factory.mktemp("snapshots") / "cache", environment)


ROWS = 2000
DESIGN = Design(reset="keep")
QUICK = ["-XX:TieredStopAtLevel=1"]
DIRECTORY = {"runtime": "docker", "network": "published", "storage": "directory"}
VOLUME = {"runtime": "docker", "network": "host", "storage": "volume"}
LAYER = {"runtime": "docker", "network": "bridge", "storage": "layer"}


def setup(platform: dict[str, str], nodes: int = 1) -> Setup:
    factor = {"nodes": nodes, "replication_factor": nodes}
    return Setup.model_validate(
        {
            "database": {"heap": "256MiB", "jvm": QUICK, **factor},
            "load": {"records": ROWS},
            "platform": platform,
        }
    )


@contextmanager
def resources_for(setups: Sequence[Setup], work: Path) -> Iterator[RunResources]:
    with RunLock("snapshots"):
        resources = prepare("snapshots", work, [*setups, *makers(setups, DESIGN)], print)
        try:
            yield resources
        finally:
            assert resources.close() == []


@contextmanager
def begun(
    name: str, one: Setup, resources: RunResources, snapshots: Snapshots
) -> Iterator[Deployment]:
    """A deployment that starts, perhaps beside others."""
    deployment = Deployment(name, [one], Warm(), resources, Silent())
    try:
        deployment.start_from(*snapshots.of(one))
        deployment.begin()
        yield deployment
    finally:
        assert deployment.destroy() == []


def ready(deployment: Deployment) -> tuple[CassandraCluster, dict[str, Any]]:
    """Its cluster, once that answers, and what its records will say of its start."""
    deployment.deploy()
    deployment.clients = _none  # type: ignore[method-assign]
    deployment.populate(seed=7)
    (cluster,) = deployment.clusters
    assert isinstance(cluster, CassandraCluster)
    return cluster, deployment.description["data"]


@contextmanager
def raised(
    name: str, one: Setup, resources: RunResources, snapshots: Snapshots
) -> Iterator[tuple[CassandraCluster, dict[str, Any]]]:
    """A deployment that is alone, made ready."""
    with begun(name, one, resources, snapshots) as deployment:
        yield ready(deployment)


def _none(*_: Any, **__: Any) -> Any:
    pytest.fail("a deployment that started from a snapshot was filled again")


def rights(cluster: CassandraCluster) -> dict[str, str]:
    """What the kernel lets a node's process do, of proc(5)."""
    text = Path(f"/proc/{cluster.nodes[0].accounting().pid}/status").read_text(encoding="ascii")
    told = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return {key: told[key].split()[0] for key in ("Uid", "CapEff", "CapBnd", "NoNewPrivs")}


def rows(cluster: CassandraCluster, node: int = 0) -> int:
    with cluster.session(cluster.nodes[node]) as session:
        (row,) = session.execute("SELECT count(*) FROM ycsb.usertable", "ALL")
        return int(row.count)


def test_every_platform_starts_from_the_same_snapshot_which_is_made_once(
    snapshot_cache: Path, tmp_path: Path
) -> None:
    setups = [setup(platform) for platform in ({}, {}, VOLUME, LAYER, DIRECTORY)]
    told = []
    user = str(OWN_USER if os.getuid() == 0 else os.getuid())
    none = {"Uid": user, "CapEff": 16 * "0", "CapBnd": 16 * "0", "NoNewPrivs": "1"}
    with resources_for(setups, tmp_path / "work") as resources, ExitStack() as stack:
        started = [
            stack.enter_context(
                begun(f"D{number}", one, resources, Snapshots(resources, DESIGN, Silent(), 7))
            )
            for number, one in enumerate(setups)
        ]
        for deployment in started:
            cluster, data = ready(deployment)
            assert rows(cluster) == ROWS
            told.append(data)
            if deployment.setup.platform.runtime == "docker":
                assert rights(cluster) == none
    assert all(data == told[0] for data in told)
    kept = [path.name for path in (snapshot_cache / "snapshots").iterdir() if path.is_dir()]
    assert kept == [told[0]["key"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root; `sudo make test` runs it")
def test_a_published_port_is_out_of_a_neighbour_s_reach(
    snapshot_cache: Path, tmp_path: Path, neighbour: str
) -> None:
    one = setup(DIRECTORY)
    with resources_for([one], tmp_path / "work") as resources:
        snapshots = Snapshots(resources, DESIGN, Silent(), 7)
        with raised("D1", one, resources, snapshots) as (cluster, _):
            door = cluster.nodes[0].unit.site.door(NATIVE_PORT)
            assert rows(cluster) == ROWS
            assert not reaches(neighbour, *door)
            neighbours.let_in()
            assert reaches(neighbour, *door), "the engine forwards it, but for the rule"


def test_what_a_deployment_wrote_is_not_handed_on(snapshot_cache: Path, tmp_path: Path) -> None:
    one = setup({})
    with resources_for([one], tmp_path / "work") as resources:
        snapshots = Snapshots(resources, DESIGN, Silent(), 7)
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
        snapshots = Snapshots(resources, DESIGN, Silent(), 7)
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
