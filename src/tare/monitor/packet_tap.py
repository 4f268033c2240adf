"""Packets between clients on this machine and one port of the units on a bridge of it.

If nodes of a cluster reach each other by published ports, an engine's proxy sends and receives
their packets in this machine's network namespace. Clients use the same namespace, so the kernel's
counters hold both. A packet socket on the bridge, with a filter for the clients' port, counts the
clients' packets alone. It makes every packet on the bridge dearer by a tenth of a microsecond or
two. So it is open in warm-up slices only, like counters of system calls (tare.monitor.calls).
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
from ipaddress import IPv4Address, IPv4Interface
from typing import NamedTuple

import psutil

_EVERY = 0x0003
"""ETH_P_ALL of linux/if_ether.h: sent packets are seen, too"""
_PACKET, _STATISTICS = 263, 6
"""SOL_PACKET of linux/socket.h, PACKET_STATISTICS of linux/if_packet.h"""
_ATTACH_FILTER = 26
"""SO_ATTACH_FILTER of asm-generic/socket.h"""
_TCP = 6


class Bridge(NamedTuple):
    """A bridge of this machine.

    Attributes:
        device: its name.
        own: the machine's address on it, with the network's prefix.
    """

    device: str
    own: IPv4Interface


def bridge_of(address: str) -> Bridge | None:
    """This machine's device whose network has this address of a unit; None: there is none."""
    wanted = IPv4Address(address)
    for device, addresses in psutil.net_if_addrs().items():
        for one in addresses:
            if one.family != socket.AF_INET or not one.netmask:
                continue
            own = IPv4Interface(f"{one.address}/{one.netmask}")
            if wanted in own.network and wanted != own.ip and own.network.prefixlen < 32:
                return Bridge(device, own)
    return None


class PacketTap:
    """Counts from its beginning until it is closed.

    A packet counts if it goes to, or comes from, the port of an address in the bridge's network,
    and its other end is not the machine's own address there. That address is a proxy's; clients'
    connections to a published port do not have it.
    """

    def __init__(self, bridge: Bridge, port: int) -> None:
        """Begin.

        Args:
            port: the port on which units serve clients.

        Raises:
            OSError: only root can, or there is no such device.
        """
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)  # none is kept
            attach(self._socket, clients_packets(bridge.own, port))
            self._socket.bind((bridge.device, _EVERY))
        except BaseException:
            self._socket.close()
            raise

    def take(self) -> int:
        """Packets since the last reading, or since the beginning.

        Raises:
            OSError: it is closed.
        """
        told = self._socket.getsockopt(_PACKET, _STATISTICS, 8)
        return int(struct.unpack("II", told)[0])  # with those for which there was no room

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def attach(own: socket.socket, program: bytes) -> None:
    """Let a socket see only packets that a classic packet filter accepts.

    The kernel's filter program accepts with an answer above 0
    (Documentation/networking/filter.rst).

    Raises:
        OSError: the kernel refuses it.
    """
    kept = ctypes.create_string_buffer(program)
    told = struct.pack("HP", len(program) // _INSTRUCTION.size, ctypes.addressof(kept))
    own.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, told)


def clients_packets(own: IPv4Interface, port: int) -> bytes:
    """The filter for TCP of a unit's port whose other end is not the machine's own address.

    Its input begins with the header of IPv4 (RFC 791).

    Args:
        own: the machine's address, with the network of the units.
    """
    mask, network = int(own.netmask), int(own.network.network_address)
    return _assembled(
        ("load byte", 0),
        ("and", 0xF0),
        ("if", 0x40, "", "none"),
        ("load byte", 9),  # protocol
        ("if", _TCP, "", "none"),
        ("load half", 6),  # a fragment behind the first has no ports
        ("if any", 0x1FFF, "none", ""),
        ("length of header", 0),
        ("load word", 12),  # source: a unit answers
        ("and", mask),
        ("if", network, "", "asked"),
        ("load word", 16),
        ("if", int(own.ip), "asked", ""),
        ("load half behind", 0),
        ("if", port, "one", ""),
        "asked",
        ("load word", 16),  # destination: a unit is asked
        ("and", mask),
        ("if", network, "", "none"),
        ("load word", 12),
        ("if", int(own.ip), "none", ""),
        ("load half behind", 2),
        ("if", port, "one", ""),
        "none",
        ("answer", 0),
        "one",
        ("answer", 1),
    )


_INSTRUCTION = struct.Struct("HBBI")
"""sock_filter of linux/filter.h: code, jumps if true and if false, operand"""
_CODES = {
    "load byte": 0x30,
    "load half": 0x28,
    "load word": 0x20,
    "load half behind": 0x48,
    "length of header": 0xB1,
    "and": 0x54,
    "if": 0x15,
    "if any": 0x45,
    "answer": 0x06,
}
"""linux/bpf_common.h: BPF_LD with BPF_ABS and, behind the header, BPF_IND; BPF_LDX with BPF_MSH;
BPF_AND, BPF_JEQ, BPF_JSET, BPF_RET"""
_Line = tuple[str, int] | tuple[str, int, str, str] | str
"""An instruction with its operand and jump targets, empty: the next one; or a place to jump to."""


def _assembled(*lines: _Line) -> bytes:
    """The program in the kernel's form: a jump is the number of instructions to skip."""
    places: dict[str, int] = {}
    told: list[tuple[str, int, str, str]] = []
    for line in lines:
        if isinstance(line, str):
            places[line] = len(told)
        else:
            told.append((line[0], line[1], line[2], line[3]) if len(line) == 4 else (*line, "", ""))
    return b"".join(
        _INSTRUCTION.pack(
            _CODES[what],
            *(places[name] - at - 1 if name else 0 for name in (true, false)),
            operand,
        )
        for at, (what, operand, true, false) in enumerate(told)
    )
