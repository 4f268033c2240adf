"""Networks of virtual machines: made, mended, owned and left for real, in a network namespace of
the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tare.machines import neighbours
from tare.machines.addresses import AddressPool
from tare.machines.kvm.bridge import BRIDGE
from tare.machines.kvm.network import Network, device
from tare.machines.kvm.networks import NETWORKS

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or neighbours.cannot() != "",
    reason="only root, with iptables, makes guarded networks; `sudo make test` runs it",
)
IMPORTS = """\
import contextlib, os, pathlib, tempfile
from tare.machines import neighbours
from tare.machines.kvm import networks
from tare.machines.kvm.network import SYSFS, ip
network = networks.NETWORKS[{0!r}]
"""
Namespace = list[str]


@pytest.fixture(params=NETWORKS.values(), ids=NETWORKS)
def network(request: pytest.FixtureRequest) -> Network:
    found: Network = request.param
    return found


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """The words before a command that runs in the namespace."""
    name = f"tare-test-vm-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        yield ["ip", "netns", "exec", name]
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def printed(namespace: Namespace, network: Network, code: str) -> str:
    """What a process prints that runs this code and ends."""
    words = [*namespace, sys.executable, "-c", IMPORTS.format(network.name) + code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def holder(namespace: Namespace, network: Network) -> Iterator[subprocess.Popen[str]]:
    """Another process that has made the network, and goes on."""
    waits = "network.make(); print('made', flush=True); input()"
    process = subprocess.Popen(
        [*namespace, sys.executable, "-c", IMPORTS.format(network.name) + waits],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        yield process
        process.kill()


def test_another_process_neither_finds_nor_removes_that_of_a_run_that_goes_on(
    namespace: Namespace, network: Network, holder: subprocess.Popen[str]
) -> None:
    assert printed(namespace, network, "print(networks.left())") == "[]"
    assert printed(namespace, network, "networks.remove(); print(network.there())") == "True"
    guard = "print(neighbours.kept_out() == [*neighbours.RULES])"
    assert printed(namespace, network, guard) == "True", "neighbours are still kept out"
    refused = printed(namespace, network, "network.make()")
    assert "another process of Tare's has it" in refused
    assert str(holder.pid) in refused


def test_that_of_a_killed_run_is_found_and_removed(
    namespace: Namespace, network: Network, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait()
    assert printed(namespace, network, "print(networks.left())") == f"['{network.owned}']"
    gone = "networks.remove(); print(network.there(), (SYSFS / network.device).exists(), "
    assert printed(namespace, network, gone + "neighbours.kept_out())") == "False False []"


def test_a_network_that_is_there_is_left_as_it_is(
    namespace: Namespace, network: Network, holder: subprocess.Popen[str]
) -> None:
    index = "print((SYSFS / network.device / 'ifindex').read_text())"
    before = printed(namespace, network, index)
    assert before.isdigit()
    assert printed(namespace, network, f"network.mend(); {index}") == before
    assert holder.poll() is None


def test_a_bridge_that_was_lost_is_made_again_with_the_domains_that_run(
    namespace: Namespace,
) -> None:
    """Those on macvtap, which the same run may have, are not for a bridge."""
    subprocess.run([*namespace, "ip", "tuntap", "add", device(1), "mode", "tap"], check=True)
    other = (
        "other = networks.NETWORKS['macvtap']; other.make()\n"
        "with other.card(0, '02:00:c6:13:fe:0a', pathlib.Path(tempfile.mkdtemp())): pass\n"
    )
    again = f"network.make(); ip('link', 'del', '{BRIDGE}'); network.mend(); "
    attached = f"print(*(p.name for p in (SYSFS / '{BRIDGE}' / 'brif').iterdir()))"
    assert printed(namespace, NETWORKS["bridge"], other + again + attached) == device(1)


def test_what_cannot_be_made_whole_leaves_nothing(namespace: Namespace) -> None:
    """A device of this name is there, as of a program that is not Tare."""
    taken = ["ip", "link", "add", "tare-br-macvtap", "type", "bridge"]
    subprocess.run([*namespace, *taken], check=True)
    code = "print(network.there())"
    refused = printed(namespace, NETWORKS["macvtap"], f"try: network.make()\nfinally: {code}")
    assert refused.startswith("False")
    assert "ip link add link tare-lower0 name tare-br-macvtap" in refused
    assert "failed" in refused


MACVTAP = """
network.make()
directory = pathlib.Path(tempfile.mkdtemp())
for life in range(2):
    with network.card(0, '02:00:c6:13:fe:0a', directory) as card:
        print(card.netdev == f'tap,id=net,fd={card.open_files[0]}', end=' ')
        print((SYSFS / 'tare-vm0' / 'address').read_text().strip(), end=' ')
        frame = bytes(10) + bytes.fromhex('ffffffffffff0200c613fe0a0806') + bytes(46)
        print(os.write(card.open_files[0], frame))
"""


def test_a_domain_on_macvtap_has_a_device_of_its_guest_s_address_in_each_of_its_lives(
    namespace: Namespace,
) -> None:
    lines = printed(namespace, NETWORKS["macvtap"], MACVTAP).splitlines()
    assert lines == ["True 02:00:c6:13:fe:0a 70"] * 2


def test_networks_and_container_networks_have_addresses_of_their_own() -> None:
    pool = AddressPool()
    others = [pool.network() for _ in range(254)]
    own = [each.addresses for each in NETWORKS.values()]
    assert not own[0].overlaps(own[1])
    assert not any(one.overlaps(other) for one in own for other in others)
