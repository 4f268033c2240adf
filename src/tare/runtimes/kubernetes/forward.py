"""A port of this machine that leads into a pod through the API.

Tare uses it for its own few queries to a database that only clients inside the cluster can reach.
No measured operation takes this way.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 64 * 1024


class Forward:
    """Listens on the loopback device until it is closed."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        """Begin to listen; `connect` opens one more connection into the pod."""
        self._connect = connect
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to connect to."""
        host, port = self._listener.getsockname()
        return str(host), int(port)

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:  # closed
                return
            try:
                pod = self._connect()
            except (TareError, OSError):
                caller.close()  # as a port that nobody listens on
                continue
            self._open += [caller, pod]
            for source, sink in ((caller, pod), (pod, caller)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()

    def close(self) -> None:
        """End it, and all connections that lead through it."""
        # a close alone would not wake a thread that waits in accept()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for one in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                one.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Carry bytes one way until either side ends."""
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
