"""Reports of clients of servers without a database, and which of them end the driving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from tare.errors import QuietError
from tare.lab import client_reports
from tare.lab.client_reports import ClientReports
from tare.load.client import LoadClient, ProgressLine


class Client:
    name = "c1"


CLIENT = cast("LoadClient", Client())


def told(monkeypatch: pytest.MonkeyPatch, event: dict[str, Any]) -> ClientReports:
    """The state after a client has printed this."""

    def progress(*_: object, **__: object) -> Iterator[ProgressLine]:
        yield ProgressLine(CLIENT, event)

    monkeypatch.setattr(client_reports, "progress", progress)
    known = ClientReports()
    known.listen([CLIENT], 1.0)
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
    replies = {"ops": 7, "ops_per_s": 6.0, "within": 6, "drained": 1}
    known = told(monkeypatch, {"event": "interval", "phase": "measure", **replies})
    assert known.answered == {"c1": [(6, 1)]}
    assert (known.operations, known.per_s, known.fault) == ({"c1": [7]}, {"c1": [6.0]}, None)
