"""A local port that forwards to another place, on real sockets."""

from __future__ import annotations

import socket

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.forward import Forward


def test_bytes_go_both_ways_and_an_end_is_passed_on() -> None:
    near, far = socket.socketpair()
    forward = Forward(lambda: near)
    with socket.create_connection(forward.address, 5) as caller:
        caller.sendall(b"question")
        assert far.recv(100) == b"question"
        far.sendall(b"answer")
        assert caller.recv(100) == b"answer"
        far.close()
        assert caller.recv(100) == b""
    forward.close()


def test_a_pod_that_cannot_be_reached_ends_the_connection() -> None:
    def refuse() -> socket.socket:
        raise RuntimeUnavailableError("no pod")

    forward = Forward(refuse)
    with socket.create_connection(forward.address, 5) as caller:
        caller.settimeout(5)
        assert caller.recv(1) == b""
    forward.close()


def test_nobody_listens_once_it_is_closed() -> None:
    forward = Forward(lambda: socket.socket())
    address = forward.address
    forward.close()
    with pytest.raises(OSError):
        socket.create_connection(address, 1)
