"""An image registry whose one layer does not arrive: its pull breaks off, or never ends."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LAYER_BYTES, _SENT_BYTES = 1 << 20, 1 << 16
_TYPES = "application/vnd.docker."
_CONFIG_TYPE = f"{_TYPES}container.image.v1+json"
_LAYER_TYPE = f"{_TYPES}image.rootfs.diff.tar.gzip"
_MANIFEST_TYPE = f"{_TYPES}distribution.manifest.v2+json"


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


_LAYER = _digest(b"the layer")
_CONFIG = json.dumps(
    {"architecture": "amd64", "os": "linux", "config": {},
     "rootfs": {"type": "layers", "diff_ids": [_digest(b"the files")]}}
).encode()  # fmt: skip
_MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": _MANIFEST_TYPE,
        "config": {"mediaType": _CONFIG_TYPE, "size": len(_CONFIG), "digest": _digest(_CONFIG)},
        "layers": [{"mediaType": _LAYER_TYPE, "size": _LAYER_BYTES, "digest": _LAYER}],
    }
).encode()


class SlowRegistry(ThreadingHTTPServer):
    """Serves any name.

    Attributes:
        breaks: it closes the connection amid the layer; else it falls silent there.
        asked: the layer has been begun.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, *, breaks: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.breaks = breaks
        self.asked, self.over = threading.Event(), threading.Event()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SlowRegistry

    def do_GET(self) -> None:
        if "/manifests/" in self.path:
            self._say(_MANIFEST, {"Content-Type": _MANIFEST_TYPE})
        elif self.path.endswith(_digest(_CONFIG)):
            self._say(_CONFIG)
        elif self.path.endswith(_LAYER):
            self._begin_layer()
        else:
            self._say(b"{}", {"Docker-Distribution-Api-Version": "registry/2.0"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _say(self, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(len(body), {"Docker-Content-Digest": _digest(body), **(headers or {})})
        if self.command == "GET":
            self.wfile.write(body)

    def _begin_layer(self) -> None:
        self._head(_LAYER_BYTES, {"Content-Type": "application/octet-stream"})
        self.wfile.write(bytes(_SENT_BYTES))
        self.server.asked.set()
        if not self.server.breaks:
            self.server.over.wait()
        self.close_connection = True

    def _head(self, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def slow_registry(*, breaks: bool) -> Iterator[SlowRegistry]:
    with SlowRegistry(breaks=breaks) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield made
        finally:
            made.over.set()
            made.shutdown()
            thread.join()
