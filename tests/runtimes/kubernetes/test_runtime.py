"""The Kubernetes runtime with a scripted API; tests/integration uses a real cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes import namespaces
from tare.runtimes.kubernetes.refusals import no_answer
from tare.study.platform import Placement, Platform
from tests.runtimes.kubernetes.rights import granted
from tests.runtimes.kubernetes.scene import NAMESPACE, Scene, a_scene, client, notes_apart
from tests.runtimes.kubernetes.scripted_api import SERVER, ScriptedApi, machine

notes = pytest.fixture(autouse=True)(notes_apart)
scene = pytest.fixture(a_scene)


def test_a_node_is_known_by_the_name_of_its_pod_before_it_runs(scene: Scene) -> None:
    sites = [
        scene.runtime.site(
            f"n{i}", role="database", network="service-ip", storage="layer", group="d1-k1"
        )
        for i in range(2)
    ]
    assert [site.listen for site in sites] == ["d1-k1-0.d1-k1", "d1-k1-1.d1-k1"]
    assert all(site.listen == site.peers == site.seed for site in sites)
    assert scene.api.made("Namespace") == {}, "nothing is made for a plan"


def test_a_cluster_is_a_set_with_services_that_grows_node_by_node(scene: Scene) -> None:
    running = scene.cluster()
    (made,) = scene.api.made("StatefulSet").values()
    assert made["spec"]["replicas"] == 2
    assert sorted(scene.api.made("Service")) == ["d1-k1", "d1-k1-0", "d1-k1-1"]
    assert ("patch", "StatefulSet", "d1-k1") in scene.api.calls
    assert [one.exited() for one in running] == [None, None]
    files = scene.api.made("ConfigMap")["d1-k1"]["data"]
    assert files["1.cassandra.yaml"] == "of: d1-k1-n2"


@pytest.mark.parametrize(
    ("network", "target", "port"),
    [
        ("container-dns", "10.244.", 9042),
        ("service-ip", "10.96.", 9042),
        ("host-port", "10.0.0.2", 9042),
        ("host", "10.0.0.2", 9042),
        ("node-port", "10.0.0.1", 30000),  # a machine other than the pod's
    ],
)
def test_clients_outside_reach_a_node_at_its_endpoint(
    scene: Scene, network: str, target: str, port: int
) -> None:
    site = scene.cluster(network)[1].unit.site
    host, _, found = site.target(9042).rpartition(":")
    assert host.startswith(target)
    assert int(found) // 1000 == port // 1000
    assert site.machine == "m2"


def test_one_pod_is_reached_by_every_endpoint_at_once(scene: Scene) -> None:
    site = scene.cluster(several=True)[1].unit.site
    targets = {name: site.target(9042, endpoint=name) for name in site.ways}
    pod, service = targets["container-dns"], targets["service-ip"]
    assert pod.startswith("10.244.")
    assert service.startswith("10.96.")
    assert targets["host-port"] == "10.0.0.2:9042"
    assert targets["node-port"].startswith("10.0.0.1:3"), "a port of another machine leads there"
    assert targets["between-nodes"] == pod, "nodes call each other's pods"
    assert targets["loopback"] == "127.0.0.1:9042", "in the pod's own network namespace"
    assert len(set(targets.values())) == 5
    inside = {name: site.target(9042, inside=True, endpoint=name) for name in site.ways}
    assert inside == targets | {"container-dns": "d1-k1-1.d1-k1:9042"}
    (port, *others) = scene.api.made("StatefulSet")["d1-k1"]["spec"]["template"]["spec"][
        "containers"
    ][0]["ports"]
    assert port["hostPort"] == 9042
    assert all("hostPort" not in other for other in others)


def test_a_named_endpoint_is_proven_as_the_path_that_it_is(scene: Scene) -> None:
    platform = Platform(
        runtime="kubernetes", network="container-dns", endpoint="service-ip", storage="layer"
    )
    assert scene.prove(platform)["endpoint"] == "service-ip"
    site = scene.cluster(several=True)[0].unit.site
    assert site.way("service-ip").path.startswith("service-ip, service proxy")


def test_clients_inside_call_a_pod_by_its_name(scene: Scene) -> None:
    site = scene.cluster()[1].unit.site
    assert site.target(9042, inside=True) == "d1-k1-1.d1-k1:9042"


@pytest.mark.parametrize("network", ["host", "host-port"])
def test_clusters_on_the_same_machines_take_ports_of_their_own(scene: Scene, network: str) -> None:
    first = scene.cluster(network, group="d1-k1")[0].unit.site
    second = scene.cluster(network, group="d1-k2")[0].unit.site
    assert first.target(9042).endswith(":9042")
    assert second.target(9042).endswith(":9142")
    assert second.binds(9042) == (9142 if network == "host" else 9042)
    scene.runtime.release_group("d1-k1")
    third = scene.cluster(network, group="d1-k3")[0].unit.site
    assert third.target(9042).endswith(":9042"), "what was released can be taken again"


def pod_of(api: ScriptedApi, name: str) -> Any:
    return api.kept["Pod", NAMESPACE, name]


def evicted(api: ScriptedApi) -> None:
    pod_of(api, "d1-k1-1")["status"] |= {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory",
    }


def crashed(api: ScriptedApi) -> None:
    (status,) = pod_of(api, "d1-k1-1")["status"]["containerStatuses"]
    status |= {"restartCount": 1, "lastState": {"terminated": {"exitCode": 3}}}


def deleted(api: ScriptedApi) -> None:
    del api.kept["Pod", NAMESPACE, "d1-k1-1"]


def replaced(api: ScriptedApi) -> None:
    pod_of(api, "d1-k1-1")["metadata"]["uid"] = "another"


def node_lost(api: ScriptedApi) -> None:
    api.kept["Node", "", "m2"]["status"]["conditions"] = [
        {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}
    ]


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (evicted, "Evicted: The node was low on resource"),
        (crashed, "exit status 3"),
        (deleted, "its pod is gone"),
        (replaced, "replaced by another"),
        (node_lost, "m2 is not ready"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_whatever_ends_a_node_is_told_with_the_clusters_own_events(
    scene: Scene, happens: Callable[[ScriptedApi], None], said: str
) -> None:
    node = scene.cluster()[1]
    assert node.exited() is None
    happens(scene.api)
    scene.api.tell("d1-k1-1", "Killing", "Stopping container unit", namespace=NAMESPACE)
    scene.clock.wait(10)
    ended = node.exited()
    assert ended is not None
    assert said in ended.detail
    assert "Stopping container unit" in ended.detail


def test_the_api_is_not_asked_about_a_pod_again_and_again(scene: Scene) -> None:
    node = scene.cluster()[0]
    before = len(scene.api.calls)
    for _ in range(10):
        node.exited()
    assert len(scene.api.calls) - before == 2, "the pod and its machine, once"


def test_a_released_cluster_leaves_nothing_but_the_namespace(scene: Scene) -> None:
    scene.cluster()
    scene.runtime.release_group("d1-k1")
    assert {kind for kind, _, _ in scene.api.kept} == {"Node", "Namespace"}


def test_what_could_not_be_released_is_gone_before_anything_else_is_made(scene: Scene) -> None:
    scene.cluster()

    def away(verb: str, kind: str, name: str) -> None:
        raise no_answer(SERVER, "timed out")

    scene.api.refuse = away
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        scene.runtime.release_group("d1-k1")
    platform = Platform(runtime="kubernetes", network="host", storage="layer")
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        scene.prove(platform)
    scene.api.refuse = lambda verb, kind, name: None
    assert "d1-k1" in scene.api.made("StatefulSet")
    scene.prove(platform)
    assert scene.api.made("StatefulSet") == scene.api.made("Pod") == {}


def test_a_closed_run_leaves_nothing_at_all(scene: Scene, notes: Path) -> None:
    scene.cluster()
    assert [note.name.partition(".")[0] for note in notes.iterdir()] == [NAMESPACE]
    scene.runtime.close()
    assert {kind for kind, _, _ in scene.api.kept} == {"Node"}
    assert list(notes.iterdir()) == []


def test_pods_that_do_not_go_are_forced(scene: Scene) -> None:
    scene.cluster()
    pod_of(scene.api, "d1-k1-0")["owner"] = None  # nothing deletes this pod, as on a lost node
    scene.runtime.release_group("d1-k1")
    assert ("delete", "Pod", "d1-k1-0") in scene.api.calls
    assert scene.api.made("Pod") == {}


def test_a_namespace_that_exists_is_refused_with_what_to_do(scene: Scene) -> None:
    scene.api.create({"kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.cluster()
    assert "exists already" in caught.value.what
    assert "tare clean" in caught.value.remedy


def test_a_path_is_proven_by_pods_that_answer_and_leave_nothing(scene: Scene) -> None:
    seen = scene.prove(Platform(runtime="kubernetes", network="service-ip", storage="layer"))
    assert [target.rpartition(":")[2] for target in scene.asked] == ["9042", "9042"]
    assert all(target.startswith("10.96.") for target in scene.asked)
    assert seen["cluster"]["network plugin"] == "flannel-vxlan"
    assert "MTU 1450" in seen["path"]
    assert scene.api.made("Pod") == scene.api.made("StatefulSet") == scene.api.made("Service") == {}


def test_what_was_proven_is_not_proven_again(scene: Scene) -> None:
    platform = Platform(runtime="kubernetes", network="host", storage="layer")
    scene.prove(platform)
    scene.prove(platform)
    assert len(scene.asked) == 2


def test_a_path_that_does_not_work_is_refused_at_once_and_later_without_trying(
    scene: Scene,
) -> None:
    scene.silent.add("all")
    platform = Platform(runtime="kubernetes", network="service-ip", storage="layer")
    for _ in range(2):
        with pytest.raises(RuntimeUnavailableError) as caught:
            scene.prove(platform)
        assert "not runnable here" in caught.value.what
    assert len(scene.asked) == 2
    assert scene.api.made("Pod") == {}
    assert scene.clock.now < 60


def test_what_may_pass_is_no_fault_of_the_path(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "registry is down"}}

    def spoil(pod: Any) -> None:
        pod["status"]["containerStatuses"] = [{"name": "unit", "state": waiting}]

    scene.api.spoil = spoil
    platform = Platform(runtime="kubernetes", network="host", storage="layer")
    with pytest.raises(RuntimeUnavailableError, match="a pod did not start"):
        scene.prove(platform)
    scene.api.spoil = lambda pod: None
    assert scene.prove(platform)["endpoint"] == "host"


def test_another_network_plugin_than_the_studys_is_refused(scene: Scene) -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.prove(Platform(runtime="kubernetes", network="host", plugin="flannel-host-gw"))
    assert "flannel-vxlan" in caught.value.why
    assert "PLUGIN=flannel-host-gw" in caught.value.remedy


def test_too_few_machines_for_nodes_that_keep_apart_are_refused(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ScriptedApi(nodes=[machine("m1")]))
    placement = Placement(spread="required")
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.prove(Platform(runtime="kubernetes", network="host", placement=placement))
    assert "too few nodes: 1" in caught.value.what


@pytest.mark.parametrize(
    ("told", "message", "within_s"),
    [
        ("ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found', 5),
        ("FailedBinding", "no persistent volumes available and no storage class is set", 5),
        ("ProvisioningFailed", "the provisioner is busy", 92),  # may pass: Tare waits
    ],
)
def test_a_volume_that_cannot_be_had_is_told_with_its_claims_own_reason(
    tmp_path: Path, told: str, message: str, within_s: float
) -> None:
    scene = Scene(tmp_path)
    reason = {"reason": "Unschedulable", "message": "unbound claims", "status": "False"}

    def spoil(pod: Any) -> None:
        conditions = [{"type": "PodScheduled", **reason}]
        pod["status"] = {"phase": "Pending", "conditions": conditions}
        claim = f"data-{pod['metadata']['name']}"
        scene.api.tell(claim, told, message, namespace=NAMESPACE)

    scene.api.spoil = spoil
    with pytest.raises(RuntimeUnavailableError, match="a pod did not start") as caught:
        scene.cluster(storage="pvc")
    assert within_s - 5 <= scene.clock.now < within_s
    assert f"{told}: {message}" in caught.value.why
    assert "platform.placement.storage_class" in caught.value.remedy


def test_what_packets_pass_is_told_of_every_node(scene: Scene) -> None:
    scene.prove(Platform(runtime="kubernetes", network="service-ip", storage="layer"))
    node = scene.cluster("service-ip")[0]
    assert node.packet_path().startswith("service-ip, service proxy")
    assert node.facts() == {"quality of service": "Guaranteed"}


def test_where_this_machine_gets_through_it_asks_at_the_endpoint(scene: Scene) -> None:
    scene.prove(Platform(runtime="kubernetes", network="host", storage="layer"))
    site = scene.cluster("host")[0].unit.site
    assert site.door(9042) == ("10.0.0.1", 9042)


def test_where_it_does_not_it_asks_through_the_api(scene: Scene) -> None:
    site = scene.cluster("container-dns")[0].unit.site  # no path from this machine was proven
    host, port = site.door(9042)
    assert host == "127.0.0.1"
    assert port != 9042
    scene.runtime.close()


def test_data_in_directories_of_machines_is_removed_from_each(scene: Scene) -> None:
    scene.cluster(storage="host-path")
    scene.runtime.close()
    made = [name for verb, kind, name in scene.api.calls if (verb, kind) == ("create", "Job")]
    assert [name[-3:] for name in made] == ["-m1", "-m2"]
    assert scene.api.made("Namespace") == {}


def test_data_on_a_machine_that_is_lost_is_told_and_found_again(scene: Scene, notes: Path) -> None:
    scene.cluster(storage="host-path")
    node_lost(scene.api)
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.runtime.close()
    assert "data of a run is left" in caught.value.what
    assert caught.value.where == "m2"
    assert scene.api.made("Pod") == {}
    (found,), _ = namespaces.leftovers(lambda settings: scene.api)
    again = Scene(scene.work, scene.api)
    again.cluster()  # the next run of that name takes over what was left
    again.runtime.release_group("d1-k1")
    scene.api.kept["Node", "", "m2"]["status"]["conditions"] = []
    namespaces.remove(found)
    assert scene.api.made("Namespace") == {}
    assert list(notes.iterdir()) == []


def test_a_machine_that_holds_nothing_of_a_run_may_be_lost(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ScriptedApi(nodes=[machine(name) for name in ("m1", "m2", "m3")]))
    scene.cluster(storage="host-path")
    scene.api.kept["Node", "", "m3"]["status"]["conditions"] = [
        {"type": "Ready", "status": "Unknown"}
    ]
    scene.runtime.close()
    assert scene.api.made("Namespace") == {}


def test_what_a_lost_kubelet_would_leave_running_on_this_machine_is_killed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is scripted here; tests/integration kills a real kubelet."""
    killed: list[tuple[int, str]] = []
    monkeypatch.setattr(namespaces.local_pods, "process_of", lambda container: 4321)
    monkeypatch.setattr(
        "tare.runtimes.orchestrated.pause_unit", lambda unit, accounting, frozen, of: None
    )
    monkeypatch.setattr("tare.machines.cgroups.kill", lambda *told: killed.append(told))
    nodes = scene.cluster()
    node_lost(scene.api)
    for node in nodes:
        node.stop()
    assert killed == [(4321, pod_of(scene.api, "d1-k1-1")["metadata"]["uid"])]


