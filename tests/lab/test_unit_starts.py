"""Starts of units: one for each turn of a piece, timed until there is an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tare.analysis.part_prices import PASSES, WeighedUnit
from tare.errors import LoadError
from tare.lab import unit_starts
from tare.lab.unit_starts import start_all
from tare.machines.cgroups import Accounting
from tare.runtimes.unit import Exit, Site, Unit

UNITS = [WeighedUnit(name, "scripted", "directory", ("start",)) for name in ("a", "b")]


class Served:
    """A server that hangs up on the first who ask it, and then answers."""

    def __init__(self, unit: Unit, door: socket.socket, refuses: int) -> None:
        self.unit = unit
        self.stopped = False
        self._door = door
        self._refuses = refuses
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._door.accept()
                with connection:
                    if self._refuses:
                        self._refuses -= 1
                    elif connection.recv(9):
                        connection.sendall(b"x")

    def accounting(self) -> Accounting:
        return Accounting(pids=())

    def exited(self) -> Exit | None:
        return Exit(1, "exit status 1")

    def stop(self) -> None:
        self.stopped = True
        self._door.close()


@dataclass
class Scripted:
    """A runtime whose units are threads of this process."""

    place: Path
    refuses: int = 0
    served: list[Served] = field(default_factory=list)
    released: list[str] = field(default_factory=list)

    def site(self, name: str, **_: Any) -> Site:
        self._door = socket.create_server(("127.0.0.1", 0))
        return Site(
            name=name, conf="", conf_on_host=self.place, data="", data_on_host=None,
            listen="127.0.0.1", peers="", endpoint_host="127.0.0.1", path="",
            here=self._door.getsockname()[:2],
        )  # fmt: skip

    def launch(self, unit: Unit) -> Served:
        assert all(one.stopped for one in self.served), "one unit at a time"
        self.served.append(Served(unit, self._door, self.refuses))
        return self.served[-1]

    def release_group(self, group: str) -> None:
        self.released.append(group)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    made = Scripted(tmp_path)
    monkeypatch.setattr(unit_starts, "find", lambda name: Path(name))
    monkeypatch.setattr(Accounting, "cpu_seconds", lambda _: 0.25)
    return made


def started(runtime: Scripted, seed: int = 1) -> list[str]:
    runtimes: dict[str, Any] = {"scripted": runtime}
    return [one.unit for one in start_all(UNITS, runtimes, {"scripted": "image"}, seed, {})]


def test_each_is_started_as_often_as_a_piece_has_turns_and_backwards_at_last(
    runtime: Scripted,
) -> None:
    order = started(runtime)
    assert sorted(order) == sorted(["a", "b"] * PASSES)
    assert order == order[::-1]
    assert all(one.stopped for one in runtime.served)
    assert runtime.released == [one.unit.site.name for one in runtime.served]


def test_a_start_ends_with_an_answer_and_not_with_a_connection(runtime: Scripted) -> None:
    """As behind a relay that listens before its server does."""
    runtime.refuses = 3
    runtimes: dict[str, Any] = {"scripted": runtime}
    turns = start_all(UNITS, runtimes, {"scripted": "image"}, 1, {})
    assert all(turn.wall_ns >= 3 * unit_starts._POLL_S * 1e9 for turn in turns)
    assert all(turn.cpu_ns == pytest.approx(0.25e9) for turn in turns)
    assert all(a.ended <= b.began for a, b in pairwise(turns))


def test_who_never_answers_is_said_and_stopped(
    runtime: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_starts, "_ANSWER_S", 0.05)
    runtime.refuses = 1000
    with pytest.raises(LoadError, match="does not answer") as failed:
        started(runtime)
    assert failed.value.why == "exit status 1"
    assert runtime.served[-1].stopped
