"""Real deployments that start from one snapshot, for tests of their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
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
from tare.study.schema import Design, Setup, Warm
from tests.machines.neighbour import reaches

ROWS = 2000
DESIGN = Design(reset="keep")
QUICK = ["-XX:TieredStopAtLevel=1"]

Started = tuple[CassandraCluster, dict[str, Any]]
"""A cluster that answers, and the future record of its start."""


@pytest.fixture(scope="module")
def snapshot_cache(shared_cache: Path) -> Iterator[Path]:
    """A cache with Cassandra's files, and later the one snapshot of these setups."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TARE_CACHE", str(shared_cache))
        yield shared_cache


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


def the_only_one(cache: Path) -> str:
    """The key of these setups' snapshot, which was made only once."""
    (kept,) = (path.name for path in (cache / "snapshots").iterdir() if path.is_dir())
    return kept


def snapshots_of(resources: RunResources) -> Snapshots:
    return Snapshots(resources, DESIGN, Silent(), 7)


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


def ready(deployment: Deployment) -> Started:
    """The deployment once its cluster answers."""
    deployment.deploy()
    deployment.clients = _none  # type: ignore[method-assign]
    deployment.populate(seed=7)
    (cluster,) = deployment.clusters
    assert isinstance(cluster, CassandraCluster)
    return cluster, deployment.description["data"]


@contextmanager
def raised(
    name: str, one: Setup, resources: RunResources, snapshots: Snapshots
) -> Iterator[Started]:
    """A deployment that is alone, made ready."""
    with begun(name, one, resources, snapshots) as deployment:
        yield ready(deployment)


@contextmanager
def side_by_side(setups: Sequence[Setup], work: Path) -> Iterator[list[Started]]:
    """A deployment of each setup, begun before any is ready, each with all rows."""
    with resources_for(setups, work) as resources, ExitStack() as stack:
        deployments = [
            stack.enter_context(begun(f"D{number}", one, resources, snapshots_of(resources)))
            for number, one in enumerate(setups)
        ]
        started = [ready(one) for one in deployments]
        assert [rows(cluster) for cluster, _ in started] == [ROWS] * len(setups)
        yield started


def _none(*_: Any, **__: Any) -> Any:
    pytest.fail("a deployment that started from a snapshot was filled again")


def rows(cluster: CassandraCluster, node: int = 0) -> int:
    with cluster.session(cluster.nodes[node]) as session:
        (row,) = session.execute("SELECT count(*) FROM ycsb.usertable", "ALL")
        return int(row.count)


def process_of(cluster: CassandraCluster) -> Path:
    """The directory below /proc of a node's process."""
    return Path(f"/proc/{cluster.nodes[0].accounting().pid}")


def rights(cluster: CassandraCluster) -> dict[str, str]:
    """A node process's rights in the kernel, as in proc(5)."""
    text = (process_of(cluster) / "status").read_text(encoding="ascii")
    lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return {
        key: lines[key].split()[0] for key in ("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
    }


def assert_only_our_rule_keeps_out(
    neighbour: str,
    platform: dict[str, str],
    work: Path,
    forwarded: AbstractContextManager[None] | None = None,
) -> None:
    """A neighbour cannot reach the published port, and could without Tare's rule.

    Args:
        forwarded: while it lasts this machine forwards what the neighbour sends.
    """
    one = setup(platform)
    with (
        resources_for([one], work) as resources,
        raised("D1", one, resources, snapshots_of(resources)) as (cluster, _),
        forwarded or nullcontext(),
    ):
        door = cluster.nodes[0].unit.site.door(NATIVE_PORT)
        assert rows(cluster) == ROWS
        assert not reaches(neighbour, *door)
        neighbours.let_in()
        assert reaches(neighbour, *door), "the engine forwards it, but for the rule"
