"""A trial reads the current clocks of its nodes' hosts, and records them.

Nodes and hosts are scripted. Real trials are under tests/integration.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import TrialFailedError
from tare.lab.trial import TrialRun, see_running
from tare.lab.unit_records import unit_record
from tare.machines.cgroups import Accounting
from tare.machines.clocks import SAME, Offset
from tare.runtimes.unit import Bits, Site, Way
from tare.study.platform import Limits, Platform


class Drifting:
    """A host whose clock is a second further ahead whenever it is read."""

    name = "db1"

    def __init__(self) -> None:
        self.clock = SAME

    def read_clock(self) -> None:
        self.clock = Offset(self.clock.ahead_s + 1.0, 0.001, 12)


def node(machine: Any) -> Any:
    site = SimpleNamespace(machine=machine.name, clock=Offset(0.5, 0.001, 12))
    unit = SimpleNamespace(
        site=site, storage="directory", command=[], bits=Bits("digest"), limits=Limits()
    )
    accounting = Accounting({}, (1,), machine) if machine.name else Accounting({}, (1,))
    return SimpleNamespace(
        unit=unit, accounting=lambda: accounting, packet_path=lambda: "", facts=dict
    )


def test_clocks_of_nodes_hosts_are_read_once_at_the_beginning_of_every_trial() -> None:
    host = Drifting()
    nodes = [node(host), node(host), node(SimpleNamespace(name=""))]
    deployment: Any = SimpleNamespace(clusters=[SimpleNamespace(nodes=nodes)])
    anything: Any = None
    trial = TrialRun("run", anything, anything, deployment, anything, anything, 1, anything)
    for read in (1.0, 2.0):
        trial._read_clocks()
        assert host.clock.ahead_s == read


@pytest.mark.parametrize(("role", "ahead_s"), [("database", 1.0), ("client", 0.5)])
def test_a_node_s_clock_is_recorded_as_last_read_and_a_client_s_as_it_was_started_by(
    role: Any, ahead_s: float
) -> None:
    host = Drifting()
    host.read_clock()
    record = unit_record("n1", node(host), role, 1, Platform(machines="ssh"), "", {})
    assert record.clock is not None
    assert record.clock["ahead_s"] == ahead_s


@pytest.mark.parametrize(("endpoint", "path"), [("proxy", "docker-proxy"), ("", "bridge")])
def test_a_node_s_record_has_the_path_of_the_condition_s_own_endpoint(
    endpoint: Any, path: str
) -> None:
    there = node(Drifting())
    there.packet_path = lambda: "bridge"
    ways = {"proxy": Way("127.190.0.1", "docker-proxy")}
    there.unit.site = Site(
        "n", "", Path(), "", None, "", "", "", "bridge", ways=ways, machine="db1"
    )
    platform = Platform(runtime="docker", network="bridge", endpoint=endpoint)
    record = unit_record("n1", there, "database", 1, platform, "there:9042", {})
    assert (record.network, record.endpoint, record.path) == ("bridge", "there:9042", path)


def test_a_unit_that_stands_still_fails_the_trial_and_is_named() -> None:
    def unit(by: str) -> Any:
        return SimpleNamespace(standing_still=lambda *, frozen: by)

    see_running({"n1": unit(""), "c1": unit("")})
    with pytest.raises(TrialFailedError) as found:
        see_running({"n1": unit(""), "n2": unit("its process 7 is stopped by a signal")})
    assert (found.value.where, found.value.why) == ("n2", "its process 7 is stopped by a signal")
    assert "kill -CONT" in found.value.remedy
