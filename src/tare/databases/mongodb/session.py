"""A short administrative connection to one member: readiness, the set, self-description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from tare.errors import ClusterError

_FOUND_S = 5.0
"""longest wait until a member says what it is; whoever waits for its start asks again"""
FAULTS = (PyMongoError, OSError)
"""everything that the driver raises when a member does not answer as it should"""


class RefusedError(ClusterError):
    """A member's refusal.

    Attributes:
        code: the server's error code.
    """

    def __init__(self, what: str, *, where: str, why: str, code: int) -> None:
        super().__init__(what, where=where, why=why)
        self.code = code


class Session:
    """Commands to exactly one member, whatever it is in its set."""

    def __init__(self, where: str, client: Any) -> None:
        self.where = where
        self._client = client

    def command(self, document: Mapping[str, Any], database: str = "admin") -> dict[str, Any]:
        """Run one command and return its answer.

        Raises:
            RefusedError: with the member's own message and code. A write that was not done, or
                that too few members acknowledged, is such a refusal.
            ClusterError: the member did not answer.
        """
        name = next(iter(document))
        try:
            answer = dict(self._client[database].command(dict(document)))
        except OperationFailure as error:
            raise RefusedError(
                f"{name} failed", where=self.where, why=str(error), code=error.code or 0
            ) from error
        except FAULTS as error:
            raise ClusterError(f"{name} failed", where=self.where, why=str(error)) from error
        fault = _write_fault(answer)
        if fault is not None:
            why, code = str(fault.get("errmsg", "")), int(fault.get("code", 0))
            raise RefusedError(f"{name} failed", where=self.where, why=why, code=code)
        return answer


def _write_fault(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The failed write in an answer with `ok: 1`, which the driver does not check.

    Source: MongoDB manual, update, Output: writeErrors and writeConcernError.
    """
    errors = [*answer.get("writeErrors", []), answer.get("writeConcernError")]
    return next((error for error in errors if isinstance(error, Mapping)), None)


@contextmanager
def connect(host: str, port: int, timeout_s: float = 20.0) -> Iterator[Session]:
    """A session with this member only, closed afterwards; nothing is sent before it is used."""
    milliseconds = int(timeout_s * 1000)
    client: MongoClient[dict[str, Any]] = MongoClient(
        host,
        port,
        directConnection=True,
        appname="tare",
        connectTimeoutMS=milliseconds,
        socketTimeoutMS=milliseconds,
        serverSelectionTimeoutMS=int(min(timeout_s, _FOUND_S) * 1000),
    )
    try:
        yield Session(f"{host}:{port}", client)
    finally:
        client.close()
