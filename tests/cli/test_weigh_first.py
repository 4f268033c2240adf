"""Which prices a run gets, and when it spends two minutes on weighing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tare.analysis.billed_ways import way_of
from tare.analysis.part_prices import part_prices
from tare.cli import weigh_first
from tare.cli.weigh_first import FRESH, _serves, prices_for
from tare.errors import RuntimeUnavailableError
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine, keep, write
from tare.records.layout import RunFiles
from tare.records.part_prices import keep_parts, parts_here
from tare.runtimes.declaration import Named
from tare.runtimes.kubernetes.declaration import Kubernetes
from tare.runtimes.registry import declared
from tare.study.plan import make_plan
from tare.study.schema import Study
from tests.analysis.test_part_prices import weighed
from tests.priced_ways import BRIDGE, WORKING, price, weighing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.cli.weighing import WeighingRequest
    from tare.records.part_prices import PartWeighing, WeighedPart
    from tare.records.prices import Operation, Weighing
    from tare.records.run_prices import RunPrices
    from tare.study.plan import Plan

DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}


def plan(
    level: dict[str, object],
    slice_: str = "250ms",
    database: dict[str, object] | None = None,
) -> Plan:
    return make_plan(
        Study.model_validate(
            {
                "study": "s",
                "database": database or {},
                "load": {"workload": "ycsb-c", "measure": "4s"},
                "factors": {"platform": {"native": {}, "other": level}},
                "baseline": {"platform": "native"},
                "design": {"slice": slice_},
            }
        )
    )


class Scene:
    """A cache, a run's directory, and a weighing that takes no time."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TARE_CACHE", str(place / "cache"))
        monkeypatch.setattr(Kubernetes, "named", lambda _: None)  # nor one of the developer's
        monkeypatch.setattr(weigh_first, "weigh_and_keep", self._weigh)
        monkeypatch.setattr(weigh_first, "weigh_and_keep_parts", self._weigh_parts)
        self.files = RunFiles(place / "run")
        self.said: list[str] = []
        self.weighed = self.parts_weighed = 0
        self.working: list[Sequence[str] | None] = []
        self.database = "cassandra"
        self.fault: Exception | None = None
        self.parts_fault: Exception | None = None

    def kept(self, age: timedelta, found: Weighing = BRIDGE) -> None:
        own = {"machine": MeasuredMachine.of(local_facts()), "made": datetime.now(UTC) - age}
        keep(found.model_copy(update=own))

    def all_prices(
        self, level: dict[str, object], *, weigh: bool = True, slice_: str = "250ms"
    ) -> RunPrices | None:
        made = plan(level, slice_)
        return prices_for(made, self.files, weigh=weigh, say=self.said.append)

    def prices(
        self, level: dict[str, object], *, weigh: bool = True, slice_: str = "250ms"
    ) -> Weighing | None:
        found = self.all_prices(level, weigh=weigh, slice_=slice_)
        return None if found is None else found.ways

    def kept_parts(self, age: timedelta, *parts: WeighedPart) -> None:
        made = part_prices(weighed(), MeasuredMachine.of(local_facts()))
        own = [one for one in made.prices if one.what in parts]
        keep_parts(made.model_copy(update={"made": datetime.now(UTC) - age, "prices": own}))

    def parts(self, level: dict[str, object], *, weigh: bool = True) -> Sequence[PartWeighing]:
        found = self.all_prices(level, weigh=weigh)
        return [] if found is None else found.parts

    def _weigh_parts(
        self, what: list[str], runtimes: list[str], rounds: int, say: Callable[[str], None]
    ) -> PartWeighing:
        self.what, self.parts_of = what, runtimes
        self.parts_weighed += 1
        if self.parts_fault is not None:
            raise self.parts_fault
        return part_prices(weighed(), MeasuredMachine.of(local_facts()))

    def _weigh(
        self, say: Callable[[str], None], wanted: WeighingRequest, operation: Operation
    ) -> Weighing:
        assert wanted.usual()
        assert wanted.database == self.database
        if operation == "working":
            self.working.append(wanted.runtimes)
            return WORKING
        self.ways_of = wanted.runtimes
        self.weighed += 1
        if self.fault is not None:
            raise self.fault
        return BRIDGE


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)


