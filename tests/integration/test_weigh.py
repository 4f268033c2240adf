"""Real servers without a database, native and in containers, weighed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tare.analysis.prices import prices
from tare.lab.weighing import weigh
from tare.machines.facts import local_facts
from tare.monitor.calls import KINDS
from tare.records.kept_measurements import MeasuredMachine
from tare.records.prices import Weighing
from tare.runtimes.docker_ways import BETWEEN_BY_PROXY

from .conftest import FROM_A_TERMINAL, TARE, leftovers, weighed

pytestmark = pytest.mark.engine

WAYS = ["native", "native again", "docker.host", "docker.loopback", "docker.bridge",
        "docker.published", "docker.proxy", "docker.between-nodes",
        "docker.between-published"]  # fmt: skip
TO_HOST = "docker.to-host"
PROXIED = ("docker.proxy", "docker.between-published")
"""docker-proxy relays what comes from the container's own bridge"""

STARTING, IN_SLICES = 0.3, 4.0
"""seconds behind the begin of a round: its servers start, or its slices go on"""


def test_each_way_has_a_price_docker_proxy_is_the_dearest_and_calls_are_counted() -> None:
    found = weighed("--seconds", "33", "--in-flight", "1", "--to-host")
    assert [one.way for one in found.prices] == [*WAYS, TO_HOST]
    assert found.left_out == {}
    assert all(one.demand.value > 1 and one.round_trip.value > 5 for one in found.prices)
    by_way = {one.way: one for one in found.prices}
    cheaper = max(one.demand.value for name, one in by_way.items() if name not in PROXIED)
    for name in PROXIED:
        assert by_way[name].demand.value > cheaper
        assert by_way[name].parts["engine"].value > 1, "docker-proxy's own time is the engine's"
    assert by_way["docker.between-published"].path == BETWEEN_BY_PROXY
    between = next(one for one in found.prices if one.endpoint == "between-nodes")
    assert between.path == "bridge and two veth pairs, from another container"
    assert between.added is not None
    assert between.added.value > 0, "two veth pairs cost more than a loopback device"
    for one in found.prices:
        assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4), one.way
    calls_are_those_of_an_operation(found)
    assert leftovers() == []


def calls_are_those_of_an_operation(found: Weighing) -> None:
    """With one in flight the stub waits, reads and answers each request, and sleeps in between."""
    if os.geteuid() != 0:
        assert found.why_no_calls
        return
    assert found.why_no_calls == ""
    for one in found.prices:
        own = {name: each.value for name, each in one.counts.items()}
        for name in ("read", "write", "epoll"):
            assert 0.9 < own[f"server_{name}_calls"] < 2.5, (one.way, name)
        assert own["server_sync_calls"] == 0
        kinds = sum(own[f"server_{kind}_calls"] for kind in KINDS)
        assert kinds <= own["server_calls"] < kinds + 1
        assert 0.5 < own["server_switches"] < 1.5, one.way
        assert own["client_calls"] > 2


def test_with_more_in_flight_one_packet_serves_several_operations() -> None:
    few, _, many = weighed("native", "--seconds", "24").prices
    assert (few.in_flight, many.in_flight) == (1, 32)
    assert many.counts["packets"].value < few.counts["packets"].value
    assert many.demand.value < few.demand.value


def test_a_new_connection_has_a_price_on_each_way_and_a_page(tmp_path: Path) -> None:
    page = tmp_path / "prices.html"
    found = weighed("--what", "connection", "--seconds", "52", "--to-host", "--html", str(page))
    assert found.operation == "connection"
    assert [one.way for one in found.prices] == [*WAYS, TO_HOST] * 2
    bare, hidden = ([one for one in found.prices if one.tls is tls] for tls in (False, True))
    for one, other in zip(bare, hidden, strict=True):
        assert other.demand.value > one.demand.value + 50, "two key exchanges and a signature"
    for one in found.prices:
        # three packets to open it, two requests with answers, and what closes it
        assert one.counts["packets"].value > 7, one.way
        assert one.round_trip.value > 20
    dearest = max(found.prices, key=lambda one: one.demand.value)
    assert dearest.way in PROXIED
    assert "A new connection" in page.read_text(encoding="utf-8")
    assert leftovers() == []


def test_each_further_kilobyte_has_a_price_on_each_way() -> None:
    found = weighed("--what", "bytes", "--seconds", "45")
    assert [one.way for one in found.prices] == WAYS
    assert (found.row_bytes, found.larger_row_bytes) == (1000, 9000)
    for one in found.prices:
        assert 0 < one.demand.value < 20, one.way
    each = {one.way: one.demand.value for one in found.prices}
    # packets of a bridge hold 1.5 kB, those of the loopback device 64; docker-proxy may move pages
    # without a copy (splice), and need not be the dearest
    assert each["docker.bridge"] > each["native"]
    assert each["docker.between-nodes"] > each["native"]
    assert leftovers() == []


