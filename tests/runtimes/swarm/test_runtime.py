"""The Swarm runtime with a scripted manager; tests/integration uses a real Swarm."""

from __future__ import annotations

import platform as machine
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.replies import Reply
from tare.runtimes.swarm import runtime as module
from tare.runtimes.swarm.facts import read_facts
from tare.runtimes.swarm.manager import Document, SwarmError
from tare.runtimes.swarm.member import MemberRunning
from tare.runtimes.swarm.runtime import SwarmRuntime
from tare.runtimes.swarm.settings import SwarmSettings
from tare.runtimes.unit import Bits, Site, Unit
from tare.study.platform import Limits, Placement, Platform
from tests.runtimes.swarm.scripted_swarm import Clock, ScriptedSwarm, node

RUN = "a-run"
PORTS = (9042, 7000)
INSIDE, OUTSIDE = ("swarm",), ("native",)
LABELS = {"tare.run": RUN, "tare.host": machine.node()}


class Scene:
    """A runtime over a scripted Swarm, where every unit answers at its targets."""

    def __init__(
        self, work: Path, swarm: ScriptedSwarm | None = None, placement: Placement | None = None
    ) -> None:
        self.swarm = swarm or ScriptedSwarm()
        self.clock = Clock()
        self.placement = placement or Placement()
        self.runtime = SwarmRuntime(
            RUN, work, SwarmSettings(), self.swarm, self.clock, self.clock.wait, self.ask
        )
        self.runtime.use_helper("sha256:pod")
        self.asked: list[str] = []
        self.silent = False

    def ask(self, targets: Sequence[str], within_s: float) -> list[Reply]:
        self.asked += targets
        if self.silent:
            return [Reply(target, why="connection refused") for target in targets]
        return [
            Reply(target, "10.0.0.1:5", target, f"path-{index}", "10.0.0.1:5", "172.18.0.3:9042")
            for index, target in enumerate(targets, start=1)
        ]

    def platform(self, network: str) -> Platform:
        fields: dict[str, Any] = {"runtime": "swarm", "network": network, "storage": "volume"}
        return Platform(**fields, placement=self.placement)

    def prove(self, network: str, clients: Sequence[str] = OUTSIDE) -> dict[str, Any]:
        return self.runtime.prove(self.platform(network), 2, 9042, clients)

    def cluster(
        self,
        network: str,
        group: str = "d1-k1",
        limits: Limits | None = None,
        *,
        several: bool = False,
    ) -> list[MemberRunning]:
        """Launch two nodes as a database does: all sites and files first."""
        sites = [
            self.runtime.site(
                f"{group}-n{index}",
                role="database",
                network=network,
                storage="volume",
                group=group,
                several=several,
            )
            for index in (1, 2)
        ]
        for site in sites:
            (site.conf_on_host / "cassandra.yaml").write_text(f"of: {site.name}", encoding="utf-8")
        return [self.launch(site, limits or Limits()) for site in sites]

    def launch(self, site: Site, limits: Limits) -> MemberRunning:
        unit = Unit(
            site, "database", ["/java", "-x"], {"A": "b"}, limits, Bits("d", "sha256:cassandra"),
            storage="volume", ports=PORTS, placement=self.placement, grace_s=0,
        )  # fmt: skip
        running = self.runtime.launch(unit)
        assert isinstance(running, MemberRunning)
        return running

    def service(self, name: str) -> Document:
        """The specification of a service as it was created."""
        return dict(self.swarm.inspect("service", name)["Spec"])


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