def test_where_there_are_none_the_ways_are_weighed_first(scene: Scene) -> None:
    assert scene.prices(DOCKER) == BRIDGE
    assert scene.ways_of == ["docker", "native"]
    assert scene.said[0].endswith("--no-weigh leaves it out")


@pytest.mark.parametrize(("runtime", "storage"), [("kubernetes", "pvc"), ("swarm", "volume")])
def test_a_study_of_an_orchestrator_weighs_its_ways_and_its_system_calls_first(
    scene: Scene, runtime: str, storage: str
) -> None:
    level = {"platform": {"runtime": runtime, "network": "host-port", "storage": storage}}
    assert scene.prices(level) == BRIDGE
    assert scene.ways_of == sorted(["docker", "native", runtime])
    scene.kept_parts(timedelta(days=1), "system")  # of native and Docker
    assert scene.parts(level) != []
    assert scene.what == ["system"]
    assert scene.parts_of == sorted(["docker", "native", runtime])


def test_the_same_ways_are_weighed_with_servers_that_work_or_taken_from_this_week(
    scene: Scene,
) -> None:
    found = scene.all_prices(DOCKER)
    assert found is not None
    assert found.working == WORKING
    assert scene.working == [["docker", "native"]]
    scene.kept(timedelta(days=1), WORKING)
    found = scene.all_prices(DOCKER)
    assert found is not None
    assert found.working is not None
    assert len(scene.working) == 1
    assert any(one.startswith("prices of ways to a server that works: ") for one in scene.said)


def test_a_study_that_writes_weighs_storage_first_too(scene: Scene) -> None:
    writes = {**DOCKER, "load": {"workload": "ycsb-a", "measure": "4s"}}
    scene.parts(writes)
    assert scene.what == ["system", "storage"]
    scene.kept_parts(timedelta(days=1), "system", "storage")
    layer = {**writes, "platform": {**DOCKER["platform"], "storage": "layer"}}
    scene.parts(layer)
    assert scene.parts_weighed == 1, "the layer was weighed, and so was the directory"


def test_storage_of_two_disks_is_not_weighed_as_no_bill_could_use_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = {**DOCKER, "load": {"workload": "ycsb-a", "measure": "4s"}}
    monkeypatch.setattr(type(declared("docker")), "store", lambda self: Path("/proc"))
    scene.parts(writes)
    assert scene.what == ["system"]


def test_those_of_this_week_are_taken(scene: Scene) -> None:
    scene.kept(timedelta(days=1))
    assert scene.prices(DOCKER) is not None
    assert scene.weighed == 0
    assert scene.said[0].startswith("prices of ways to a server: those of ")


def test_older_ones_are_weighed_anew(scene: Scene) -> None:
    scene.kept(FRESH + timedelta(hours=1))
    assert scene.prices(DOCKER) == BRIDGE
    assert scene.weighed == 1


def test_whoever_wants_no_weighing_gets_none(scene: Scene) -> None:
    assert scene.prices(DOCKER, weigh=False) is None
    assert scene.weighed == 0


@pytest.mark.parametrize(("level", "slice_"), [({}, "250ms"), (DOCKER, "off")])
def test_a_study_whose_bill_would_say_nothing_weighs_nothing(
    scene: Scene, level: dict[str, object], slice_: str
) -> None:
    assert scene.prices(level, slice_=slice_) is None
    assert scene.weighed == 0


