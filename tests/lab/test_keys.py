"""Conditions that take turns on one server do not ask it for the same keys."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tare.lab.sliced_block import SlicedBlock


def test_conditions_of_one_server_have_keys_of_their_own_and_servers_begin_alike() -> None:
    runs: dict[str, Any] = {
        name: (SimpleNamespace(deployment=SimpleNamespace(identity=server), keys=0), Path(name))
        for name, server in (("a", "native"), ("b", "docker"), ("c", "docker"), ("d", "docker"))
    }
    anything: Any = None
    SlicedBlock(runs, anything, anything)
    assert [run.keys for run, _ in runs.values()] == [0, 0, 1, 2]