class Volumes:
    """Records which volumes are filled on which node, and which are removed."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, object]] = {}
        self.lost = False

    def fill(self, node: str, name: str, labels: object, image: str, snapshot: object) -> None:
        assert (labels, image) == ({**LABELS, "tare.unit": "n1"}, "sha256:cassandra")
        self.held[name] = node, snapshot

    def remove(self, names: Sequence[str] | None = None) -> None:
        if self.lost:
            raise RuntimeUnavailableError("volumes of this run are left on nodes of the Swarm")
        self.held.clear()


def filled_node(tmp_path: Path, volumes: Volumes, spread: Any) -> tuple[Scene, Document]:
    """A scene with a node that starts from a snapshot, and the node's service."""
    scene = Scene(tmp_path, placement=Placement(spread=spread))
    scene.runtime._volumes = volumes  # type: ignore[assignment]
    site = scene.runtime.site(
        "n1", role="database", network="host-port", storage="volume", group="g"
    )
    unit = Unit(
        site, "database", ["/java"], {}, Limits(), Bits("d", "sha256:cassandra"),
        storage="volume", ports=PORTS, placement=scene.placement, snapshot="s",  # type: ignore[arg-type]
    )  # fmt: skip
    scene.runtime.launch(unit)
    return scene, scene.service("tare-a-run-n1")


def test_a_task_finds_its_snapshot_in_a_volume_of_its_node(tmp_path: Path) -> None:
    volumes = Volumes()
    scene, service = filled_node(tmp_path, volumes, "preferred")
    ((name, held),) = volumes.held.items()
    (mount,) = service["TaskTemplate"]["ContainerSpec"]["Mounts"]
    assert (mount["Source"], mount["Target"]) == (name, "/var/lib/cassandra")
    assert held == ("swarm-1", "s")
    assert service["TaskTemplate"]["Placement"]["Constraints"] == ["node.id==id-swarm-1"]
    scene.runtime.release_group("g")
    assert volumes.held == {}


def test_a_volume_of_a_node_that_is_gone_holds_nothing_up_and_is_told_at_the_end(
    tmp_path: Path,
) -> None:
    volumes = Volumes()
    scene, _ = filled_node(tmp_path, volumes, "preferred")
    volumes.lost = True
    scene.runtime.release_group("g")
    assert scene.swarm.left() == []
    with pytest.raises(RuntimeUnavailableError, match="are left on nodes"):
        scene.runtime.close()


def test_a_task_whose_node_the_swarm_chooses_cannot_be_given_anything(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError, match="cannot be filled"):
        filled_node(tmp_path, Volumes(), "none")


def test_each_node_is_a_service_of_one_task_with_its_files_limits_and_place(scene: Scene) -> None:
    scene.cluster("host-port", limits=Limits(cpus=1.5, memory=2**30))
    spec = scene.service("tare-a-run-d1-k1-n1")
    task = spec["TaskTemplate"]
    container = task["ContainerSpec"]
    assert container["Image"] == "sha256:cassandra"
    assert (container["Command"], container["Args"]) == (["/java"], ["-x"])
    assert container["Hostname"] == "tasks.tare-a-run-d1-k1-n1"
    assert container["Configs"][0]["File"]["Name"] == "/opt/tare/conf/cassandra.yaml"
    assert container["Mounts"][0]["Target"] == "/var/lib/cassandra"
    assert "Source" not in container["Mounts"][0]  # an anonymous volume, removed with its task
    amounts = {"NanoCPUs": 1_500_000_000, "MemoryBytes": 2**30}
    assert task["Resources"] == {"Limits": amounts, "Reservations": amounts}
    assert task["RestartPolicy"] == {"Condition": "none"}
    assert task["Placement"] == {"Constraints": ["node.id==id-swarm-1"]}
    other = scene.service("tare-a-run-d1-k1-n2")["TaskTemplate"]["Placement"]
    assert other == {"Constraints": ["node.id==id-swarm-2"]}