def test_a_way_that_is_never_weighed_asks_for_no_weighing(scene: Scene) -> None:
    """An orchestrator's pods on the host's network have no price."""
    pods = {"platform": {"runtime": "kubernetes", "network": "host", "storage": "emptydir"}}
    assert scene.prices(pods) is None
    assert scene.weighed == 0


def test_of_a_cluster_of_several_nodes_the_clients_way_is_weighed(scene: Scene) -> None:
    assert scene.prices({**DOCKER, "database": {"nodes": 3, "replication_factor": 3}}) == BRIDGE
    assert scene.weighed == 1


def test_nodes_behind_published_ports_have_their_own_way_weighed(scene: Scene) -> None:
    """Prices of an earlier release lack it."""
    ports = {"runtime": "docker", "network": "published", "storage": "volume"}
    three = {"platform": ports, "database": {"nodes": 3, "replication_factor": 3}}
    other = price("docker.published", 1, 3.0)
    scene.kept(timedelta(days=1), weighing(*BRIDGE.prices[2:], other))
    assert scene.prices({"platform": ports}) is not None
    assert scene.weighed == 0
    assert scene.prices(three) == BRIDGE
    assert scene.weighed == 1


def test_native_processes_alone_take_prices_that_are_kept_and_none_are_weighed(
    scene: Scene,
) -> None:
    copies = {"database": {"nodes": 3, "replication_factor": 3}}
    assert scene.prices(copies) is None
    scene.kept(timedelta(days=1))
    scene.kept_parts(timedelta(days=1), "storage")
    assert scene.prices(copies) is not None
    assert len(scene.parts(copies)) == 1, "system calls are not weighed for it"
    scene.kept(FRESH + timedelta(hours=1))
    assert scene.prices(copies) is None
    assert scene.weighed == scene.parts_weighed == 0


def test_prices_that_say_nothing_of_two_conditions_do_not_come_along(scene: Scene) -> None:
    scene.kept(timedelta(days=1))
    assert scene.prices({}, slice_="off") is None
    assert scene.prices({"client": {"runtime": "docker", "network": "host"}}) is None


def test_prices_through_another_network_plugin_are_weighed_anew(scene: Scene) -> None:
    """A cluster has one of the plugins that a study names."""
    pods = {"runtime": "kubernetes", "network": "container-dns", "endpoint": "host-port"}
    path = "host-port, network plugin flannel-vxlan, MTU 1450"
    prices = [price("kubernetes.host-port", 1, 5.0).model_copy(update={"path": path})]

    def serves(*plugins: str) -> bool:
        named = {way_of({"platform": pods | {"plugin": one}}) for one in plugins}
        made = weighing(*prices).model_copy(update={"made": datetime.now(UTC)})
        return _serves(made, named)

    assert serves("flannel-vxlan")
    assert serves("flannel-vxlan", "flannel-host-gw")
    assert not serves("flannel-host-gw")


@pytest.mark.parametrize(
    ("cluster", "weighed"),
    [
        (Named(SimpleNamespace(plugin="flannel-vxlan")), 0),
        (Named(SimpleNamespace(plugin="flannel-host-gw")), 1),
        (Named(SimpleNamespace(plugin="")), 1),
        (Named(None), 0),
        (None, 0),
    ],
)
def test_prices_through_a_plugin_that_the_cluster_has_not_are_weighed_anew(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, cluster: Named | None, weighed: int
) -> None:
    """The study names none, and the cluster has been made again since."""
    monkeypatch.setattr(Kubernetes, "named", lambda _: cluster)
    path = "host-port, network plugin flannel-vxlan, MTU 1450"
    scene.kept(
        timedelta(hours=1),
        weighing(price("kubernetes.host-port", 1, 5.0).model_copy(update={"path": path})),
    )
    scene.prices({"platform": {"runtime": "kubernetes", "network": "host-port", "storage": "pvc"}})
    assert scene.weighed == weighed