def test_a_server_that_works_takes_longer_and_needs_no_more_packets() -> None:
    found = weighed("--what", "working", "--seconds", "48")
    *alone, sharing = found.prices
    assert [one.way for one in alone] == WAYS
    assert found.working_kib > 0
    for one in alone:
        assert one.in_flight == 1
        assert one.demand.value > 50, "it walks through megabytes"
        assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4), one.way
    assert (sharing.way, sharing.in_flight) == ("native", 2)
    assert sharing.counts["packets"].value == pytest.approx(1.0, abs=0.4)
    assert {one.over for one in alone[4:]} == {"docker.loopback"}
    for one in alone:
        if one.way in PROXIED:
            assert one.added is not None
            assert one.added.value > 0
    assert leftovers() == []


def test_a_working_server_speaks_mongodb_s_protocol_too() -> None:
    native, _, sharing = weighed(
        "native", "--what", "working", "--database", "mongodb", "--seconds", "27"
    ).prices
    assert native.demand.value > 50
    assert sharing.counts["packets"].value == pytest.approx(2.0, abs=0.4), "none is shared"


def test_mongodb_s_pattern_needs_packets_of_its_own_for_each_operation() -> None:
    few, _, many = weighed("native", "--database", "mongodb", "--seconds", "24").prices
    assert (few.in_flight, many.in_flight) == (1, 32)
    for one in (few, many):
        assert one.counts["packets"].value == pytest.approx(2.0, abs=0.4)


@pytest.mark.long
def test_a_known_cost_is_found() -> None:
    """Servers in containers keep the CPU busy 20 us longer: far above noise and platform."""

    def spends(way: str, _: int) -> list[str]:
        return ["--spend", "20us"] if way == "docker.loopback" else []

    one = weigh(["native", "docker"], 60, 3, told=spends)
    found = prices(one, MeasuredMachine.of(local_facts()))
    inside = next(price for price in found.prices if price.way == "docker.loopback")
    assert inside.added is not None
    assert inside.added.value == pytest.approx(20, abs=4)
    assert inside.parts["server"].value == pytest.approx(20, abs=4)


@pytest.mark.parametrize(
    ("how", "after"),
    [
        (signal.SIGINT, IN_SLICES),
        (signal.SIGKILL, STARTING),
        (signal.SIGKILL, IN_SLICES),
        pytest.param(signal.SIGINT, STARTING, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, STARTING, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, IN_SLICES, marks=pytest.mark.long),
    ],
)
def test_nothing_stays_of_what_is_stopped_once_clean_has_run(
    how: int, after: float, tmp_path: Path
) -> None:
    command = [*FROM_A_TERMINAL, TARE, "weigh"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("round 1 of")
        time.sleep(after)
        running.send_signal(how)
        assert running.wait(60) == (-how if how == signal.SIGKILL else 130)
    finally:
        running.kill()
    if how == signal.SIGKILL:
        subprocess.run([TARE, "clean"], cwd=tmp_path, check=True, timeout=60)
    assert leftovers() == []


def test_a_server_that_is_stopped_for_a_while_makes_the_prices_not_valid(tmp_path: Path) -> None:
    words = ["native", "--rounds", "3", "--seconds", "24", "--in-flight", "1"]
    running = subprocess.Popen(
        [TARE, "weigh", *words],
        env={**os.environ, "TARE_CACHE": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("round 1 of")
        time.sleep(4)  # into the slices: there each server has every other one
        stubs = [one for one in psutil.Process(running.pid).children() if one.name() == "tare-stub"]
        assert len(stubs) == 2
        stubs[0].suspend()
        time.sleep(1.2)
        stubs[0].resume()
        output = running.communicate(timeout=120)[0]
    finally:
        running.kill()
    assert running.returncode == 3, output
    assert "not valid: nothing was answered for" in output
    assert leftovers() == []


def test_without_an_engine_native_is_weighed_and_docker_is_said() -> None:
    """The servers take their time, too: a slice holds the requests that they answer in turn."""
    words = ("--seconds", "32", "--in-flight", "8", "--service-us", "700")
    found = weighed(*words, DOCKER_HOST="unix:///nowhere/docker.sock")
    assert {one.way for one in found.prices} == {*WAYS[:2]}
    assert "no Docker engine answers" in found.left_out["docker"]
    assert found.service_us == 700
    assert all(one.round_trip.value > 700 for one in found.prices)
