"""The output of `make test-mongod` can be pasted: outcomes, times, and reasons of failures."""

from __future__ import annotations

import pytest

from .mongod_table import table


def report(nodeid: str, outcome: str, seconds: float, why: str = "") -> pytest.TestReport:
    location = ("file", 1, nodeid)
    kind = "passed" if outcome == "passed" else "failed"
    return pytest.TestReport(nodeid, location, {}, kind, why or None, "call", duration=seconds)  # type: ignore[arg-type]


def test_each_test_is_a_row_that_names_what_failed() -> None:
    rows = [
        ("passed", report("t.py::test_a_load_passes[mongod-a]", "passed", 3.2)),
        ("failed", report("t.py::test_a_set", "failed", 12.0, "1 | 2 were not 3\nmore")),
    ]
    assert list(table("db version v7.0.14; x86_64", rows)) == [
        "db version v7.0.14; x86_64",
        "",
        "| test | | s | |",
        "|---|---|---|---|",
        "| a load passes (mongod-a) | passed | 3 |  |",
        r"| a set | **failed** | 12 | 1 \| 2 were not 3 |",
    ]