def test_a_cluster_that_cannot_be_asked_stops_no_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_: Kubernetes) -> Named:
        raise RuntimeUnavailableError("a kubeconfig that is none")

    monkeypatch.setattr(Kubernetes, "named", refuses)
    level = {"platform": {"runtime": "kubernetes", "network": "host-port", "storage": "pvc"}}
    assert scene.prices(level) == BRIDGE


def test_kept_prices_come_along_though_nobody_wants_a_weighing(scene: Scene) -> None:
    scene.kept(timedelta(days=1))
    assert scene.prices(DOCKER, weigh=False) is not None


def test_a_run_that_goes_on_keeps_its_prices(scene: Scene) -> None:
    write(BRIDGE, scene.files.prices)
    assert scene.prices(DOCKER) is None
    assert scene.weighed == 0


def test_a_study_of_mongodb_gets_the_prices_of_its_protocol(scene: Scene) -> None:
    scene.kept(timedelta(days=1))
    scene.database = "mongodb"
    own = {"kind": "mongodb", "version": "7.0", "home": "/opt/mongodb"}
    made = plan(DOCKER, database=own)
    assert prices_for(made, scene.files, weigh=True, say=scene.said.append) is not None
    assert scene.weighed == 1, "those of CQL were kept"


def test_databases_of_several_protocols_have_no_bill(scene: Scene) -> None:
    scene.kept(timedelta(days=1))
    other = {"database": {"kind": "mongodb", "version": "7.0", "image": "mongo:7.0"}}
    assert scene.prices({**DOCKER, **other}) is None
    assert scene.weighed == 0


def test_where_weighing_fails_the_run_goes_on_without(scene: Scene) -> None:
    scene.fault = RuntimeUnavailableError("no Docker engine answers", why="no socket")
    assert scene.prices(DOCKER) is None
    assert scene.said[-1] == "no prices of ways to a server: no Docker engine answers, no socket"
    scene.fault = TimeoutError("the engine answers nothing")
    assert scene.prices(DOCKER) is None
    assert scene.said[-1] == "no prices of ways to a server: the engine answers nothing"


def test_system_calls_are_weighed_with_the_ways_and_storage_s_prices_come_along(
    scene: Scene,
) -> None:
    scene.kept_parts(timedelta(days=1), "storage")
    kept, found = scene.parts(DOCKER)
    assert {one.what for one in kept.prices} == {"storage"}
    assert found.only("system") is not None
    assert scene.parts_weighed == 1


def test_prices_of_system_calls_of_this_week_are_taken_and_older_ones_weighed_anew(
    scene: Scene,
) -> None:
    scene.kept_parts(timedelta(days=1), "system")
    assert len(scene.parts(DOCKER)) == 1
    assert scene.parts_weighed == 0
    scene.kept_parts(FRESH + timedelta(hours=1), "system")
    assert len(scene.parts(DOCKER)) == 1
    assert scene.parts_weighed == 1


def test_parts_are_not_weighed_where_nobody_wants_it_or_nothing_would_be_priced(
    scene: Scene,
) -> None:
    assert scene.parts(DOCKER, weigh=False) == []
    assert scene.parts({}) == []
    write(BRIDGE, scene.files.prices)
    assert scene.parts(DOCKER) == []
    assert scene.parts_weighed == 0


def test_where_weighing_parts_fails_the_run_goes_on_with_the_ways(scene: Scene) -> None:
    scene.parts_fault = RuntimeUnavailableError("no Docker engine answers", why="no socket")
    assert scene.parts(DOCKER) == []
    assert scene.said[-1] == "no prices of system calls: no Docker engine answers, no socket"


def test_a_part_s_prices_are_kept_until_that_part_is_weighed_again(scene: Scene) -> None:
    scene.kept_parts(timedelta(days=1), "system", "storage")
    scene.kept_parts(timedelta(hours=1), "system")
    system, storage = parts_here(local_facts())
    assert {one.what for one in storage.prices} == {"storage"}
    assert system.made > storage.made
