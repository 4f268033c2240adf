"""The comparison of containers with and without rights fails if both have the same rights."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bench.rights import BY_DEFAULT, WITHOUT, Rights

from bench import rights
from tare.runtimes import confinement
from tare.runtimes.docker import DockerRuntime

DOCKERS = "Name:\tjava\nUid:\t0\t0\t0\t0\nCapInh:\t0000000000000000\nCapEff:\t00000000a80425fb\n"
NONE = "Name:\tjava\nUid:\t60618\t60618\t60618\t60618\nCapEff:\t0000000000000000\n"
ROOT_WITHOUT = NONE.replace("60618", "0")


@pytest.mark.parametrize(
    ("by_default", "without", "doubt"),
    [
        (DOCKERS, NONE, ""),
        (DOCKERS, DOCKERS, "no-rights has rights: user 0, capabilities 00000000a80425fb"),
        (NONE, NONE, "docker-default does not keep Docker's rights: user 60618"),
        (ROOT_WITHOUT, NONE, "docker-default does not keep Docker's rights: user 0"),
        (DOCKERS, ROOT_WITHOUT, "no-rights has rights: user 0"),
        (DOCKERS, "", "no database of no-rights was started"),
        ("", NONE, "no database of docker-default was started"),
    ],
)
def test_two_sides_that_do_not_differ_in_their_rights(
    by_default: str, without: str, doubt: str
) -> None:
    seen = {
        side: {Rights.of(text)} if text else set[Rights]()
        for side, text in ((BY_DEFAULT, by_default), (WITHOUT, without))
    }
    found = rights.doubts(seen)
    assert len(found) == (doubt != "")
    assert doubt in "\n".join(found)


class Launching:
    """A run that starts a database of each side; its kernel reports this process's rights."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        running = SimpleNamespace(accounting=lambda: SimpleNamespace(pid=os.getpid()))
        monkeypatch.setattr(DockerRuntime, "launch", lambda runtime, unit: running)
        for name in ("settings", "user_of", "identity"):  # put back afterwards
            monkeypatch.setattr(confinement, name, getattr(confinement, name))
        monkeypatch.setattr("tare.cli.app.main", self.run)
        monkeypatch.setattr("sys.argv", ["rights"])

    def run(self) -> None:
        runtime: Any = None
        for side in (BY_DEFAULT, WITHOUT):
            unit: Any = SimpleNamespace(role="database", site=SimpleNamespace(name=f"d1-{side}-n1"))
            DockerRuntime.launch(runtime, unit)
        raise SystemExit(0)


def test_what_each_side_has_is_printed_and_the_command_fails_where_it_is_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Launching(monkeypatch)
    with pytest.raises(SystemExit) as ended:
        rights.main()
    own = Rights.of(Path("/proc/self/status").read_text())
    told = capsys.readouterr()
    assert told.out == f"docker-default: {own}\nno-rights: {own}\n"
    assert ended.value.code == 1
    assert ("no-rights has rights" in told.err) or ("does not keep" in told.err)
