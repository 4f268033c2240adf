"""Which packets a tap counts: the kernel's own filter on hand-made headers."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface
from types import SimpleNamespace
from typing import Any

import pytest

from tare.monitor import packet_tap
from tare.monitor.packet_tap import Bridge, attach, bridge_of, clients_packets

OWN = IPv4Interface("198.19.7.1/24")
NODE, OTHER_NODE = "198.19.7.100", "198.19.7.101"
PUBLISHED, PUBLISHED_OTHER = "198.18.0.1", "198.18.0.2"
PROXY = str(OWN.ip)
"""the source address of docker-proxy, and of netavark's masquerade, towards a container"""
CLIENT_PORT, PORT, STORAGE = 40_001, 9042, 7000


def packet(
    source: str, source_port: int, destination: str, port: int, *, words: int = 0, **changed: int
) -> bytes:
    """An IPv4 header with `words` words of options, and the ports that follow it."""
    fields = {"version": 4, "fragment": 0, "protocol": 6} | changed
    head = struct.pack(
        "!BBHHHBBH4s4s", fields["version"] << 4 | 5 + words, 0, 40, 1, fields["fragment"], 64,
        fields["protocol"], 0, IPv4Address(source).packed, IPv4Address(destination).packed,
    )  # fmt: skip
    return head + b"\x01\x01\x01\x01" * words + struct.pack("!HH", source_port, port)


def passes(told: bytes) -> bool:
    """Whether the packet passes the kernel's filter."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        attach(theirs, clients_packets(OWN, PORT))
        theirs.setblocking(False)
        with contextlib.suppress(OSError):  # raised when the filter drops the packet
            ours.send(told)
        try:
            return bool(theirs.recv(100))
        except BlockingIOError:
            return False


@pytest.mark.parametrize(
    "told",
    [
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT),
        packet(NODE, PORT, PUBLISHED, CLIENT_PORT),
        packet("10.1.2.3", CLIENT_PORT, OTHER_NODE, PORT),
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT, words=2),
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT, fragment=0x4000),  # the flag DF: do not fragment
    ],
    ids=["asks", "answers", "from elsewhere", "with options", "whole"],
)
def test_a_client_s_packets_are_counted(told: bytes) -> None:
    assert passes(told)


@pytest.mark.parametrize(
    "told",
    [
        packet(NODE, CLIENT_PORT, PUBLISHED_OTHER, STORAGE),
        packet(PUBLISHED_OTHER, STORAGE, NODE, CLIENT_PORT),
        packet(PROXY, CLIENT_PORT, OTHER_NODE, STORAGE),
        packet(OTHER_NODE, STORAGE, PROXY, CLIENT_PORT),
    ],
    ids=["to the proxy", "from it", "it asks a node", "its answer"],
)
def test_what_nodes_send_each_other_is_not(told: bytes) -> None:
    assert not passes(told)


@pytest.mark.parametrize(
    "told",
    [
        packet(NODE, CLIENT_PORT, PUBLISHED_OTHER, PORT),
        packet(PUBLISHED_OTHER, PORT, NODE, CLIENT_PORT),
        packet(PROXY, CLIENT_PORT, OTHER_NODE, PORT),
        packet(OTHER_NODE, PORT, PROXY, CLIENT_PORT),
    ],
    ids=["to the proxy", "from it", "it asks a node", "its answer"],
)
def test_nor_is_it_where_nodes_use_the_clients_own_port(told: bytes) -> None:
    """MongoDB's nodes do this."""
    assert not passes(told)


@pytest.mark.parametrize(
    "told",
    [
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT, protocol=17),
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT, version=6),
        packet(PUBLISHED, CLIENT_PORT, NODE, PORT, fragment=0x2001),
        b"\x00\x01\x08\x00",
    ],
    ids=["UDP", "IPv6", "a later fragment", "ARP"],
)
def test_what_has_no_port_of_tcp_is_not(told: bytes) -> None:
    assert not passes(told)


def test_a_unit_s_bridge_is_the_device_of_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def has(address: str, netmask: str | None) -> Any:
        return SimpleNamespace(family=socket.AF_INET, address=address, netmask=netmask)

    devices = {
        "lo": [has("127.0.0.1", "255.0.0.0"), has("198.18.0.1", "255.255.255.255")],
        "tare-br7": [has("198.19.7.1", "255.255.255.0")],
        "none": [SimpleNamespace(family=socket.AF_INET6, address="::1", netmask=None)],
    }
    monkeypatch.setattr(packet_tap.psutil, "net_if_addrs", lambda: devices)
    assert bridge_of(NODE) == Bridge("tare-br7", OWN)
    assert bridge_of("198.18.0.1") is None
    assert bridge_of("198.19.8.100") is None


ASKED = """
import socket, sys
from ipaddress import IPv4Interface
from tare.monitor.packet_tap import Bridge, PacketTap

device, own, published, node = sys.argv[1:]

def asks(source, port, often):
    for _ in range(often):  # nobody serves it: one packet asks, one answers that (RST)
        with socket.socket() as tried:
            tried.bind((source, 0))
            try:
                tried.connect((node, port))
            except ConnectionRefusedError:
                pass

tap = PacketTap(Bridge(device, IPv4Interface(own)), 9042)
asks(published, 9042, 5)
asks(own.partition("/")[0], 9042, 3)
asks(published, 7000, 3)
print(tap.take(), tap.take())
asks(published, 9042, 400)  # more than the socket has room for
print(tap.take())
tap.close()
try:
    tap.take()
except OSError:
    print("closed")
"""


@pytest.fixture
def machine() -> Iterator[list[str]]:
    """The command prefix that runs a program in a namespace for this machine.

    A pair of devices links this namespace to the namespace of a node.
    """
    if os.geteuid() != 0:
        pytest.skip(
            "only root makes network namespaces; as root: "
            ".venv/bin/pytest tests/monitor/test_packet_tap.py"
        )
    here, node = (f"tap{os.getpid()}{end}" for end in "ab")
    with contextlib.ExitStack() as stack:
        for one in (here, node):
            _ip(f"netns add {one}")
            stack.callback(_ip, f"netns del {one}")
            _ip(f"-n {one} link set lo up")
        _ip(f"-n {here} link add name tapped type veth peer name far netns {node}")
        _ip(f"-n {here} addr add {OWN} dev tapped")
        _ip(f"-n {here} addr add {PUBLISHED}/32 dev lo")
        _ip(f"-n {here} link set tapped up")
        _ip(f"-n {node} addr add {NODE}/24 dev far")
        _ip(f"-n {node} link set far up")
        _ip(f"-n {node} route add default via {OWN.ip}")
        yield ["ip", "netns", "exec", here]


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def test_packets_are_seen_to_be_counted_both_ways_and_each_once(machine: list[str]) -> None:
    words = [sys.executable, "-c", ASKED, "tapped", str(OWN), PUBLISHED, NODE]
    done = subprocess.run([*machine, *words], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [str(2 * 5), "0", str(2 * 400), "closed"], done.stderr