def test_a_pod_elsewhere_cannot_be_paused_and_that_is_said(scene: Scene) -> None:
    node = scene.cluster()[0]
    with pytest.raises(RuntimeUnavailableError) as caught:
        node.pause()
    assert "design.idle" in caught.value.remedy


def test_logs_and_events_of_a_node_are_kept(scene: Scene, tmp_path: Path) -> None:
    node = scene.cluster()[0]
    scene.api.logs["d1-k1-0", "unit"] = b"OutOfMemoryError\n"
    scene.api.tell("d1-k1-0", "BackOff", "Back-off restarting", namespace=NAMESPACE)
    node.collect_logs(tmp_path / "logs")
    assert (tmp_path / "logs" / "d1-k1-n1-stderr.log").read_text() == "OutOfMemoryError\n"
    assert "Back-off restarting" in (tmp_path / "logs" / "d1-k1-n1-events.json").read_text()


VERBS = {"find": "list"}
RESOURCES = {
    "ConfigMap": "configmaps",
    "Event": "events",
    "Job": "jobs",
    "Namespace": "namespaces",
    "Node": "nodes",
    "Pod": "pods",
    "Service": "services",
    "StatefulSet": "statefulsets",
}


def test_a_whole_run_asks_for_no_more_than_the_rights_that_are_documented(scene: Scene) -> None:
    scene.prove(Platform(runtime="kubernetes", network="service-ip", storage="layer"))
    for node in scene.cluster(storage="host-path"):
        node.exited()
        node.collect_logs(scene.work / "logs")
    running = client(scene)
    list(running.lines())
    running.stop()
    scene.runtime.close()
    used = {
        ("get", "pods/log") if verb == "log" else (VERBS.get(verb, verb), RESOURCES[kind])
        for verb, kind, name in scene.api.calls
        if (kind, name) != ("ConfigMap", "kube-proxy")  # has a separate role
    }
    assert used <= granted()
