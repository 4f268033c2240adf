"""A member's answers to one command, and which of them are refusals."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from tare.databases.mongodb.session import RefusedError, Session
from tare.errors import ClusterError


class Client:
    """A driver that returns this answer, or raises it."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def __getitem__(self, database: str) -> Client:
        self.database = database
        return self

    def command(self, document: dict[str, Any]) -> Any:
        self.sent.append((self.database, document))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def ask(answer: Any) -> dict[str, Any]:
    return Session("a:27017", Client(answer)).command({"update": "ready"}, "tare")


def test_an_answer_is_what_the_member_said() -> None:
    client = Client({"ok": 1.0, "n": 1})
    assert Session("a:1", client).command({"ping": 1}) == {"ok": 1.0, "n": 1}
    assert client.sent == [("admin", {"ping": 1})]


# Formats: MongoDB manual, update (database command), Output; values are made up.
NOT_ENOUGH = {
    "ok": 1.0,
    "n": 1,
    "nModified": 1,
    "writeConcernError": {
        "code": 64,
        "codeName": "WriteConcernFailed",
        "errmsg": "waiting for replication timed out",
        "errInfo": {"wtimeout": True, "writeConcern": {"w": 3, "wtimeout": 5000}},
    },
}
NOT_DONE = {
    "ok": 1.0,
    "n": 0,
    "writeErrors": [{"index": 0, "code": 11000, "errmsg": "E11000 duplicate key error"}],
}


@pytest.mark.parametrize(
    ("answer", "code", "why"),
    [(NOT_ENOUGH, 64, "replication timed out"), (NOT_DONE, 11000, "duplicate key")],
)
def test_a_write_that_failed_is_a_refusal_though_the_command_is_ok(
    answer: dict[str, Any], code: int, why: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(answer)
    assert refused.value.code == code
    assert why in refused.value.why
    assert refused.value.where == "a:27017"


def test_a_no_of_the_server_is_a_refusal_with_its_code() -> None:
    with pytest.raises(RefusedError) as refused:
        ask(OperationFailure("not primary", 10107))
    assert refused.value.code == 10107


def test_a_server_that_does_not_answer_is_no_refusal() -> None:
    with pytest.raises(ClusterError) as lost:
        ask(AutoReconnect("connection closed"))
    assert not isinstance(lost.value, RefusedError)
