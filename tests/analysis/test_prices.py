"""Prices from slices of known cost: a cost put in is found, and none where none was put in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from tare.analysis.price_doubts import doubts
from tare.analysis.prices import (
    RoundSlices,
    Weighed,
    WeighedWay,
    compared_with,
    interval,
    prices,
)
from tare.analysis.slices import SliceRow
from tare.analysis.tariff import PARTS
from tare.errors import LoadError
from tare.records.kept_measurements import MeasuredMachine
from tare.records.prices import Price, Weighing

MACHINE = MeasuredMachine(
    hostname="here", cpus=2, cpu_model="some", virtualization="kvm", kernel="6.1"
)
WAYS = [
    WeighedWay("native", "native", "host", 0),
    WeighedWay("native again", "native", "host", 1),
    WeighedWay("docker.bridge", "docker", "bridge", 2, "bridge and veth pair"),
    WeighedWay("docker.proxy", "docker", "proxy", 2, "docker-proxy"),
]
TRUE_US = (8.0, 8.0, 9.0, 15.0)
SLICE_S = 0.25
OPS = 5000


def weighed(
    noise: float = 0.0,
    rounds: int = 5,
    slices: int = 8,
    seed: int = 1,
    us: object = TRUE_US,
    ways: list[WeighedWay] = WAYS,
) -> Weighed:
    """Slices whose demand is the true one times a mood that neighbours share, times noise."""
    generator = np.random.default_rng(seed)
    true = np.asarray(us, dtype=float) * 1e-6
    made = []
    for _ in range(rounds):
        order, rows = [], [[] for _ in ways]
        at = 0.0
        for place in range(slices):
            mood = generator.lognormal(0, 0.2)
            for way in generator.permutation(len(ways)):
                used = OPS * true[way] * mood * generator.lognormal(0, noise)
                rows[way].append(SliceRow(at, OPS, 0.31, used, per_s=OPS / SLICE_S))
                order.append((place, int(way)))
                at += 0.31
        parts = [
            dict.fromkeys(PARTS, 0.0) | {"server": sum(row.demand_s for row in own)} for own in rows
        ]
        counts = [{"packets": 2.0 * OPS * slices} for _ in ways]
        made.append(RoundSlices(rows, order, parts, counts, 0, 0.0, 0.0, True))
    return Weighed(ways, made, 60.0, SLICE_S, 1000, 0.0, True, "poll", {})


def of(found: Weighing, way: str) -> Price:
    return next(one for one in found.prices if one.way == way)


def test_ratios_are_exact_where_there_is_no_noise_but_moods() -> None:
    found = prices(weighed(), MACHINE)
    native, bridge, proxy = (of(found, n) for n in ("native", "docker.bridge", "docker.proxy"))
    assert bridge.demand.value / native.demand.value == pytest.approx(9 / 8, rel=1e-6)
    assert proxy.demand.value / native.demand.value == pytest.approx(15 / 8, rel=1e-6)
    assert bridge.added is not None
    assert bridge.added.value == pytest.approx(bridge.demand.value - native.demand.value)


WITHIN = [
    *WAYS[:2],
    WeighedWay("docker.loopback", "docker", "loopback", 2, "loopback"),
    *WAYS[2:],
    WeighedWay("gvisor.bridge", "gvisor", "bridge", 3, "bridge and veth pair"),
]


def test_ways_to_a_server_that_works_are_compared_with_its_own_loopback() -> None:
    """Each server costs another amount, by where its code and data lie."""
    us = (300.0, 303.0, 310.0, 315.0, 350.0, 420.0)
    asked = weighed(ways=WITHIN, us=us)
    found = prices(replace(asked, operation="working", working_kib=2048), MACHINE)
    told = {one.way: (one.over, one.added and one.added.value) for one in found.prices}
    scale = of(found, "native").demand.value / 300.0
    assert told == {
        "native": ("", None),
        "native again": ("", pytest.approx(3.0 * scale)),
        "docker.loopback": ("", pytest.approx(8.5 * scale)),
        "docker.bridge": ("docker.loopback", pytest.approx(5.0 * scale)),
        "docker.proxy": ("docker.loopback", pytest.approx(40.0 * scale)),
        "gvisor.bridge": ("", pytest.approx(118.5 * scale)),
    }
    bridge = of(found, "docker.bridge")
    assert bridge.percent is not None
    assert bridge.percent.value == pytest.approx(100 * 5 / 310)


def test_a_server_that_works_for_two_at_once_is_compared_with_itself_alone() -> None:
    """They share its packets; the other native server is another."""
    ways = [*WAYS[:2], replace(WAYS[0], in_flight=2)]
    asked = replace(weighed(ways=ways, us=(220.0, 235.0, 203.0)), operation="working")
    found = prices(asked, MACHINE)
    alone, _, batched = found.prices
    scale = alone.demand.value / 220.0
    assert (batched.way, batched.in_flight) == ("native", 2)
    assert batched.added is not None
    assert batched.added.value == pytest.approx(-17.0 * scale)
    assert batched.round_trip.value == pytest.approx(2 * alone.round_trip.value)
    assert compared_with(batched) == "native, 1 in flight"


def test_that_servers_that_work_differ_is_no_doubt() -> None:
    us = (300.0, 330.0, 310.0, 315.0, 350.0, 420.0)
    working = replace(weighed(ways=WITHIN, us=us), operation="working")
    assert doubts(prices(working, MACHINE)) == []
    assert doubts(prices(weighed(ways=WITHIN, us=us), MACHINE)) != []
    alone = replace(weighed(ways=WAYS[:2], us=us[:2]), operation="working")
    assert doubts(prices(alone, MACHINE)) != [], "then native is what the others are compared with"


def test_ways_to_other_servers_are_compared_with_native() -> None:
    assert {one.over for one in prices(weighed(ways=WITHIN, us=range(8, 14)), MACHINE).prices} == {
        ""
    }


def test_a_share_is_free_of_how_fast_the_machine_was_in_a_round() -> None:
    one = weighed()
    rounds = [
        replace(
            each,
            rows=[
                [row._replace(demand_s=row.demand_s * speed) for row in own] for own in each.rows
            ],
        )
        for each, speed in zip(one.rounds, (1.0, 1.3, 0.9, 1.1, 1.2), strict=True)
    ]
    bridge = of(prices(replace(one, rounds=rounds), MACHINE), "docker.bridge")
    assert bridge.percent is not None
    assert bridge.added is not None
    assert bridge.percent.value == pytest.approx(12.5)
    assert bridge.percent.high - bridge.percent.low == pytest.approx(0, abs=1e-6)
    assert bridge.added.high - bridge.added.low > 0.1


def test_what_a_neighbour_of_the_cpu_takes_is_taken_off() -> None:
    """A neighbour that works in half of the slices makes them dearer, and the pace slower."""
    generator = np.random.default_rng(3)

    def met(row: SliceRow) -> SliceRow:
        slower = 0.4 * generator.integers(2)
        return row._replace(demand_s=row.demand_s * np.exp(0.7 * slower), pace=7.0 + slower)

    one = weighed(slices=40)
    rounds = [replace(each, rows=[list(map(met, own)) for own in each.rows]) for each in one.rounds]
    blind = [
        replace(each, rows=[[row._replace(pace=None) for row in own] for own in each.rows])
        for each in rounds
    ]
    with_pace, without = (
        of(prices(replace(one, rounds=these), MACHINE), "docker.bridge").percent
        for these in (rounds, blind)
    )
    assert with_pace is not None
    assert without is not None
    assert with_pace.value == pytest.approx(12.5, abs=0.05)
    assert with_pace.high - with_pace.low < (without.high - without.low) / 10


@pytest.mark.parametrize("slower", [0.0, 0.05])
def test_a_pace_that_depends_on_the_way_makes_prices_doubtful(slower: float) -> None:
    generator = np.random.default_rng(4)
    one = weighed(slices=40)
    rounds = [
        replace(
            each,
            rows=[
                [
                    row._replace(pace=7 + slower * (way == 2) + generator.normal(0, 0.02))
                    for row in own
                ]
                for way, own in enumerate(each.rows)
            ],
        )
        for each in one.rounds
    ]
    told = " ".join(doubts(prices(replace(one, rounds=rounds), MACHINE)))
    assert ("depended on the way (docker.bridge, 1 in flight)" in told) == bool(slower)


def test_microseconds_are_as_counted() -> None:
    counted = weighed()
    total = [
        sum(row.demand_s for row in own) / sum(row.ops for row in own)
        for own in counted.rounds[0].rows
    ]
    alone = Weighed(**{**counted.__dict__, "rounds": counted.rounds[:1] * 2})
    shown = [one.demand.value for one in prices(alone, MACHINE).prices]
    assert np.mean(np.log(shown)) == pytest.approx(np.mean(np.log(np.array(total) * 1e6)))


@pytest.mark.parametrize("rounds", [3, 5])
def test_intervals_hold_the_truth_as_often_as_they_say(rounds: int) -> None:
    held = {"native again": 0, "docker.bridge": 0}
    studies = 200
    for seed in range(studies):
        found = prices(weighed(noise=0.05, seed=seed, rounds=rounds), MACHINE)
        scale = of(found, "native").demand.value / 8.0  # the mood of all slices, which is no price
        for way, true in (("native again", 0.0), ("docker.bridge", 1.0)):
            added = of(found, way).added
            assert added is not None
            held[way] += added.low <= true * scale <= added.high
    assert all(count >= 0.95 * studies for count in held.values()), held


def test_rounds_that_agree_by_chance_are_no_better_known_than_their_slices() -> None:
    alike, noise = np.array([1.0, 1.0, 1.0, 1.0]), np.full(4, 0.2)
    assert interval(alike).high == 1.0
    assert interval(alike, noise).high == pytest.approx(1 + 1.96 * 0.2 / 2, abs=1e-3)
    apart = np.array([0.0, 2.0, 0.0, 2.0])
    assert interval(apart, noise) == interval(apart), "rounds tell of more than slices do"


@pytest.mark.parametrize("way", ["native again", "docker.bridge"])
def test_the_noise_of_slices_is_that_of_both_ways(way: str) -> None:
    """If two rounds agree, the slices' scatter remains: 5% of each of 40."""
    one = weighed(noise=0.05, slices=40, rounds=2, seed=2)
    alike = replace(one, rounds=[one.rounds[0], one.rounds[0]])
    found = of(prices(alike, MACHINE), way)
    assert found.percent is not None
    half = (found.percent.high - found.percent.low) / 2
    # native again is compared with one native, the bridge with the mean of two
    share = {"native again": 2.0, "docker.bridge": (9 / 8) ** 2 + 0.5}[way]
    assert half == pytest.approx(100 * 1.96 * 0.05 * np.sqrt(share / 40 / 2), rel=0.35)


