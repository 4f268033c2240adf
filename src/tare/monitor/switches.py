"""Context switches of a whole process, by the kernel's taskstats: one request over netlink.

/proc has only the switches of each thread, and a database has a hundred threads. For a thread group
the kernel adds them up itself (Documentation/accounting/taskstats.rst). Threads that have ended are
not in the sum, so that it can fall.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct

_NETLINK_GENERIC = 16
"""NETLINK_GENERIC of include/uapi/linux/netlink.h"""
_CONTROLLER, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 0x10, 3, 1, 2
"""GENL_ID_CTRL, CTRL_CMD_GETFAMILY and attributes of include/uapi/linux/genetlink.h"""
_GET, _OF_GROUP, _GROUP_ANSWER, _STATS = 1, 2, 5, 3
"""TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_TGID, TASKSTATS_TYPE_AGGR_TGID and TASKSTATS_TYPE_STATS of
include/uapi/linux/taskstats.h"""
_SWITCHES_AT = 272
"""offset of nvcsw, which nivcsw follows, in struct taskstats there"""
_OTHER_LAYOUT = 15
"""Version with fields before these; the next one moved them to the end ("taskstats: fix struct
taskstats breaks backward compatibility since version 15", Linux 6.16)."""
_REQUEST = 1
_ERROR = 2
_LONGEST = 1 << 13
_WAIT_S = 0.5


class Switches:
    """Asks the kernel for the context switches of processes.

    Attributes:
        why_not: why the kernel does not tell them; empty: it does.
    """

    def __init__(self) -> None:
        self.why_not = ""
        self._number = 0
        self._socket: socket.socket | None = None
        self._family = 0
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
            self._socket.settimeout(_WAIT_S)
            self._socket.bind((0, 0))
            self._family = self._find()
            self._ask(os.getpid())
        except (OSError, struct.error, KeyError) as error:
            self.why_not = f"the kernel tells no taskstats ({_named(error)})"
            self.close()

    def of(self, pid: int) -> int | None:
        """Switches of all live threads of a process, voluntary or not.

        None: it has ended, or the kernel does not tell.
        """
        if self.why_not:
            return None
        try:
            return self._ask(pid)
        except (OSError, struct.error, KeyError):
            return None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _find(self) -> int:
        name = _attribute(_FAMILY_NAME, b"TASKSTATS\0")
        told = self._answer(_CONTROLLER, _GET_FAMILY, name)
        return int(struct.unpack("=H", _attributes(told)[_FAMILY_ID][:2])[0])

    def _ask(self, pid: int) -> int:
        told = self._answer(self._family, _GET, _attribute(_OF_GROUP, struct.pack("=I", pid)))
        stats = _attributes(_attributes(told)[_GROUP_ANSWER])[_STATS]
        if struct.unpack_from("=H", stats)[0] == _OTHER_LAYOUT:
            raise OSError(f"version {_OTHER_LAYOUT} of its answer is not known")
        voluntary, involuntary = struct.unpack_from("=QQ", stats, _SWITCHES_AT)
        return int(voluntary + involuntary)

    def _answer(self, family: int, command: int, attribute: bytes) -> bytes:
        """The attributes of the kernel's answer.

        Raises:
            OSError: the kernel refuses, or does not answer.
        """
        if self._socket is None:
            raise OSError("closed")
        self._number += 1
        body = struct.pack("=BBH", command, 1, 0) + attribute
        head = struct.pack("=IHHII", 16 + len(body), family, _REQUEST, self._number, 0)
        self._socket.send(head + body)
        while True:
            told = self._socket.recv(_LONGEST)
            length, kind, _, number, _ = struct.unpack_from("=IHHII", told)
            if number != self._number:
                continue  # the answer to a request that was given up
            if kind == _ERROR:
                code = -int(struct.unpack_from("=i", told, 16)[0])
                raise OSError(code, os.strerror(code))
            return told[20:length]


def _attribute(kind: int, content: bytes) -> bytes:
    padding = b"\0" * (-len(content) % 4)
    return struct.pack("=HH", 4 + len(content), kind) + content + padding


def _attributes(text: bytes) -> dict[int, bytes]:
    """Attributes by kind; the last one of each kind."""
    found = {}
    at = 0
    with contextlib.suppress(struct.error):  # the end
        while at < len(text):
            length, kind = struct.unpack_from("=HH", text, at)
            if length < 4:
                break
            found[kind & 0x3FFF] = text[at + 4 : at + length]
            at += (length + 3) & ~3
    return found


def _named(error: Exception) -> str:
    told = error.strerror if isinstance(error, OSError) else ""
    return told or str(error) or type(error).__name__
