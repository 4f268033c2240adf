"""How servers without a database are set up, what clients tell, and what of it ends the driving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from tare.errors import QuietError
from tare.lab import quiet_servers
from tare.lab.quiet_servers import _listen, _Reports, quiet_setup
from tare.load.client import Line, LoadClient


class Client:
    name = "c1"


CLIENT = cast("LoadClient", Client())


def told(monkeypatch: pytest.MonkeyPatch, event: dict[str, Any]) -> _Reports:
    """What is known after a client has printed this."""

    def progress(*_: object, **__: object) -> Iterator[Line]:
        yield Line(CLIENT, event)

    monkeypatch.setattr(quiet_servers, "progress", progress)
    known = _Reports(operations={"c1": []})
    _listen([CLIENT], known, 1.0)
    return known


@pytest.mark.parametrize(
    "event",
    [
        {"event": "interval", "phase": "measure", "ops": "many"},
        {"event": "interval", "phase": "measure", "ops": None},
        {"event": "interval"},
        {"no": "event"},
    ],
)
def test_a_line_that_cannot_be_read_is_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, event: dict[str, Any]
) -> None:
    fault = told(monkeypatch, event).fault
    assert isinstance(fault, QuietError)
    assert "cannot be read" in fault.what
    assert "tare doctor" in fault.remedy


def test_operations_are_kept_by_client(monkeypatch: pytest.MonkeyPatch) -> None:
    known = told(monkeypatch, {"event": "interval", "phase": "measure", "ops": 7, "ops_per_s": 6.0})
    assert (known.operations, known.per_s, known.fault) == ({"c1": [7]}, {"c1": [6.0]}, None)


@pytest.mark.parametrize(("database", "stands_in"), [("cassandra", False), ("mongodb", True)])
def test_a_server_without_a_database_stands_in_for_mongodb(
    database: str, *, stands_in: bool
) -> None:
    setup = quiet_setup({"threads": 3}, 0.25, database)
    assert (setup.database.kind, setup.database.stand_in) == (database, stands_in)
    assert (setup.load.threads, setup.load.records) == (3, 20_000)