def test_a_unit_without_time_to_end_is_killed_and_another_is_asked(
    scene: Scene, tmp_path: Path
) -> None:
    """Docker kills a first process that ignores signals only after its grace period."""
    scene.cluster("host-port")
    killed = scene.service("tare-a-run-d1-k1-n1")["TaskTemplate"]["ContainerSpec"]
    assert killed["StopSignal"] == "SIGKILL"
    _, asked = filled_node(tmp_path / "asked", Volumes(), "preferred")
    container = asked["TaskTemplate"]["ContainerSpec"]
    assert "StopSignal" not in container
    assert container["StopGracePeriod"] == 5_000_000_000


def test_everything_made_carries_the_run_and_the_machine(scene: Scene) -> None:
    scene.cluster("host-port")
    for kind in ("service", "config", "network"):
        made = scene.swarm.made[kind].values()
        assert len(made) > 0, kind
        for one in made:
            labels = (one.get("Spec") or {}).get("Labels") or one.get("Labels")
            assert labels.items() >= LABELS.items()


@pytest.mark.parametrize(
    ("network", "mode", "targets", "inside"),
    [
        ("host-port", "dnsrr", ["10.0.0.11:9042", "10.0.0.12:9043"], None),
        (
            "container-dns",
            "dnsrr",
            None,
            ["tasks.tare-a-run-d1-k1-n1:9042", "tasks.tare-a-run-d1-k1-n2:9042"],
        ),
        ("service-ip", "vip", None, ["10.9.0.2:9042", "10.9.0.3:9042"]),
        # through a machine other than the task's
        ("node-port", "vip", ["10.0.0.12:30000", "10.0.0.13:30001"], None),
    ],
)
def test_clients_go_to_the_endpoint_and_this_process_to_the_nodes_port(
    scene: Scene, network: str, mode: str, targets: list[str] | None, inside: list[str] | None
) -> None:
    members = scene.cluster(network)
    sites = [member.unit.site for member in members]
    assert scene.service("tare-a-run-d1-k1-n1")["EndpointSpec"]["Mode"] == mode
    if targets:
        assert [site.target(9042) for site in sites] == targets
    if inside:
        assert [site.target(9042, inside=True) for site in sites] == inside
    assert [site.door(9042) for site in sites] == [("10.0.0.11", 9042), ("10.0.0.12", 9043)]


def test_one_task_is_reached_by_every_endpoint_at_once(scene: Scene) -> None:
    site = scene.cluster("container-dns", several=True)[0].unit.site
    targets = {name: site.target(9042, inside=True, endpoint=name) for name in site.ways}
    assert targets == {
        "host-port": "10.0.0.11:9042",
        "loopback": "127.0.0.1:9042",
        "node-port": "10.0.0.12:30000",
        "service-ip": "10.9.0.2:9042",
        "container-dns": "tasks.tare-a-run-d1-k1-n1:9042",
        "between-nodes": "10.9.0.102:9042",
    }


def test_from_another_task_one_is_reached_at_its_own_address_on_their_network(
    scene: Scene,
) -> None:
    """Packets between nodes take this path: the engine's DNS gives nodes the same address."""
    scene.swarm.answers = lambda target: target.partition(":")[0].removeprefix("tasks.tare-a-run-")
    scene.prove("container-dns", INSIDE)
    sites = [one.unit.site for one in scene.cluster("container-dns", several=True)]
    ways = [site.way("between-nodes") for site in sites]
    assert [way.host for way in ways] == ["10.9.0.102", "10.9.0.103"]
    assert all(way.beside and not way.inside for way in ways)
    assert "overlay network, VXLAN" in ways[0].path
    assert ways[0].path.endswith("from another node's task")


def test_where_the_swarm_does_not_tell_a_task_s_address_there_is_no_way_from_another(
    tmp_path: Path,
) -> None:
    def untold(task: Document, service: Document) -> None:
        task["NetworksAttachments"] = None

    scene = Scene(tmp_path, ScriptedSwarm(script=untold))
    site = scene.cluster("container-dns", several=True)[0].unit.site
    with pytest.raises(RuntimeUnavailableError, match="does not tell the task's address"):
        site.way("between-nodes")


