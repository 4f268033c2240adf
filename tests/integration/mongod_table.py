"""A pytest plugin: the outcomes as one Markdown table that can be pasted into an issue.

`make test-mongod` asks for it.
"""

from __future__ import annotations

import os
import platform
import subprocess
from typing import TYPE_CHECKING

from tare.commit import commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

_WORDS = {"passed": "passed", "failed": "**failed**", "error": "**error**", "skipped": "skipped"}
_SHOWN = 160


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the table at the end of the tests."""
    rows = {
        report.nodeid: (outcome, report)
        for outcome in _WORDS  # a fixture that fails comes after its test, and counts
        for report in terminalreporter.stats.get(outcome, ())
    }
    terminalreporter.section("paste this")
    for line in table(_head(os.environ.get("MONGOD", "")), rows.values()):
        terminalreporter.write_line(line)


def _head(mongod: str) -> str:
    told = subprocess.run([mongod, "--version"], capture_output=True, text=True, check=False)
    release = (told.stdout or told.stderr).partition("\n")[0].strip() or "no release"
    machine = f"{platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}"
    return f"{release}; {machine}; Tare {commit() or 'of no known commit'}"


def table(head: str, rows: Iterable[tuple[str, pytest.TestReport]]) -> Iterator[str]:
    """The table's lines."""
    yield from (head, "", "| test | | s | |", "|---|---|---|---|")
    for outcome, report in rows:
        why = "" if outcome in ("passed", "skipped") else _last_line(report)
        yield f"| {_words(report.nodeid)} | {_WORDS[outcome]} | {report.duration:.0f} | {why} |"


def _words(nodeid: str) -> str:
    """`test_a_load[mongod-a]` as a sentence: a load (mongod-a)."""
    name, _, case = nodeid.rpartition("::")[2].partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    return f"{words} ({case.removesuffix(']')})" if case else words


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = str(crash.message if crash is not None else report.longreprtext).strip()
    return said.partition("\n")[0][:_SHOWN].replace("|", r"\|")
