"""What the replies of pods show about a path; connections are real, on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.path import in_words, refuse_broken
from tare.runtimes.replies import Reply, ask_from_here, replies_inside

DIRECT = Reply(
    "10.0.0.1:9042",
    sent_from="10.0.0.9:40000",
    sent_to="10.0.0.1:9042",
    name="c-0",
    came_from="10.0.0.9:40000",
    came_to="10.0.0.1:9042",
    mtu={"eth0": 1500},
)
TRANSLATED = replace(
    DIRECT,
    target="10.96.0.7:9042",
    sent_to="10.96.0.7:9042",
    came_from="10.244.0.0:1025",
    came_to="10.244.1.5:9042",
    mtu={"eth0": 1450},
)


@contextmanager
def answering(line: bytes) -> Iterator[str]:
    """The host:port of a server that sends `line` to every caller."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, peer = listener.accept()
            except OSError:
                return
            with caller:
                caller.sendall(line.replace(b"PEER", f"{peer[0]}:{peer[1]}".encode()))

    threading.Thread(target=serve, daemon=True).start()
    host, port = listener.getsockname()
    yield f"{host}:{port}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_a_pod_that_answers_is_told_with_both_views_of_the_connection() -> None:
    answer = {"name": "c-0", "peer": "PEER", "local": "10.244.1.5:9042", "mtu": {"eth0": 1450}}
    with answering(json.dumps(answer).encode() + b"\n") as target:
        (found,) = ask_from_here([target], 5.0)
    assert found.name == "c-0"
    assert not found.source_translated
    assert found.destination_translated
    assert found.largest_segment > 0


def test_nobody_listening_is_told_within_the_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
    (found,) = ask_from_here([f"{host}:{port}"], 0.3)
    assert found.name == ""
    assert "refused" in found.why


def test_whoever_answers_in_another_tongue_is_no_pod() -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n") as target:
        (found,) = ask_from_here([target], 0.3)
    assert found.name == ""
    assert found.why


def test_what_was_asked_inside_is_read_from_the_log() -> None:
    answer = {"name": "c-0", "peer": "a:1", "local": "b:2", "mtu": {"eth0": 1450}}
    lines = [
        "a warning of the pod",
        json.dumps({"target": "c-0.c:9042", "from": "a:1", "to": "b:2", "answer": answer,
                    "why": ""}),
        json.dumps({"target": "c-1.c:9042", "from": None, "to": None, "answer": None,
                    "why": "timed out"}),
        "[]",
    ]  # fmt: skip
    first, second = replies_inside("\n".join(lines))
    assert (first.name, first.source_translated) == ("c-0", False)
    assert (second.name, second.why) == ("", "timed out")


def test_a_path_on_which_every_pod_answers_is_let_pass() -> None:
    expected = {"10.0.0.1:9042": "c-0"}
    refuse_broken("host", expected, [DIRECT], inside=False, proxy="")


@pytest.mark.parametrize(
    ("network", "inside", "remedy"),
    [
        ("service-ip", True, "IP_VS"),
        ("service-ip", False, "client.runtime: kubernetes"),
        ("container-dns", False, "client.runtime: kubernetes"),
        ("host-port", False, "portmap"),
        ("node-port", False, "kube-proxy"),
        ("host", False, "firewall"),
    ],
)
def test_one_on_which_none_does_is_refused_with_the_remedy(
    network: str, inside: bool, remedy: str
) -> None:
    silent = Reply("10.96.0.7:9042", why="timed out")
    with pytest.raises(RuntimeUnavailableError) as caught:
        refuse_broken(network, {"10.96.0.7:9042": "c-0"}, [silent], inside=inside, proxy="ipvs")
    assert "not runnable here" in caught.value.what
    assert "timed out" in caught.value.why
    assert remedy in caught.value.remedy


def test_another_pods_answer_is_no_answer() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        refuse_broken("host", {"10.0.0.1:9042": "c-1"}, [DIRECT], inside=False, proxy="")
    assert "c-0 answered in place of c-1" in caught.value.why


def test_what_packets_pass_is_told_in_words() -> None:
    assert in_words("host", [DIRECT], "flannel-vxlan", "iptables") == "host, MTU 1500"
    assert in_words("service-ip", [TRANSLATED], "flannel-vxlan", "iptables") == (
        "service-ip, service proxy (iptables), network plugin flannel-vxlan, "
        "destination translated, source translated, MTU 1450"
    )
