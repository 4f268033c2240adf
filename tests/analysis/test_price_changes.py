"""Two weighings side by side: differences are found, and none if nothing differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tare.analysis.part_prices import Turn, part_prices
from tare.analysis.price_changes import PriceChange, compare_parts, compare_prices
from tare.records.prices import Interval, Price, ServersHost
from tests.analysis.test_part_prices import MACHINE, weighed
from tests.priced_ways import BRIDGE, LOOPBACK, WORKING, price, weighing

DEARER = weighing(price("docker.bridge", 1, 3.5), price("docker.bridge", 32, 0.4))


def of(way: str, in_flight: int, changes: list[PriceChange]) -> PriceChange:
    return next(one for one in changes if (one.way, one.in_flight) == (way, in_flight))


def test_a_price_that_changed_is_told_with_its_interval() -> None:
    """Each is known to 0.1, so their difference is known to root two times that."""
    found = of("docker.bridge", 1, compare_prices(BRIDGE, DEARER).changes)
    assert (found.what, found.a, found.b) == ("added", 3.0, 3.5)
    assert found.difference == pytest.approx(0.5)
    assert found.ci == pytest.approx((0.5 - 0.1414, 0.5 + 0.1414), abs=1e-3)
    assert found.verdict == "dearer"
    assert of("docker.bridge", 1, compare_prices(DEARER, BRIDGE).changes).verdict == "cheaper"


def test_what_a_price_is_over_is_told_and_two_over_different_ways_are_not_compared() -> None:
    found = compare_prices(WORKING, WORKING)
    assert of("docker.bridge", 1, found.changes).over == LOOPBACK
    assert of("docker.loopback", 1, found.changes).over == "native"
    assert of("native", 1, found.changes).over == ""
    without = weighing(price("docker.bridge", 1, 4.5), *WORKING.prices[3:])
    apart = compare_prices(WORKING, without.model_copy(update={"operation": "working"}))
    assert not any(one.way == "docker.bridge" for one in apart.changes)
    assert apart.only == [
        "docker.bridge with 1 in flight, over docker.loopback",
        "docker.bridge with 1 in flight",
    ]


def test_that_servers_of_one_were_reached_over_ssh_is_told() -> None:
    host = ServersHost(
        name="db1", group="", clients=BRIDGE.machine, one_kernel=False, clock_uncertain_s=0.0
    )
    found = compare_prices(BRIDGE, BRIDGE.model_copy(update={"on_host": host}))
    (told,) = found.differing
    assert told.startswith("servers: beside their clients and reached over SSH from ")


def test_a_share_of_native_s_is_compared_beside_microseconds() -> None:
    """On a machine that is twice as fast for everything a way adds half the microseconds and the
    same percent."""

    def shared(us: float, percent: float) -> Price:
        own = Interval(value=percent, low=percent - 1, high=percent + 1)
        return price("docker.bridge", 1, us).model_copy(update={"percent": own})

    slow, fast, dearer = (weighing(shared(*one)) for one in ((3.0, 20.0), (1.5, 20.0), (3.0, 25.0)))
    same = of("docker.bridge", 1, compare_prices(slow, fast).changes)
    assert same.verdict == "cheaper"
    assert same.percent is not None
    assert (same.percent.a, same.percent.b) == (20.0, 20.0)
    assert same.percent.verdict == "not told apart"
    more = of("docker.bridge", 1, compare_prices(slow, dearer).changes)
    assert more.percent is not None
    assert more.percent.difference == 5.0
    assert more.percent.ci == pytest.approx((5 - 2**0.5, 5 + 2**0.5))
    assert more.percent.verdict == "dearer"


def test_of_native_and_of_prices_without_shares_no_percent_is_compared() -> None:
    assert {one.percent for one in compare_prices(BRIDGE, DEARER).changes} == {None}


def test_the_same_weighing_twice_is_not_told_apart() -> None:
    found = compare_prices(BRIDGE, BRIDGE)
    assert {one.verdict for one in found.changes} == {"not told apart"}
    assert of("native", 1, found.changes).what == "demand"
    assert found.differing == []
    assert found.only == []


def test_what_else_differs_and_what_only_one_has_is_told() -> None:
    machine = BRIDGE.machine.model_copy(update={"kernel": "7"})
    more = weighing(*BRIDGE.prices[2:], price("docker.proxy", 1, 40.0))
    other = more.model_copy(update={"machine": machine, "row_bytes": 100})
    found = compare_prices(BRIDGE, other)
    assert "kernel: 6 and 7" in found.differing
    assert "row: 1,000 bytes and 100 bytes" in found.differing
    assert found.only == ["docker.proxy with 1 in flight"]


def test_the_price_of_a_part_that_changed_is_told_on_its_platform_and_by_its_clock() -> None:
    """For example a virtual machine beside its host: one native operation costs more there."""

    def dearer(_: int, turn: Turn) -> Turn:
        return replace(turn, cpu_ns=turn.cpu_ns * 1.5) if turn.piece == "fault_2m" else turn

    here, there = (
        part_prices(weighed(noise=0.01, seed=seed, change=change), MACHINE)
        for seed, change in ((1, lambda _, turn: turn), (2, dearer))
    )
    found = compare_parts(here, there.model_copy(update={"idle_cpus": "halt"}))
    changed = {(one.piece, one.platform, one.clock): one for one in found.changes}
    fault = changed["fault_2m", "native", "cpu"]
    assert (fault.what, fault.verdict) == ("cost", "dearer")
    assert fault.b / fault.a == pytest.approx(1.5, rel=0.2)
    wake = changed["futex_wake", "docker", "cpu"]
    assert (wake.what, wake.verdict) == ("added", "not told apart")
    assert wake.percent is not None
    assert {clock for piece, _, clock in changed if piece == "append"} == {"cpu", "wall"}
    assert {clock for piece, _, clock in changed if piece == "futex_wake"} == {"cpu"}
    assert found.differing == ["idle CPUs: poll and halt"]


def test_a_price_of_fewer_rounds_has_their_degrees_of_freedom() -> None:
    """The same interval of two rounds is one of a smaller error: a t of 12.7 in place of 2.8."""
    made = part_prices(weighed(noise=0.01), MACHINE)
    halved = made.model_copy(
        update={"prices": [one.model_copy(update={"rounds": 2}) for one in made.prices]}
    )
    (usual, fewer) = (
        next(one for one in compare_parts(found, found).changes if one.what == "cost")
        for found in (made, halved)
    )
    half, wider = ((one.ci[1] - one.ci[0]) / 2 for one in (usual, fewer))
    assert wider == pytest.approx(half), "an interval is given, and comes back"
    mixed = next(one for one in compare_parts(made, halved).changes if one.what == "cost")
    assert (mixed.ci[1] - mixed.ci[0]) / 2 > 2 * half


def test_an_operation_that_only_one_of_them_has_is_named_with_its_platform() -> None:
    every = part_prices(weighed(), MACHINE)
    fewer = every.model_copy(
        update={"prices": [one for one in every.prices if one.platform != "docker.layer"]}
    )
    assert compare_parts(every, fewer).only == ["append 4 KiB, fdatasync on docker.layer"]
