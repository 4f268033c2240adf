"""The documents that Tare sends to a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tare.runtimes.kubernetes import jobs, manifests, pod_parts
from tare.runtimes.kubernetes.manifests import Members
from tare.runtimes.kubernetes.names import POD_LABEL
from tare.runtimes.kubernetes.pod_parts import Container
from tare.study.platform import Limits, Placement

GIB = 1 << 30
CONTAINER = Container("tare/cassandra:5", False, ["/java", "-x"], Limits(cpus=1.5, memory=GIB))
MEMBERS = Members(
    name="c",
    labels=pod_parts.labels_of("a-run", "c"),
    container=CONTAINER,
    files=[{"cassandra.yaml": "a: 0"}, {"cassandra.yaml": "a: 1"}],
    ports=(9042, 7000),
    on_node={},
    network="container-dns",
    storage="layer",
    host_directory="/var/lib/tare/tare-a-run.c",
    placement=Placement(),
    helper="tare/pod:1",
)


def pod_of(members: Members) -> dict[str, Any]:
    spec: dict[str, Any] = manifests.stateful_set(members, 1)["spec"]["template"]["spec"]
    return spec


def unit_of(members: Members) -> dict[str, Any]:
    (unit,) = pod_of(members)["containers"]
    return dict(unit)


@pytest.mark.parametrize("storage", ["host-path", "pvc", "emptydir"])
def test_a_pod_that_is_filled_takes_its_files_where_its_software_keeps_them(storage: str) -> None:
    members = replace(MEMBERS, storage=storage, filled=True)
    naming, taking = pod_of(members)["initContainers"]
    assert taking["args"] == ["take", pod_parts.DATA]
    (mount,) = taking["volumeMounts"]
    assert mount in unit_of(members)["volumeMounts"]
    rights = ("securityContext", "image", "imagePullPolicy", "resources")
    assert all(taking[key] == naming[key] for key in rights)
    assert pod_of(replace(members, filled=False))["initContainers"] == [naming]


def test_software_whose_layer_is_filled_takes_its_files_itself_and_then_starts() -> None:
    members = replace(MEMBERS, filled=True)
    naming, copying = pod_of(members)["initContainers"]
    unit, (mount,) = unit_of(members), copying["volumeMounts"]
    assert copying["args"] == ["copy-self", mount["mountPath"]]
    assert copying["securityContext"] == naming["securityContext"] == unit["securityContext"]
    assert unit["command"] == [f"{mount['mountPath']}/tare-pod"]
    assert unit["args"] == ["take", pod_parts.DATA, "--", *CONTAINER.command]
    assert unit["image"] == CONTAINER.image
    assert {**mount, "readOnly": True} in unit["volumeMounts"]
    volumes = [one["name"] for one in pod_of(members)["volumes"] if "emptyDir" in one]
    assert volumes == [mount["name"]]
    assert unit_of(MEMBERS)["command"] == list(CONTAINER.command[:1])


@pytest.mark.parametrize(
    "made",
    [
        manifests.namespace("tare-a-run", "a-run", "host"),
        manifests.headless_service(MEMBERS),
        manifests.node_service(MEMBERS, 0),
        manifests.files_of(MEMBERS),
        manifests.stateful_set(MEMBERS, 1),
        manifests.stateful_set(MEMBERS, 1)["spec"]["template"],
        jobs.job("j", pod_parts.labels_of("a-run"), {}, None),
        jobs.job("j", pod_parts.labels_of("a-run"), {}, None)["spec"]["template"],
    ],
    ids=lambda made: made.get("kind", "template"),
)
def test_everything_carries_the_runs_label(made: dict[str, Any]) -> None:
    assert made["metadata"]["labels"]["tare.run"] == "a-run"


def test_each_pod_sees_its_own_files_only() -> None:
    volume = pod_of(MEMBERS)["volumes"][0]["configMap"]
    kept = manifests.files_of(MEMBERS)["data"]
    shown = {item["path"]: kept[item["key"]] for item in volume["items"]}
    assert shown == {"c-0/cassandra.yaml": "a: 0", "c-1/cassandra.yaml": "a: 1"}
    (mount,) = unit_of(MEMBERS)["volumeMounts"]
    assert mount["subPathExpr"] == "$(TARE_POD)"
    assert mount["mountPath"] == pod_parts.CONF


def test_the_unit_starts_once_its_name_is_known() -> None:
    (first,) = pod_of(MEMBERS)["initContainers"]
    assert first["image"] == "tare/pod:1"
    assert first["args"][0] == "await-name"
    assert first["args"][-1] == "$(TARE_POD).c"


def test_a_name_is_published_before_a_pod_is_ready() -> None:
    service = manifests.headless_service(MEMBERS)["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True


def test_a_service_in_front_of_a_pod_finds_that_pod_alone() -> None:
    service = manifests.node_service(MEMBERS, 1)
    assert service["metadata"]["name"] == "c-1"
    assert service["spec"]["selector"] == {"statefulset.kubernetes.io/pod-name": "c-1"}
    assert service["spec"]["type"] == "ClusterIP"
    with_port = manifests.node_service(replace(MEMBERS, network="node-port"), 1)
    assert with_port["spec"]["type"] == "NodePort"


@pytest.mark.parametrize(
    ("network", "on_node", "ports", "own"),
    [
        ("container-dns", {}, [{"containerPort": 9042}, {"containerPort": 7000}], False),
        (
            "host-port",
            {9042: 9142},
            [{"containerPort": 9042, "hostPort": 9142}, {"containerPort": 7000}],
            False,
        ),
        (
            "host",
            {9042: 9142, 7000: 7100},
            [
                {"containerPort": 9142, "hostPort": 9142},
                {"containerPort": 7100, "hostPort": 7100},
            ],
            True,
        ),
    ],
)
def test_ports_of_nodes_lead_to_the_pod(
    network: str, on_node: dict[int, int], ports: list[dict[str, int]], own: bool
) -> None:
    members = replace(MEMBERS, network=network, on_node=on_node)
    assert unit_of(members)["ports"] == ports
    assert pod_of(members)["hostNetwork"] is own


def test_requests_are_the_limits_unless_they_are_given() -> None:
    # without requests, Kubernetes uses the limits and gives the pod QoS class Guaranteed
    assert unit_of(MEMBERS)["resources"] == {"limits": {"cpu": "1500m", "memory": str(GIB)}}
    less = replace(CONTAINER, requests=Limits(cpus=0.5))
    found = unit_of(replace(MEMBERS, container=less))["resources"]
    assert found["requests"] == {"cpu": "500m"}


def test_without_limits_nothing_is_said_of_resources() -> None:
    free = replace(CONTAINER, limits=Limits())
    assert unit_of(replace(MEMBERS, container=free))["resources"] == {}


@pytest.mark.parametrize(
    ("storage", "volume"),
    [
        ("layer", None),
        ("emptydir", {"name": "data", "emptyDir": {}}),
        (
            "host-path",
            {
                "name": "data",
                "hostPath": {"path": "/var/lib/tare/tare-a-run.c", "type": "DirectoryOrCreate"},
            },
        ),
    ],
)
def test_data_lies_where_the_study_says(storage: str, volume: dict[str, Any] | None) -> None:
    members = replace(MEMBERS, storage=storage)
    volumes = [one for one in pod_of(members)["volumes"] if one["name"] == "data"]
    assert volumes == ([volume] if volume else [])
    mounts = [m for m in unit_of(members)["volumeMounts"] if m["name"] == "data"]
    assert [m["mountPath"] for m in mounts] == ([pod_parts.DATA] if volume else [])


def test_pods_of_one_node_do_not_share_a_directory_of_it() -> None:
    (mount,) = [
        m
        for m in unit_of(replace(MEMBERS, storage="host-path"))["volumeMounts"]
        if m["name"] == "data"
    ]
    assert mount["subPathExpr"] == "$(TARE_POD)"


def test_volume_claims_go_with_their_set() -> None:
    placement = Placement(volume_size=GIB, storage_class="fast")
    made = manifests.stateful_set(replace(MEMBERS, storage="pvc", placement=placement), 1)["spec"]
    (claim,) = made["volumeClaimTemplates"]
    assert claim["spec"]["storageClassName"] == "fast"
    assert claim["spec"]["resources"]["requests"]["storage"] == str(GIB)
    assert made["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"


@pytest.mark.parametrize(
    ("spread", "rule"),
    [
        ("required", "requiredDuringSchedulingIgnoredDuringExecution"),
        ("preferred", "preferredDuringSchedulingIgnoredDuringExecution"),
        ("none", None),
    ],
)
def test_nodes_of_a_cluster_keep_apart_as_the_study_says(spread: Any, rule: str | None) -> None:
    placement = Placement(spread=spread, node_selector={"disk": "nvme"})
    pod = pod_of(replace(MEMBERS, placement=placement))
    assert pod["nodeSelector"] == {"disk": "nvme"}
    assert list(pod.get("affinity", {}).get("podAntiAffinity", {})) == ([rule] if rule else [])


@pytest.mark.parametrize(("spread", "prefers"), [("preferred", "m1"), ("none", None)])
def test_the_first_pod_of_sets_that_are_alike_lies_on_one_machine(
    spread: Any, prefers: str | None
) -> None:
    pod = pod_of(replace(MEMBERS, placement=Placement(spread=spread), first="m1"))
    chosen = [
        value
        for term in pod.get("affinity", {})
        .get("nodeAffinity", {})
        .get("preferredDuringSchedulingIgnoredDuringExecution", [])
        for field in term["preference"]["matchFields"]
        for value in field["values"]
    ]
    assert chosen == ([prefers] if prefers else [])


def test_images_that_were_given_to_nodes_are_never_fetched() -> None:
    assert unit_of(MEMBERS)["imagePullPolicy"] == "Never"
    fetched = replace(CONTAINER, pull=True)
    assert unit_of(replace(MEMBERS, container=fetched))["imagePullPolicy"] == "IfNotPresent"


def test_a_client_hands_its_files_over_after_its_end() -> None:
    pod = jobs.client_pod(CONTAINER, "tare/pod:1", "client", ["load.json"], on_node=False)
    (client,) = pod["initContainers"]
    (after,) = pod["containers"]
    assert client["command"] == ["/java"]
    assert after["args"] == ["hand-over", pod_parts.CONF, "--skip", "load.json"]
    assert {m["mountPath"] for m in client["volumeMounts"]} == {
        pod_parts.CONF,
        f"{pod_parts.CONF}/load.json",
    }
    (away,) = next(iter(pod["affinity"]["podAntiAffinity"].values()))
    (label,) = away["podAffinityTerm"]["labelSelector"]["matchExpressions"]
    assert label["key"] == POD_LABEL, "where a machine has no node of a database, it runs there"


def test_what_is_removed_from_a_node_lies_below_tares_own_directory() -> None:
    pod = jobs.removing_pod(CONTAINER, "m1")
    (volume,) = pod["volumes"]
    assert volume["hostPath"]["path"] == "/var/lib/tare"
    assert pod["nodeName"] == "m1"
