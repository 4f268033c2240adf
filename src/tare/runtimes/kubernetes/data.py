"""A pod's data directory before its database starts: filled from a snapshot, and compared.

A container of the pod takes the files (`tare-pod take`) at a port of the pod's loopback, which is
forwarded through the API. It then reports the directory's content. The database starts once this is
confirmed: after that container, or in its place if the data is in its own layer.
"""

from __future__ import annotations

import json
import time
from typing import IO, TYPE_CHECKING, Any

from tare.artifacts.digest import parse_listing
from tare.artifacts.snapshot import not_empty
from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.refusals import ApiError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from tare.artifacts.snapshot import NodeSnapshot
    from tare.runtimes.kubernetes.api import Api

_LISTENS_S = 30.0
"""longest wait for its port: logs come a moment after they are written"""
_ANSWER_S = 300.0
"""Longest silence of a pod that reads, writes and digests files. Pods that request no CPU have the
least weight: beside two clusters that warmed up on its CPU, one was silent for two minutes."""
_POLL_S = 0.2
_PIECE = 64 * 1024
_ANSWERED = 1 << 20
"""bytes of files for each dot in the answer"""
_AHEAD = 8
"""dots that may be missing: sent bytes are kept in memory on their way until they are taken"""


def fill(
    api: Api,
    namespace: str,
    pod: str,
    container: str,
    snapshot: NodeSnapshot,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Fill the data directory of a pod through its running container that takes the files.

    Args:
        api, namespace: where the pod is.
        pod: its name.
        container: the one that takes the files.
        snapshot: the only content that the directory is to hold.
        clock, wait: monotonic seconds, and letting them pass.

    Raises:
        ArtifactError: there are files already, or the copy is not the snapshot.
        RuntimeUnavailableError: the pod did not take it.
    """
    where = f"{namespace}/{pod}"
    connection = api.connect(pod, _port(api, namespace, pod, container, clock, wait), namespace)
    try:
        connection.settimeout(_ANSWER_S)
        with connection.makefile("rb") as answers:
            _hand_over(connection, answers, snapshot, where)
        connection.sendall(b"right\n")
    except (OSError, ValueError) as error:
        raise RuntimeUnavailableError(
            "a pod did not take its data",
            where=where,
            why=str(error) or type(error).__name__,
            remedy=f"kubectl logs {pod} -c {container} -n {namespace}, while it is there; or set "
            "design.data to populate",
        ) from error
    finally:
        connection.close()


def _port(
    api: Api,
    namespace: str,
    pod: str,
    container: str,
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> int:
    """The port at which the container listens, which it prints."""
    deadline = clock() + _LISTENS_S
    while True:
        try:
            text = b"".join(api.log(pod, container, namespace))
        except ApiError as error:
            if clock() > deadline:
                raise
            text, told = b"", error.why
        else:
            told = text.decode(errors="replace").strip()
        if text.endswith(b"\n"):
            try:
                return int(json.loads(text.splitlines()[0])["port"])
            except (ValueError, KeyError, TypeError):
                pass
        if clock() > deadline:
            raise RuntimeUnavailableError(
                "a pod does not tell where it takes its data",
                where=f"{namespace}/{pod}",
                why=told or f"it has printed nothing within {_LISTENS_S:.0f} s",
                remedy=f"kubectl logs {pod} -c {container} -n {namespace}, while it is there",
            )
        wait(_POLL_S)


def _hand_over(
    connection: socket.socket, answers: IO[bytes], snapshot: NodeSnapshot, where: str
) -> None:
    left = json.loads(_line(answers))["left"]
    if left is not None:
        raise not_empty(f"{where}/{left}")
    for name in snapshot.folders():
        _say(connection, directory=name)
    sent = _Sent(connection, answers)
    for name, path in snapshot.files():
        _say(connection, file=name, bytes=path.stat().st_size)
        sent.file(path)
    _say(connection, end=True)
    _line(answers)  # the last dots
    told = ""
    while (line := _line(answers)) != b"\n":
        told += line.decode(errors="replace")
    snapshot.compare(parse_listing(told), where)


def _say(connection: socket.socket, **entry: Any) -> None:
    connection.sendall(json.dumps(entry).encode() + b"\n")


def _line(answers: IO[bytes]) -> bytes:
    line = answers.readline()
    if not line.endswith(b"\n"):
        raise ConnectionError("the connection ended before all was taken")
    return line


class _Sent:
    """Content sent so far, at most `_AHEAD` ahead of the taken bytes."""

    def __init__(self, connection: socket.socket, answers: IO[bytes]) -> None:
        self._connection = connection
        self._answers = answers
        self._bytes = 0
        self._dots = 0

    def file(self, path: Path) -> None:
        with path.open("rb") as content:
            while piece := content.read(_PIECE):
                self._connection.sendall(piece)
                self._bytes += len(piece)
                while self._bytes // _ANSWERED - self._dots > _AHEAD:
                    if self._answers.read(1) != b".":
                        raise ConnectionError("the connection ended in the middle of a file")
                    self._dots += 1