def test_a_round_trip_is_the_time_of_an_operation_in_flight() -> None:
    found = prices(weighed(), MACHINE)
    native = of(found, "native")
    assert native.round_trip.value == pytest.approx(SLICE_S / OPS * 1e6)
    assert native.round_trip_added is None


def test_native_again_is_compared_with_native_alone_and_others_with_both() -> None:
    found = prices(weighed(us=(8.0, 10.0, 9.0, 15.0)), MACHINE)
    native, again, bridge = (of(found, n) for n in ("native", "native again", "docker.bridge"))
    assert native.added is None
    assert native.parts == {}
    assert again.added is not None
    assert bridge.added is not None
    assert again.added.value == pytest.approx(again.demand.value - native.demand.value)
    assert bridge.added.value == pytest.approx(0.0, abs=1e-6)


def test_the_parts_are_of_what_was_added() -> None:
    proxy = of(prices(weighed(), MACHINE), "docker.proxy")
    assert set(proxy.parts) == {*PARTS}
    assert proxy.parts["server"].value > 0
    assert proxy.parts["engine"].value == 0


def test_counts_are_per_operation() -> None:
    packets = of(prices(weighed(), MACHINE), "docker.bridge").counts["packets"]
    assert packets.value == pytest.approx(2.0)


def test_each_number_in_flight_has_prices_of_its_own() -> None:
    """The same slices again with 32 in flight: no ratio is taken across."""
    one = weighed(noise=0.05)
    again = [replace(way, in_flight=32) for way in WAYS]
    number = len(WAYS)
    rounds = [
        replace(
            each,
            rows=each.rows + [[row._replace(ops=10 * row.ops) for row in own] for own in each.rows],
            order=each.order + [(place, way + number) for place, way in each.order],
            parts_s=each.parts_s * 2,
            counts=each.counts * 2,
        )
        for each in one.rounds
    ]
    found = prices(replace(one, ways=WAYS + again, rounds=rounds), MACHINE).prices
    assert [price.in_flight for price in found] == [1] * number + [32] * number
    for few, many in zip(found[:number], found[number:], strict=True):
        assert many.demand.value == pytest.approx(few.demand.value / 10)


