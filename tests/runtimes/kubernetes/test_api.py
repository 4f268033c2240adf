"""The API through the official client, against a scripted server on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tare.runtimes.kubernetes.api import ClientApi
from tare.runtimes.kubernetes.refusals import ApiError, refused
from tare.runtimes.kubernetes.settings import ClusterSettings


@pytest.mark.parametrize(
    ("status", "what", "remedy"),
    [
        (401, "does not know who this is", "log in"),
        (403, "a right is missing", "docs/kubernetes-rights.yaml"),
        (422, "refused a request", "kubectl"),
    ],
)
def test_each_refusal_has_a_remedy(status: int, what: str, remedy: str) -> None:
    error = refused("https://api", status, "pods is forbidden")
    assert what in error.what
    assert error.why == "pods is forbidden"
    assert remedy in error.remedy


def test_what_is_gone_and_what_exists_are_told_apart() -> None:
    assert refused("", 404, "").gone
    assert refused("", 409, "").exists


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Config\n",
        "users: [{name: u, user: {token: x}\n",
        "[1, 2]",
        "just words",
        "contexts: 3\ncurrent-context: x\n",
        "contexts: [{name: x}]\nclusters: []\nusers: []\ncurrent-context: x\n",
        "\0",
    ],
)
def test_a_kubeconfig_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ApiError) as caught:
        ClientApi(ClusterSettings(kubeconfig=str(file)))
    assert caught.value.where == str(file)


def api_at(port: int, directory: Path) -> ClientApi:
    """The API behind a kubeconfig that names this port on loopback."""
    file = directory / "config"
    file.write_text(
        f"""apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{token: secret}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""
    )
    return ClientApi(ClusterSettings(kubeconfig=str(file)))


def test_a_cluster_that_does_not_answer_is_said_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ApiError) as caught:
        api_at(port, tmp_path).find("Node")
    assert caught.value.status == 0
    assert "does not answer" in caught.value.what
    assert caught.value.where == f"http://127.0.0.1:{port}"


class Answering(BaseHTTPRequestHandler):
    """An API server with a few answers in the real format."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if self.headers["authorization"] != "Bearer secret":
            self.answer(401, {"message": "Unauthorized"})
        elif path == "/api/v1/namespaces/ns/pods/c-0/log" and "container=unit" in query:
            self.answer(200, b"one\ntwo\n")
        elif path == "/api/v1/nodes" and query == "labelSelector=disk%3Dnvme":
            self.answer(200, {"items": [{"metadata": {"name": "m1"}}]})
        elif path == "/api/v1/namespaces/ns/pods/c-9":
            self.answer(404, {"message": 'pods "c-9" not found'})
        else:
            self.answer(403, {"message": f"{path} is forbidden"})

    def do_PATCH(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(200, {"kind": self.headers["content-type"], "spec": sent["spec"]})

    def do_DELETE(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(404 if sent.get("gracePeriodSeconds") == 0 else 403, {"message": "no"})

    def answer(self, status: int, content: dict[str, object] | bytes) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ClientApi]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield api_at(server.server_port, tmp_path)
    server.shutdown()
    server.server_close()


def test_documents_are_asked_for_with_the_kubeconfigs_login(api: ClientApi) -> None:
    assert api.find("Node", labels="disk=nvme") == [{"metadata": {"name": "m1"}}]


def test_the_apis_own_words_are_the_reason(api: ClientApi) -> None:
    with pytest.raises(ApiError) as caught:
        api.get("StatefulSet", "c", "ns")
    assert caught.value.status == 403
    assert caught.value.why == "/apis/apps/v1/namespaces/ns/statefulsets/c is forbidden"


def test_what_is_not_there_is_told_apart_from_a_refusal(api: ClientApi) -> None:
    with pytest.raises(ApiError) as caught:
        api.get("Pod", "c-9", "ns")
    assert caught.value.gone


def test_a_change_is_merged_into_the_object(api: ClientApi) -> None:
    made = api.patch("StatefulSet", "c", {"spec": {"replicas": 2}}, "ns")
    assert made == {"kind": "application/merge-patch+json", "spec": {"replicas": 2}}


def test_deleting_what_is_gone_is_no_error(api: ClientApi) -> None:
    api.delete("Pod", "c-0", "ns", grace_s=0)
    with pytest.raises(ApiError):
        api.delete("Pod", "c-0", "ns")


def test_a_log_comes_as_it_was_written(api: ClientApi) -> None:
    assert b"".join(api.log("c-0", "unit", "ns")) == b"one\ntwo\n"
