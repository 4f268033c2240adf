"""An image that is pulled through an engine that gives up, or goes away, half-way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import docker
import pytest

from tare.artifacts.image import named_image
from tare.errors import ArtifactError

NAME = "registry.example/mongo:7"
BEGUN = {"status": "Pulling fs layer", "id": "c0ffee"}
REFUSED = {"error": "unauthorized", "errorDetail": {"message": "unauthorized"}}
"""as an engine reports after it has answered 200: Docker half-way, Podman always"""


class Engine(ThreadingHTTPServer):
    """An engine without images, whose pulls report this; broken off, or to their end."""

    def __init__(self, told: list[dict[str, Any]], *, ends: bool, has: bool) -> None:
        super().__init__(("127.0.0.1", 0), Requests)
        self.told, self.ends, self.has = told, ends, has
        self.pulled: list[str] = []

    @property
    def client(self) -> docker.DockerClient:
        return docker.DockerClient(f"tcp://127.0.0.1:{self.server_port}", version="1.41")


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Engine

    def do_GET(self) -> None:
        there = bool(self.server.pulled) and self.server.has
        answer = {"Id": "sha256:1", "RepoDigests": ["mongo@sha256:2"]} if there else {}
        body = json.dumps(answer or {"message": "no such image"}).encode()
        self.send_response(200 if there else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.server.pulled.append(self.path.partition("?")[2])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for one in self.server.told:
            line = json.dumps(one).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        if self.server.ends:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    told, ends, has = request.param
    with Engine(told, ends=ends, has=has) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.mark.parametrize("engine", [([BEGUN], True, True)], indirect=True)
def test_a_pulled_image_is_named_by_its_digest(engine: Engine) -> None:
    assert named_image(engine.client, NAME) == ("sha256:1", "mongo@sha256:2")
    assert engine.pulled == ["tag=7&fromImage=registry.example%2Fmongo"]


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (([BEGUN, REFUSED], True, False), "unauthorized"),
        (([BEGUN], False, False), "Connection broken"),
        (([], False, False), "Connection broken"),
    ],
    ids=["gives up", "goes away half-way", "goes away at once"],
    indirect=["engine"],
)
def test_an_interrupted_pull_is_told_with_its_reason_and_the_engine_s_own_command(
    engine: Engine, why: str
) -> None:
    with pytest.raises(ArtifactError) as caught:
        named_image(engine.client, NAME, "podman pull")
    assert caught.value.where == "database.image"
    assert why in caught.value.why
    assert caught.value.remedy.startswith(f"podman pull {NAME}, or ")