def test_what_was_driven_before_a_slice_counts_whatever_was_in_flight_then() -> None:
    """A slice after another server's costs a tenth more; ways of both numbers in flight are driven
    in one random order, so that a level alone does not show what was driven before."""
    generator = np.random.default_rng(5)
    ways = WAYS + [replace(way, in_flight=32) for way in WAYS]
    true = 1e-6 * np.tile(TRUE_US, 2)
    rounds = []
    for _ in range(5):
        order, rows, before = [], [[] for _ in ways], -1
        for turn in range(40):
            for way in generator.permutation(len(ways)):
                dearer = 1.1 if before not in (-1, ways[way].server) else 1.0
                used = OPS * true[way] * dearer
                rows[way].append(SliceRow(0.0, OPS, 0.31, used, per_s=OPS / SLICE_S))
                order.append((turn, int(way)))
                before = ways[way].server
        nothing = [dict.fromkeys(PARTS, 0.0) for _ in ways]
        counts = [{"packets": 2.0 * OPS} for _ in ways]
        rounds.append(RoundSlices(rows, order, nothing, counts, 0, 0.0, 0.0, True))
    found = prices(replace(weighed(), ways=ways, rounds=rounds), MACHINE).prices
    for level in (1, 32):
        demand = {one.way: one.demand.value for one in found if one.in_flight == level}
        assert demand["docker.bridge"] / demand["native"] == pytest.approx(9 / 8, rel=2e-3)


