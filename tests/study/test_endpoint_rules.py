"""Which endpoint goes with which platform, and with which client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

BRIDGED = "platform: {{runtime: docker, network: bridge, endpoint: {endpoint}}}\n"


@pytest.mark.parametrize("endpoint", ["loopback", "bridge", "published", "proxy"])
def test_a_container_on_a_bridge_has_every_endpoint(read: ReadStudy, endpoint: str) -> None:
    study = read("study: x\n" + BRIDGED.format(endpoint=endpoint))
    assert study.platform.endpoint == endpoint


@pytest.mark.parametrize("runtime", ["kubernetes", "swarm"])
@pytest.mark.parametrize("endpoint", ["host-port", "node-port", "service-ip", "container-dns"])
def test_a_unit_of_an_orchestrator_has_every_endpoint_at_once(
    read: ReadStudy, runtime: str, endpoint: str
) -> None:
    study = read(
        f"study: x\ndatabase: {{nodes: 3, replication_factor: 3}}\n"
        f"platform: {{runtime: {runtime}, storage: layer, network: container-dns, "
        f"endpoint: {endpoint}}}\nclient: {{runtime: {runtime}, network: bridge}}\n"
    )
    assert study.platform.way == endpoint


@pytest.mark.parametrize(
    "text",
    [
        "platform: {endpoint: loopback}\n",
        "database: {nodes: 3, replication_factor: 3}\n" + BRIDGED.format(endpoint="published"),
        "platform: {endpoint: loopback}\nclient: {runtime: docker}\n",
        "client: {runtime: docker, network: bridge}\n" + BRIDGED.format(endpoint="bridge"),
        "client: {runtime: docker}\n" + BRIDGED.format(endpoint="proxy"),
    ],
)
def test_what_a_client_can_reach_is_no_problem(read: ReadStudy, text: str) -> None:
    assert read(f"study: x\n{text}").platform.endpoint


@pytest.mark.parametrize(
    ("text", "line", "what", "remedy"),
    [
        (
            "platform: {endpoint: proxy}\n",
            2,
            "platform.endpoint: proxy with platform.runtime native",
            'set platform.endpoint to "" or loopback, or platform.runtime to docker',
        ),
        (
            "platform:\n  runtime: kubernetes\n  storage: pvc\n  endpoint: bridge\n",
            5,
            "platform.endpoint: bridge with platform.runtime kubernetes",
            'platform.endpoint to ""',
        ),
        (
            "platform: {runtime: swarm, storage: layer, endpoint: published}\n",
            2,
            "platform.endpoint: published with platform.runtime swarm",
            "docker",
        ),
        (
            "platform:\n  runtime: docker\n  endpoint: proxy\n  network: published\n",
            5,
            "platform.endpoint: proxy with platform.network published",
            "set platform.network to bridge",
        ),
        (
            "database: {nodes: 3, replication_factor: 3}\n" + BRIDGED.format(endpoint="loopback"),
            3,
            "platform.endpoint: loopback with database.nodes 3",
            "set database.nodes to 1",
        ),
        (
            "platform: {runtime: kubernetes, storage: pvc, endpoint: node-port}\n",
            2,
            "platform.endpoint: node-port with platform.network host",
            "set platform.network to container-dns",
        ),
        (
            "platform: {runtime: swarm, storage: layer, network: container-dns, "
            "endpoint: service-ip}\nclient: {runtime: swarm}\n",
            3,
            "client.network: host with platform.network service-ip of a Swarm",
            "platform.network to host-port",
        ),
        (
            "platform: {machines: ssh, endpoint: loopback}\n",
            2,
            "platform.endpoint: loopback with platform.machines ssh",
            "platform.machines to local",
        ),
        (
            BRIDGED.format(endpoint="loopback") + "client: {runtime: docker}\n",
            3,
            "platform.endpoint: loopback with client.runtime docker",
            "client.runtime to native",
        ),
        (
            "platform: {endpoint: loopback}\nclient: {runtime: docker, network: bridge}\n",
            3,
            "platform.endpoint: loopback with client.network bridge",
            "leave platform.endpoint out",
        ),
        (
            BRIDGED.format(endpoint="proxy") + "client: {runtime: docker, network: bridge}\n",
            3,
            "platform.endpoint: proxy with client.network bridge",
            "client.network to host",
        ),
        (
            BRIDGED.format(endpoint="published") + "client: {runtime: docker, network: bridge}\n",
            3,
            "platform.endpoint: published with client.network bridge",
            "platform.endpoint to bridge",
        ),
    ],
)
def test_an_endpoint_that_would_not_be_what_it_says_is_refused(
    refuse: RefuseStudy, text: str, line: int, what: str, remedy: str
) -> None:
    error = refuse(f"study: x\n{text}")
    assert error.where == f"study.yaml:{line}"
    assert error.what == what
    assert remedy in error.remedy
    assert "(condition base)" in error.why
