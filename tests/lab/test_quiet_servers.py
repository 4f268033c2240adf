"""How servers without a database are set up, and the ways to them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.errors import TareError, UnitGoneError
from tare.lab import quiet_servers
from tare.lab.quiet_servers import (
    QuietServers,
    Server,
    _entered,
    _fault,
    _terminate,
    quiet_setup,
)
from tare.machines.cgroups import Accounting
from tare.runtimes.unit import Running, Runtime, Site, Unit, Way


@pytest.mark.parametrize(("database", "stands_in"), [("cassandra", False), ("mongodb", True)])
def test_a_server_without_a_database_stands_in_for_mongodb(
    database: str, *, stands_in: bool
) -> None:
    setup = quiet_setup({"threads": 3}, 0.25, database)
    assert (setup.database.kind, setup.database.stand_in) == (database, stands_in)
    assert (setup.load.threads, setup.load.records) == (3, 20_000)


WAYS = {
    "bridge": Way("10.0.0.2", "bridge"),
    "loopback": Way("127.0.0.1", "loopback", inside=True),
    "between-nodes": Way("10.0.0.2", "two bridges", beside=True),
}


def unit_of(name: str = "n", machine: str = "", pid: int = 7) -> Running:
    site = Site(name, "", Path(), "", None, "", "", "10.0.0.2", "", ways=WAYS, machine=machine)
    unit = SimpleNamespace(site=site)
    accounting = Accounting({}, (pid,)) if pid else Accounting()
    return cast("Running", SimpleNamespace(unit=unit, accounting=lambda: accounting))


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet_servers.os, "geteuid", lambda: 0)


def test_a_way_begins_on_this_machine_in_its_server_or_in_the_unit_beside_it() -> None:
    server, beside = unit_of("server"), unit_of("beside")
    begins = {name: _entered(server, beside, name) for name in ("", *WAYS)}
    assert begins == {"": None, "bridge": None, "loopback": server, "between-nodes": beside}


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    ("server", "beside", "why"),
    [
        (unit_of(), unit_of(), ""),
        (unit_of(machine="rig-1"), unit_of(machine="rig-2"), ""),
        (unit_of(machine="rig-1"), unit_of(machine="rig-1"), "both units came to run on rig-1"),
        (unit_of(machine="rig-1"), unit_of(machine="far", pid=0), "no second unit runs on this"),
        (unit_of(machine="rig-1"), None, "no second unit runs on this"),
    ],
    ids=["containers", "two nodes", "one node", "elsewhere", "none"],
)
def test_between_nodes_a_way_begins_at_a_second_unit_on_another_machine(
    server: Running, beside: Running | None, why: str
) -> None:
    found = _fault(server, beside, "between-nodes")
    assert found.startswith(why)
    assert bool(found) == bool(why)
    assert _fault(server, beside, "bridge") == ""


def test_a_way_that_a_runtime_does_not_make_is_left_out() -> None:
    assert _fault(unit_of(), unit_of(), "between-published") == "its runtime makes no such way"


def test_only_root_enters_the_namespace_of_the_unit_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quiet_servers.os, "geteuid", lambda: 1000)
    assert "only root" in _fault(unit_of(), unit_of(), "between-nodes")
    assert "only root" in _fault(unit_of(), None, "", unit_of())


class Recorder:
    """A runtime that starts nothing and notes the requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.units: list[Unit] = []

    def site(self, name: str, **wanted: Any) -> Site:
        self.asked.append(f"site {name} of {wanted['group']}")
        return Site(name, "", Path(), "", None, "", "", "10.0.0.2", "", ways=WAYS)

    def launch(self, unit: Unit) -> Any:
        self.asked.append(f"launch {unit.site.name}")
        self.units.append(unit)
        return SimpleNamespace(stop=lambda: self.asked.append(f"stop {unit.site.name}"))

    def release_group(self, group: str) -> None:
        self.asked.append(f"release {group}")


def test_the_unit_beside_a_server_is_of_its_group_and_on_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An orchestrator makes a group from the sites that are settled before the first launch."""
    monkeypatch.setattr(quiet_servers, "_await_port", lambda server: None)
    runtime = Recorder()
    setup = quiet_setup({"threads": 1}, 0.25)
    with contextlib.ExitStack() as stack:
        servers = QuietServers(stack, cast("Any", runtime), setup, "tare weigh")
        one = Server(cast("Runtime", runtime), "bridge", several=True, beside=True, image="stub")
        servers._serve(3, one)
        assert runtime.asked == [
            "site server3 of g3", "site beside3 of g3", "launch server3", "launch beside3",
        ]  # fmt: skip
        assert [unit.placement and unit.placement.spread for unit in runtime.units] == [
            "required", "required",
        ]  # fmt: skip
    assert runtime.asked[4:] == ["stop beside3", "stop server3", "release g3"]


@pytest.mark.parametrize(("network", "tried"), [("", ["10.9.0.2"]), ("tare-br9", [])])
def test_only_an_address_of_this_machine_is_tried_before_a_server_of_files_in_place_starts(
    monkeypatch: pytest.MonkeyPatch, network: str, tried: list[str]
) -> None:
    """Another cannot be bound here, though nobody has it."""
    seen: list[str] = []
    monkeypatch.setattr(quiet_servers, "_refuse_taken", seen.append)
    monkeypatch.setattr(quiet_servers, "_await_port", lambda server: None)
    monkeypatch.setattr(quiet_servers, "find", lambda name: Path(name))

    class Joined(Recorder):
        def site(self, name: str, **wanted: Any) -> Site:
            return replace(super().site(name, **wanted), listen="10.9.0.2", network=network)

    runtime = Joined()
    with contextlib.ExitStack() as stack:
        setup = quiet_setup({"threads": 1}, 0.25)
        servers = QuietServers(stack, cast("Any", runtime), setup, "tare weigh")
        servers._serve(1, Server(cast("Runtime", runtime), "bridge"))
    assert seen == tried
    assert runtime.units[0].command[:3] == ["tare-stub", "--listen", "10.9.0.2:9042"]


def test_a_server_on_a_host_listens_behind_those_that_are_there_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quiet_servers, "_await_port", lambda server: None)

    class Shifted(Recorder):
        def site(self, name: str, **wanted: Any) -> Site:
            return replace(super().site(name, **wanted), shift=100)

    runtime = Shifted()
    with contextlib.ExitStack() as stack:
        host = cast("Any", lambda: None)
        servers = QuietServers(
            stack, cast("Any", runtime), quiet_setup({"threads": 1}, 0.25), "tare weigh", host=host
        )
        one = Server(cast("Runtime", runtime), program="/there/stub", listen="10.0.0.7")
        servers._serve(1, one)
    assert runtime.units[0].command[:3] == ["/there/stub", "--listen", "10.0.0.7:9142"]


def test_all_clients_are_asked_to_end_though_one_is_gone() -> None:
    asked: list[str] = []

    def client(name: str, fault: TareError | None = None) -> Any:
        def terminate() -> None:
            asked.append(name)
            if fault:
                raise fault

        return SimpleNamespace(running=SimpleNamespace(terminate=terminate))

    unborn = SimpleNamespace(running=None)
    _terminate([client("c1", UnitGoneError("it is gone")), cast("Any", unborn), client("c2")])
    assert asked == ["c1", "c2"]