def without_operations(slices: int) -> Weighed:
    """In one round, a way has this many of forty slices without an answer."""
    spoilt = weighed(slices=40)
    spoilt.rounds[0].rows[2][:slices] = [SliceRow(0.0, 0, 0.31, 0.001, per_s=0.0)] * slices
    return spoilt


def test_a_tenth_of_a_ways_slices_may_be_without_an_operation() -> None:
    found = prices(without_operations(4), MACHINE)
    native, bridge = (of(found, way).demand.value for way in ("native", "docker.bridge"))
    assert bridge / native == pytest.approx(9 / 8, rel=1e-6)
    with pytest.raises(LoadError) as refused:
        prices(without_operations(5), MACHINE)
    assert "tare weigh" in refused.value.remedy


def test_where_a_server_stood_still_there_are_prices_that_are_not_valid() -> None:
    spoilt = without_operations(5)
    spoilt.rounds[0] = replace(spoilt.rounds[0], gap_s=0.31)
    assert doubts(prices(spoilt, MACHINE))


def test_calls_of_a_way_whose_server_is_not_known_here_hide_no_other_s() -> None:
    one = weighed()
    calls = [{"server_calls": 2.0}, {"server_calls": 2.0}, {}, {"server_calls": 3.0}]
    rounds = [replace(each, calls=calls) for each in one.rounds]
    found = prices(replace(one, rounds=rounds), MACHINE)
    assert of(found, "docker.proxy").counts["server_calls"].value == 3.0
    assert "server_calls" not in of(found, "docker.bridge").counts
    without = [*rounds[:-1], replace(rounds[-1], calls=())]
    assert of(prices(replace(one, rounds=without), MACHINE), "native").counts.keys() == {"packets"}


