"""A path is described by what replies showed of it."""

from __future__ import annotations

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.replies import Reply
from tare.runtimes.swarm.path import in_words, network_facts, refuse_broken

OVERLAY = network_facts(
    {
        "Name": "n",
        "Driver": "overlay",
        "Options": {"com.docker.network.driver.overlay.vxlanid_list": "4098", "encrypted": ""},
        "IPAM": {"Config": [{"Subnet": "10.0.2.0/24"}]},
    }
)


def test_a_network_is_known_by_driver_encapsulation_and_number() -> None:
    assert OVERLAY == {
        "name": "n",
        "driver": "overlay",
        "encapsulation": "VXLAN",
        "encrypted": True,
        "virtual network": "4098",
        "subnets": ["10.0.2.0/24"],
    }


def test_translation_and_encapsulation_are_said() -> None:
    told = Reply("t", "1.1.1.1:1", "2.2.2.2:9042", "u", "3.3.3.3:1", "172.18.0.3:9042", {"e": 1450})
    assert in_words("host-port", [told], OVERLAY) == (
        "host-port, published port of its node, docker_gwbridge, destination translated, "
        "source translated, MTU 1450"
    )
    assert in_words("container-dns", [], OVERLAY) == (
        "container-dns, overlay network, VXLAN, encrypted"
    )


def test_a_connection_that_a_program_passed_on_is_told_from_one_that_was_translated() -> None:
    """Observed: docker-proxy relays a client on docker_gwbridge to a port of its own node."""
    told = Reply(
        "10.216.1.11:9150", "172.18.0.5:52732", "10.216.1.11:9150",
        "n1", "172.18.0.1:44956", "172.18.0.4:9042",
    )  # fmt: skip
    assert in_words("host-port", [told], OVERLAY).endswith("as docker-proxy is")


@pytest.mark.parametrize(("ip_vs", "said"), [(False, True), (None, False)])
def test_the_kernel_is_blamed_only_where_it_is_known_to_lack_ip_vs(
    ip_vs: bool | None, said: bool
) -> None:
    silent = [Reply("10.0.0.2:9042", why="connection timed out")]
    with pytest.raises(RuntimeUnavailableError) as caught:
        refuse_broken("service-ip", {"10.0.0.2:9042": "n1"}, silent, "here", ip_vs)
    assert "10.0.0.2:9042 (n1): connection timed out" in caught.value.why
    assert ("kernel lacks IP_VS" in caught.value.why) == said


def test_a_target_that_nobody_asked_is_no_proof() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        refuse_broken("host-port", {"10.0.0.2:9042": "n1"}, [], "here", None)
    assert "it was not asked" in caught.value.why
