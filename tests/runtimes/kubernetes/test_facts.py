"""Facts of a cluster, from its API."""

from __future__ import annotations

import pytest

from tare.runtimes.kubernetes.facts import plugin_of, read_facts
from tests.runtimes.kubernetes.scripted_api import ScriptedApi, machine


@pytest.mark.parametrize(
    ("notes", "plugin"),
    [
        ({"flannel.alpha.coreos.com/backend-type": "vxlan"}, "flannel-vxlan"),
        ({"flannel.alpha.coreos.com/backend-type": "host-gw"}, "flannel-host-gw"),
        ({"projectcalico.org/IPv4Address": "10.0.0.1/24"}, "calico"),
        ({"tare/network-plugin": "bridge"}, "bridge"),
        ({"something/else": "x"}, ""),
        ({}, ""),
    ],
)
def test_the_network_plugin_is_known_by_its_notes_on_nodes(
    notes: dict[str, str], plugin: str
) -> None:
    node = machine("m1", metadata={"annotations": notes})
    assert plugin_of([node]) == plugin


def test_the_proxys_mode_is_read_from_its_settings_where_these_may_be_read() -> None:
    api = ScriptedApi()
    assert read_facts(api).proxy == ""
    api.kept["ConfigMap", "kube-system", "kube-proxy"] = {
        "kind": "ConfigMap",
        "metadata": {"name": "kube-proxy"},
        "data": {"config.conf": 'kind: KubeProxyConfiguration\nmode: "nftables"\n'},
    }
    assert read_facts(api).proxy == "nftables"


def test_only_machines_that_can_take_a_pod_are_usable() -> None:
    silent = [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped"}]
    master = {"taints": [{"key": "node-role", "effect": "NoSchedule"}]}
    api = ScriptedApi(
        nodes=[
            machine("m1"),
            machine("m2", conditions=silent),
            machine("m3", spec=master),
            machine("m4", spec={"unschedulable": True}),
        ]
    )
    facts = read_facts(api)
    assert [one.name for one in facts.usable] == ["m1"]
    assert facts.fitting({"kubernetes.io/hostname": "m1"}) == facts.usable
    assert facts.fitting({"disk": "nvme"}) == []


def test_records_hold_what_matters_of_a_machine() -> None:
    kept = read_facts(ScriptedApi()).as_dict()
    assert kept["network plugin"] == "flannel-vxlan"
    assert [one["address"] for one in kept["machines"]] == ["10.0.0.1", "10.0.0.2"]