def test_an_interval_is_students() -> None:
    found = interval(np.array([1.0, 2.0, 3.0]))
    assert found.value == 2.0
    assert found.high - 2.0 == pytest.approx(4.302653 / 3**0.5)
    assert 2.0 - found.low == pytest.approx(4.302653 / 3**0.5)


def test_the_document_says_when_and_of_which_machine() -> None:
    found = prices(weighed(), MACHINE)
    assert found.machine == MACHINE
    assert (datetime.now(UTC) - found.made).total_seconds() < 60
    assert Weighing.model_validate_json(found.model_dump_json()) == found


def test_the_time_of_connections_is_theirs_as_a_slice_has_so_many_and_no_more() -> None:
    one = weighed()
    took_s = 64 * 150e-6

    def counted(own: list[SliceRow]) -> list[SliceRow]:
        return [row._replace(ops=64, seconds=took_s) for row in own]

    rounds = [replace(each, rows=[counted(own) for own in each.rows]) for each in one.rounds]
    found = prices(replace(one, operation="connection", rounds=rounds), MACHINE)
    assert found.operation == "connection"
    assert of(found, "native").round_trip.value == pytest.approx(150)


def test_a_further_kilobyte_costs_what_larger_answers_cost_more() -> None:
    each_us = (0.25, 0.25, 0.5, 1.0)
    larger_us = [us + 8 * each for us, each in zip(TRUE_US, each_us, strict=True)]
    ways = [*WAYS, *(replace(way, larger=True) for way in WAYS)]
    one = replace(
        weighed(us=[*TRUE_US, *larger_us], ways=ways),
        operation="kilobyte",
        row_bytes=1000,
        larger_row_bytes=9000,
    )
    found = prices(one, MACHINE)
    assert [price.way for price in found.prices] == [way.name for way in WAYS]
    native, again, bridge, proxy = found.prices
    assert bridge.demand.value / native.demand.value == pytest.approx(2)
    assert proxy.demand.value / native.demand.value == pytest.approx(4)
    assert bridge.added is not None
    assert bridge.added.value == pytest.approx(0.25, rel=0.2), "but for the moods of the rounds"
    assert again.added is not None
    assert again.added.value == pytest.approx(0, abs=1e-9)
    assert native.counts["packets"].value == pytest.approx(0), "as many for both sizes"
    assert (found.row_bytes, found.larger_row_bytes) == (1000, 9000)


def test_connections_with_tls_are_compared_with_native_s_with_tls() -> None:
    with_tls = [us + 300 for us in TRUE_US]
    ways = [*WAYS, *(replace(way, tls=True) for way in WAYS)]
    one = weighed(us=[*TRUE_US, *with_tls], ways=ways)
    found = prices(replace(one, operation="connection"), MACHINE)
    assert [price.tls for price in found.prices] == [False] * 4 + [True] * 4
    bare, hidden = (one for one in found.prices if one.way == "docker.bridge")
    native = found.prices[4]
    assert (native.way, native.added) == ("native", None)
    assert hidden.demand.value / native.demand.value == pytest.approx(309 / 308)
    assert bare.added is not None
    assert hidden.added is not None
    assert hidden.added.value == pytest.approx(bare.added.value, rel=0.2)