def test_without_ip_vs_its_two_endpoints_are_refused_and_the_others_stand(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = replace(read_facts(scene.swarm), ip_vs=False)
    monkeypatch.setattr(module, "read_facts", lambda *_, **__: without)
    site = scene.cluster("container-dns", several=True)[0].unit.site
    assert scene.service("tare-a-run-d1-k1-n1")["EndpointSpec"]["Mode"] == "dnsrr"
    assert site.target(9042, endpoint="host-port") == "10.0.0.11:9042"
    with pytest.raises(RuntimeUnavailableError, match="IP_VS"):
        site.target(9042, endpoint="service-ip")


def test_on_the_machines_own_network_further_clusters_have_ports_of_their_own(
    scene: Scene,
) -> None:
    scene.prove("host")
    first = scene.cluster("host")
    second = scene.cluster("host", "d2-k1")
    assert [member.unit.site.listen for member in first] == ["10.0.0.11", "10.0.0.12"]
    assert [member.unit.site.target(9042) for member in first] == [
        "10.0.0.11:9042",
        "10.0.0.12:9042",
    ]
    assert second[0].unit.site.binds(9042) == 9142
    assert second[0].unit.site.target(9042) == "10.0.0.11:9142"
    template = scene.service("tare-a-run-d1-k1-n1")["TaskTemplate"]
    assert template["Networks"] == [{"Target": "host"}]


def test_nodes_know_each_other_by_names_that_hold_whatever_the_endpoint(scene: Scene) -> None:
    site = scene.cluster("service-ip")[0].unit.site
    assert site.listen == site.peers == site.seed == "tasks.tare-a-run-d1-k1-n1"
    assert site.everywhere


@pytest.mark.parametrize(
    ("selector", "machines"),
    [
        ({"node.role": "worker"}, ["swarm-2", "swarm-3"]),
        ({"disk": "nvme"}, ["swarm-4", "swarm-4"]),
        ({"engine.labels.rack": "a"}, ["swarm-1", "swarm-2"]),
    ],
)
def test_units_are_bound_to_nodes_that_meet_the_selector(
    tmp_path: Path, selector: dict[str, str], machines: list[str]
) -> None:
    swarm = ScriptedSwarm()
    swarm.nodes.append(node("swarm-4", "10.0.0.14", labels={"disk": "nvme"}))
    scene = Scene(tmp_path, swarm, Placement(node_selector=selector))
    assert [member.unit.site.machine for member in scene.cluster("host-port")] == machines


def test_where_spread_is_of_no_matter_the_swarm_chooses(tmp_path: Path) -> None:
    scene = Scene(tmp_path, placement=Placement(spread="none", node_selector={"disk": "nvme"}))
    scene.cluster("container-dns")
    placed = scene.service("tare-a-run-d1-k1-n1")["TaskTemplate"]["Placement"]
    assert placed == {"Constraints": ["node.labels.disk==nvme"]}


def test_what_is_released_is_gone(scene: Scene) -> None:
    scene.cluster("host-port")
    scene.runtime.release_group("d1-k1")
    assert scene.swarm.left() == []
    scene.runtime.release_group("d1-k1")  # a second time does nothing


@pytest.mark.parametrize("made", ["create_service", "create_config"])
def test_what_no_answer_told_of_is_gone_too_and_another_cluster_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    scene.cluster("host-port", "d2-k1")
    others = scene.swarm.left()
    create = getattr(scene.swarm, made)

    def lost(*words: Any) -> None:
        create(*words)
        raise SwarmError("no answer", where="", why="timed out", remedy="", status=0)

    monkeypatch.setattr(scene.swarm, made, lost)
    with pytest.raises(SwarmError):
        scene.cluster("host-port")
    scene.runtime.release_group("d1-k1")
    assert scene.swarm.left() == others


def unanswered(scene: Scene, monkeypatch: pytest.MonkeyPatch, *, lost: bool) -> None:
    """Make networks but lose the reply; `lost`: the manager does not answer from then on."""
    create = scene.swarm.create_network

    def made(name: str, labels: Mapping[str, str]) -> str:
        create(name, labels)
        scene.swarm.lost = lost
        raise SwarmError("no answer", where="", why="timed out", remedy="", status=0)

    monkeypatch.setattr(scene.swarm, "create_network", made)


def test_a_network_that_no_answer_told_of_is_gone_at_once_and_another_cluster_s_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.cluster("host-port", "d2-k1")
    others = scene.swarm.left()
    unanswered(scene, monkeypatch, lost=False)
    with pytest.raises(SwarmError, match="no answer"):
        scene.cluster("host-port")
    assert scene.swarm.left() == others


def test_a_network_that_could_not_be_removed_yet_is_before_anything_else_is_made(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.prove("host-port")
    with monkeypatch.context() as patch:
        unanswered(scene, patch, lost=True)
        with pytest.raises(SwarmError, match="no answer"):
            scene.cluster("host-port")
    scene.swarm.lost = False
    assert scene.swarm.left() == ["tare-a-run-d1-k1"]
    scene.prove("host-port")
    assert scene.swarm.left() == []


def test_a_network_for_a_check_that_no_answer_told_of_is_gone_too(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    unanswered(scene, monkeypatch, lost=False)
    with pytest.raises(SwarmError, match="no answer"):
        scene.prove("host-port")
    assert scene.swarm.left() == []


def test_a_node_that_is_down_holds_up_nothing(scene: Scene) -> None:
    scene.cluster("host-port")
    scene.swarm.held.add("id-swarm-2")
    scene.swarm.nodes[1]["Status"]["State"] = "down"
    scene.runtime.release_group("d1-k1")
    assert scene.clock.now == 0
    assert scene.swarm.left() == ["tare-a-run-d1-k1-n2"], "its own engine ends this task"
    assert not any(scene.swarm.made[kind] for kind in ("service", "config", "network"))


def test_what_a_lost_manager_keeps_is_told_and_goes_once_it_is_back(scene: Scene) -> None:
    scene.cluster("host-port")
    scene.swarm.lost = True
    with pytest.raises(RuntimeUnavailableError, match="manager does not answer"):
        scene.runtime.release_group("d1-k1")
    scene.runtime.release_group("d1-k1")
    with pytest.raises(RuntimeUnavailableError, match="still has services") as caught:
        scene.runtime.close()
    assert "tare clean" in caught.value.remedy
    with pytest.raises(RuntimeUnavailableError, match="manager does not answer"):
        scene.prove("host-port")
    scene.swarm.lost = False
    scene.runtime.close()
    assert scene.swarm.left() == []


def test_a_named_network_is_joined_and_kept(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.swarm.create_network("fast", {})
    scene.runtime = SwarmRuntime(
        RUN, tmp_path, SwarmSettings(network="fast"), scene.swarm, scene.clock, scene.clock.wait
    )
    scene.cluster("container-dns")
    scene.runtime.close()
    assert scene.swarm.left() == ["fast"]


def test_a_client_joins_the_network_of_its_cluster_or_the_managers_own(scene: Scene) -> None:
    scene.cluster("container-dns")
    network = next(iter(scene.swarm.made["network"]))

    def joined(name: str) -> str:
        return scene.runtime.site(
            "c1", role="client", network=name, storage="directory", group="d1-k1"
        ).network

    assert joined("bridge") == network
    assert joined("host") == ""


def test_the_probe_says_why_a_swarm_cannot_be_used(scene: Scene) -> None:
    assert scene.runtime.probe() is None
    scene.swarm.swarm = {"LocalNodeState": "inactive"}
    why = scene.runtime.probe()
    assert why is not None
    assert "in no Swarm" in why
    assert "docker swarm init" in why
