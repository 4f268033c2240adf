"""Which network, storage and plugin go with which runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDY = "study: x\nplatform: {{{platform}}}\n"


@pytest.mark.parametrize(
    "platform",
    [
        # Truyen et al. 2018, section IV: deployments of RQ1 to RQ3
        "runtime: native, address: host-name",
        "runtime: native, address: floating-ip",
        "runtime: docker, address: host-name",
        "runtime: swarm, network: host-port, plugin: docker-gwbridge, storage: volume",
        "runtime: swarm, network: node-port, plugin: overlay, storage: volume",
        "runtime: swarm, network: service-ip, plugin: weave, storage: volume",
        "runtime: kubernetes, network: host-port, plugin: weave, storage: host-path",
        "runtime: kubernetes, network: service-ip, plugin: flannel-vxlan, storage: host-path",
        "runtime: kubernetes, network: container-dns, plugin: bridge, storage: emptydir",
        # Shirinbab et al. 2020; the KVM thesis
        "machines: vmware",
        "machines: kvm",
        "machines: kvm, runtime: docker, network: bridge, storage: volume",
        # hosts of an inventory
        "machines: ssh",
        "machines: ssh, runtime: docker, network: published, storage: volume",
        "machines: ssh, runtime: docker, network: host, storage: layer",
    ],
)
def test_the_platforms_of_the_papers_can_be_declared(read: ReadStudy, platform: str) -> None:
    assert read(STUDY.format(platform=platform)).study == "x"


@pytest.mark.parametrize(
    ("platform", "what", "remedy"),
    [
        ("network: bridge", "platform.network: bridge with platform.runtime native", "docker"),
        (
            "network: service-ip",
            "platform.network: service-ip with platform.runtime native",
            "platform.runtime to kubernetes or swarm",
        ),
        (
            "runtime: docker, network: node-port",
            "platform.network: node-port with platform.runtime docker",
            "set platform.network to host or bridge or published",
        ),
        (
            "runtime: docker, plugin: weave",
            "platform.plugin: weave with platform.runtime docker",
            'set platform.plugin to ""',
        ),
        (
            "runtime: swarm, network: host-port, plugin: flannel-vxlan, storage: layer",
            "platform.plugin: flannel-vxlan with platform.runtime swarm",
            "overlay",
        ),
        (
            "runtime: kubernetes, storage: volume",
            "platform.storage: volume with platform.runtime kubernetes",
            "host-path or pvc",
        ),
        (
            "runtime: swarm, storage: directory",
            "platform.storage: directory with platform.runtime swarm",
            "volume or layer",
        ),
        (
            "runtime: swarm, storage: pvc",
            "platform.storage: pvc with platform.runtime swarm",
            "kubernetes",
        ),
    ],
)
def test_what_a_runtime_does_not_have_is_refused(
    refuse: RefuseStudy, platform: str, what: str, remedy: str
) -> None:
    error = refuse(STUDY.format(platform=platform))
    assert error.where == "study.yaml:2"
    assert what in error.what
    assert remedy in error.remedy


def test_the_runtimes_that_have_it_are_named(refuse: RefuseStudy) -> None:
    error = refuse(STUDY.format(platform="runtime: docker, network: host-port"))
    assert "it is for kubernetes and swarm" in error.why


def test_a_level_that_changes_the_runtime_is_where_the_clash_came_in(refuse: RefuseStudy) -> None:
    error = refuse(
        "study: x\n"
        "platform: {runtime: docker, network: published, storage: volume}\n"
        "factors:\n"
        "  platform:\n"
        "    docker: {}\n"
        "    k8s: {platform.runtime: kubernetes}\n"
        "baseline: {platform: docker}\n"
    )
    assert error.where == "study.yaml:6"


def test_an_unknown_plugin_is_refused_with_those_that_there_are(refuse: RefuseStudy) -> None:
    error = refuse(STUDY.format(platform="runtime: kubernetes, storage: pvc, plugin: flanel-vxlan"))
    assert "did you mean flannel-vxlan?" in error.remedy
    assert "one of flannel-vxlan, flannel-host-gw" in error.why


CLIENTS = "study: x\nplatform: {{{platform}}}\nclient: {{{client}}}\n"


@pytest.mark.parametrize(
    ("platform", "client", "what", "remedy"),
    [
        (
            "runtime: docker, storage: volume",
            "runtime: swarm",
            "client.runtime: swarm with platform.runtime docker",
            "platform.runtime to swarm instead of docker",
        ),
        (
            "runtime: swarm, network: container-dns, storage: volume",
            "runtime: swarm, network: host",
            "client.network: host with platform.network container-dns of a Swarm",
            "set client.network to bridge",
        ),
    ],
)
def test_a_client_that_has_no_way_to_the_nodes_is_refused(
    refuse: RefuseStudy, platform: str, client: str, what: str, remedy: str
) -> None:
    error = refuse(CLIENTS.format(platform=platform, client=client))
    assert what in error.what
    assert remedy in error.remedy


def test_a_client_beside_the_services_of_a_swarm_reaches_them_by_name(read: ReadStudy) -> None:
    platform = "runtime: swarm, network: container-dns, storage: volume"
    study = read(CLIENTS.format(platform=platform, client="runtime: swarm, network: bridge"))
    assert study.client.network == "bridge"


@pytest.mark.parametrize(
    ("text", "line", "what", "remedy"),
    [
        (
            "platform:\n  machines: ssh\n  runtime: kubernetes\n  storage: pvc\n",
            4,
            "platform.machines: ssh with platform.runtime kubernetes",
            "set platform.machines to local",
        ),
        (
            "platform:\n  machines: ssh\n  runtime: docker\n  network: bridge\n",
            5,
            "platform.network: bridge with platform.machines ssh",
            "platform.network to published, which is that bridge",
        ),
        (
            "platform:\n  hosts: vmware\n",
            3,
            "platform.hosts: vmware with platform.machines local",
            "set platform.machines to ssh",
        ),
        (
            "client: {machines: ssh}\n",
            2,
            "client.machines: ssh with platform.machines local",
            "set platform.machines to ssh",
        ),
        (
            "platform: {machines: ssh}\nclient:\n  machines: ssh\n  network: bridge\n",
            5,
            "client.network: bridge with client.runtime native",
            "host",
        ),
        (
            "platform: {runtime: swarm, storage: layer}\n"
            "client: {runtime: swarm, network: bridge, machines: ssh}\n",
            3,
            "client.machines: ssh with platform.machines local",
            "client.machines to local",
        ),
    ],
)
def test_hosts_of_an_inventory_go_with_what_they_have(
    refuse: RefuseStudy, text: str, line: int, what: str, remedy: str
) -> None:
    error = refuse(f"study: x\n{text}")
    assert error.where.endswith(f":{line}")
    assert error.what == what
    assert remedy in error.remedy
