"""One cluster serves clients of several platforms: each trial's client is its condition's own.

The runtimes here are scripted: they note for what a place is settled. Real ones are under
tests/integration.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tare.databases.cassandra.cluster import Installation
from tare.databases.mongodb.installation import Installation as MongoInstallation
from tare.errors import ClusterError, RuntimeUnavailableError
from tare.lab.deployment import Deployment
from tare.lab.progress import Silent
from tare.load.client import ProgressLine
from tare.load.flatness import Calm
from tare.machines.cgroups import Accounting
from tare.runtimes.unit import Bits, Site, Way
from tare.study.conditions import expand
from tare.study.load import Load
from tare.study.schema import Client, Database, Platform, Setup, Study, Warm

if TYPE_CHECKING:
    from tare.load.flatness import Warmth

STUDY = Study.model_validate(
    {
        "study": "clients",
        "factors": {
            "client": {
                "native": {},
                "docker": {"client": {"runtime": "docker", "network": "bridge"}},
            }
        },
        "baseline": {"client": "native"},
        "clusters": 2,
    }
)


FILES = Installation("/java", "/lib", "jamm.jar", (), Bits("digest"))
MONGOD = MongoInstallation("/opt/mongod", Bits("digest"))
MACHINE = SimpleNamespace(memory_bytes=1 << 34)


class Scripted:
    """A runtime that notes (its name, the client's network, the cluster that it belongs to)."""

    def __init__(self, name: str, settled: list[tuple[str, str, str]]) -> None:
        self.name, self._settled = name, settled

    def site(self, name: str, **wanted: Any) -> Any:
        assert wanted["role"] == "client"
        self._settled.append((self.name, wanted["network"], wanted["group"]))
        return SimpleNamespace(name=name)


def test_a_client_runs_where_its_condition_says_and_joins_the_clusters_network() -> None:
    settled: list[tuple[str, str, str]] = []
    resources: Any = SimpleNamespace(
        runtimes={name: Scripted(name, settled) for name in ("native", "docker")},
        server=lambda setup: FILES,
        machine=MACHINE,
        tool=lambda setup: f"client for {setup.client.runtime}",
    )
    native, docker = expand(STUDY)
    assert native.deployment == docker.deployment
    deployment = Deployment("D1-all-1", [native.setup], Warm(), resources, Silent())
    for condition in (native, docker):
        deployment.clients(condition.setup, "trial", trial=True)
    assert settled == [
        ("native", "host", "d1-all-1-k1"),
        ("native", "host", "d1-all-1-k2"),
        ("docker", "bridge", "d1-all-1-k1"),
        ("docker", "bridge", "d1-all-1-k2"),
    ]


def test_a_client_runs_in_the_network_namespace_of_its_endpoint() -> None:
    resources: Any = SimpleNamespace(
        runtimes={"docker": Scripted("docker", []), "native": Scripted("native", [])},
        server=lambda setup: FILES,
        machine=MACHINE,
        client=lambda setup: FILES,
        tool=lambda setup: FILES,
    )
    platform = {"runtime": "docker", "network": "bridge", "endpoint": "loopback"}
    setup = Setup.model_validate({"platform": platform})
    deployment = Deployment("D1-all-1", [setup], Warm(), resources, Silent())
    way = Way("127.0.0.1", "loopback of the container", inside=True)
    site = Site("n", "", Path(), "", None, "", "", "198.19.0.100", "", ways={"loopback": way})
    cluster: Any = deployment.clusters[0]
    cluster.nodes = [
        SimpleNamespace(unit=SimpleNamespace(site=site), accounting=lambda: SimpleNamespace(pid=77))
    ]
    (client,) = deployment.clients(setup, "trial", trial=True)
    usual = setup.model_copy(
        update={"platform": setup.platform.model_copy(update={"endpoint": ""})}
    )
    (other,) = deployment.clients(usual, "trial", trial=True)
    assert (client._netns, other._netns) == ("/proc/77/ns/net", "")
    assert deployment._specify(client, cluster, "measure", 1)["targets"] == ["127.0.0.1:9042"]
    given = deployment._specify(client, cluster, "measure", 1, setup=usual)["targets"]
    assert given == ["198.19.0.100:9042"]


class Loaded(Deployment):
    """A deployment whose servers do 1,000 operations/s at 1 ms of CPU, their compilers quiet."""

    def _load(self, setup: Any, longest_s: float, seed: int, until: Calm | Warmth) -> None:
        self.ran = [*getattr(self, "ran", []), (setup.load.workload, setup.load.threads)]
        for second in range(round(longest_s) + 1):
            until.reading(float(second), 1_000 * second, 1.0 * second, 0.01 * second)
            if until.flat:
                return


def warmed(
    loads: tuple[dict[str, Any], ...] = ({},), database: Database | None = None, **rule: Any
) -> Loaded:
    """A deployment after a warm-up by this rule, with each of these loads."""
    settled: list[tuple[str, str, str]] = []
    resources: Any = SimpleNamespace(
        runtimes={"native": Scripted("native", settled)},
        server=lambda one: FILES if one.database.kind == "cassandra" else MONGOD,
        machine=MACHINE,
    )
    (setup, *_) = (one.setup for one in expand(STUDY))
    setup = setup.model_copy(update={"database": database or setup.database})
    kinds = [setup.model_copy(update={"load": Load(**load)}) for load in loads]
    made = Loaded("D1-native-1", kinds, Warm(**rule), resources, Silent())
    made.warm(seed=1)
    return made


def test_no_load_of_a_deployment_inserts_what_another_one_did() -> None:
    deployment = warmed()
    assert len({deployment.inserted_before() for _ in range(9)}) == 9


def test_a_gentle_warm_up_alone_is_recorded_and_is_not_called_flat() -> None:
    found = warmed(gentle=30, at_least=0, at_most=0, window=3).warm_up
    assert found is not None
    assert (found.flat, found.seconds, found.gentle_seconds) == (None, 3.0, 3.0)
    assert (found.operations, found.windows) == (3_000, [])


def test_a_server_that_compiles_nothing_is_spared_the_gentle_load() -> None:
    mongodb = Database(kind="mongodb", version="7.0")
    made = warmed(database=mongodb, gentle=30, at_least=0, at_most=10, window=1)
    assert made.warm_up is not None
    assert (made.warm_up.flat, made.warm_up.gentle_seconds) == (True, 0.0)
    assert len(made.ran) == 1


def test_a_warm_up_tells_of_both_its_parts() -> None:
    found = warmed(gentle=30, at_least=12, at_most=15, window=3).warm_up
    assert found is not None
    assert found.flat
    assert (found.gentle_seconds, found.seconds, found.operations) == (3.0, 15.0, 15_000)


def test_each_kind_of_load_is_warmed_up_gently_and_then_fully() -> None:
    kinds: tuple[dict[str, Any], ...] = ({"workload": "ycsb-a"}, {"workload": "ycsb-c"})
    made = warmed(kinds, gentle=30, gentle_threads=2, at_least=12, at_most=15, window=3)
    assert made.ran == [("ycsb-a", 2), ("ycsb-c", 2), ("ycsb-a", 32), ("ycsb-c", 32)]
    found = made.warm_up
    assert found is not None
    assert (found.gentle_seconds, found.seconds, found.operations) == (6.0, 30.0, 30_000)
    # the windows of both, one after the other
    times = [window["t"] for window in found.windows]
    assert times == sorted(times)
    assert times[-1] == found.seconds - found.gentle_seconds


def test_a_kind_of_load_that_did_not_become_flat_is_named() -> None:
    kinds: tuple[dict[str, Any], ...] = ({"workload": "ycsb-a"}, {"workload": "ycsb-c"})
    found = warmed(kinds, at_least=12, at_most=6, window=3).warm_up
    assert found is not None
    assert found.flat is False
    assert "ycsb-a: only 2 windows" in found.reason
    assert "ycsb-c: only 2 windows" in found.reason


@pytest.mark.parametrize("gentle", [0, 30])
def test_without_any_warm_up_none_is_recorded(gentle: int) -> None:
    found = warmed(gentle=gentle, at_least=0, at_most=0).warm_up
    assert (found is None) == (gentle == 0)


class Refusing(Scripted):
    """A runtime on which no packet gets through; it notes what it was asked to prove."""

    def prove(self, platform: Any, nodes: int, port: int, clients: list[str]) -> dict[str, Any]:
        self.proven = (platform.network, nodes, port, clients)
        raise RuntimeUnavailableError("packets do not get there")


def test_no_cluster_is_started_on_a_path_that_does_not_work() -> None:
    settled: list[tuple[str, str, str]] = []
    runtime = Refusing("native", settled)
    resources: Any = SimpleNamespace(
        runtimes={"native": runtime}, server=lambda setup: FILES, machine=MACHINE
    )
    native, docker = (one.setup for one in expand(STUDY))
    deployment = Deployment("D1-all-1", [native, docker], Warm(), resources, Silent())
    with pytest.raises(RuntimeUnavailableError):
        deployment.deploy()
    assert runtime.proven == ("host", 1, 9042, ["docker", "native"])
    assert settled == [], "no site was asked for"


class Clinging(Scripted):
    """A runtime whose groups do not go."""

    def release_group(self, group: str) -> None:
        raise RuntimeUnavailableError(f"pods of {group} cannot be deleted")


def test_what_cannot_be_taken_away_is_told_for_every_cluster_and_hinders_no_other() -> None:
    resources: Any = SimpleNamespace(
        runtimes={"native": Clinging("native", [])}, server=lambda setup: FILES, machine=MACHINE
    )
    (setup, *_) = (one.setup for one in expand(STUDY))
    faults = Deployment("D1-native-1", [setup], Warm(), resources, Silent()).destroy()
    assert {fault.what for fault in faults} == {
        "pods of d1-native-1-k1 cannot be deleted",
        "pods of d1-native-1-k2 cannot be deleted",
    }


class Dying:
    """A cluster whose node had left the kernel before its runtime reported its death."""

    gone = Accounting({"cpuacct": "/no/such/group"})
    nodes = (SimpleNamespace(accounting=lambda: Dying.gone),)

    def check_alive(self) -> None:
        raise ClusterError("a database node died", why="exit code 137")


def test_a_node_that_dies_before_its_cpu_time_is_read_is_the_reason_that_is_given() -> None:
    (setup, *_) = (one.setup for one in expand(STUDY))
    resources: Any = SimpleNamespace(
        runtimes={"native": Scripted("native", [])}, server=lambda setup: FILES, machine=MACHINE
    )
    deployment = Deployment("D1-native-1", [setup], Warm(), resources, Silent())
    dying: Any = Dying()
    deployment.clusters = [dying]
    with pytest.raises(ClusterError, match="a database node died") as caught:
        deployment.cpu_seconds()
    assert "137" in caught.value.why


@pytest.mark.parametrize(("threads", "clients"), [(2, 2), (3, 3), (8, 3)])
def test_no_more_clients_share_a_load_than_it_has_threads(threads: int, clients: int) -> None:
    settled: list[tuple[str, str, str]] = []
    resources: Any = SimpleNamespace(
        runtimes={"ssh-native": Scripted("ssh-native", settled)},
        server=lambda setup: FILES,
        tool=lambda setup: "client",
        load_hosts=lambda setup: 3,
        machine=MACHINE,
    )
    setup = Setup(
        platform=Platform(machines="ssh"),
        client=Client(machines="ssh"),
        load=Load(threads=threads),
    )
    made = Deployment("D1-hosts-1", [setup], Warm(), resources, Silent())
    assert len(made.clients(setup, "trial", trial=True)) == clients


class Interrupted(Deployment):
    """A deployment whose second reading of CPU time fails."""

    readings = 0

    def clients(self, *_: Any, **__: Any) -> Any:
        client = SimpleNamespace(name="c1", running=None)
        for name in ("launch", "discard"):
            setattr(client, name, lambda *_: None)
        return [client]

    def _specify(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}

    def cpu_seconds(self) -> float:
        self.readings += 1
        if self.readings == 2:
            raise RuntimeUnavailableError("the Kubernetes cluster does not answer")
        return float(self.readings)

    def compiler_seconds(self) -> None:
        return None


def test_a_warm_up_goes_on_without_a_reading_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(clients: list[Any], check: object) -> Any:
        return (ProgressLine(clients[0], {"event": "interval", "ops": 1}) for _ in range(3))

    monkeypatch.setattr("tare.lab.deployment.progress", told)
    resources: Any = SimpleNamespace(
        runtimes={"native": Scripted("native", [])}, server=lambda setup: FILES, machine=MACHINE
    )
    (setup, *_) = (one.setup for one in expand(STUDY))
    setup = setup.model_copy(update={"clusters": 1})
    deployment = Interrupted("D1-native-1", [setup], Warm(), resources, Silent())
    read: list[tuple[Any, ...]] = []
    until: Any = SimpleNamespace(reading=lambda t, *told: read.append(told), flat=False)
    deployment._load(setup, 1.0, 1, until)
    assert read == [(1, 1.0, None), (3, 3.0, None)]
