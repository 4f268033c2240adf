"""Lines of a bill for packets that find cold caches, from prices of servers that work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.analysis.amounts import Amount
from tare.analysis.priced_pair import BATCHED, COLD, COLD_NOT_WEIGHED, Paid, priced
from tare.analysis.tariff import Tariff
from tests.analysis.test_bill import EACH, analysed, bill, half
from tests.priced_ways import BRIDGE, LOOPBACK, PATH, QUIET, WORKING, around, price, weighing

if TYPE_CHECKING:
    from pathlib import Path

    from tare.records.prices import Weighing


def test_a_packet_to_a_server_that_works_costs_as_much_more_at_any_batching() -> None:
    tariff = Tariff(QUIET, WORKING)
    assert tariff.knows_cold("docker.bridge")
    for packets in (0.1, 0.2, 1.1, 2.0, 3.0):
        point = tariff.at("docker.bridge", packets)
        assert point.cold.value == pytest.approx(packets * (4.5 - (3.0 - 0.5)) / 2)
        assert point.excess == Tariff(BRIDGE).at("docker.bridge", packets).excess


@pytest.mark.parametrize("way", ["native", LOOPBACK])
def test_over_a_loopback_device_they_cost_no_more_wherever_a_server_s_data_lies(way: str) -> None:
    """The container's server worked 7 us less than native's."""
    tariff = Tariff(QUIET, WORKING)
    assert tariff.knows_cold(way)
    assert not tariff.costs_more_cold(way)
    assert tariff.at(way, 2.0).cold.value == 0


def test_what_it_costs_more_is_uncertain_by_both_weighings() -> None:
    """By one price of the working server, and both of the quiet one, which share their rounds."""
    point = Tariff(QUIET, WORKING).at("docker.bridge", 2.0)
    assert point.cold.error == pytest.approx((1 + 2**2) ** 0.5 * EACH)


def test_owners_pay_for_cold_caches_too() -> None:
    quiet, worked = (
        weighing(
            price("docker.bridge", 1, 3.0, over=over).model_copy(
                update={"parts": {"server": around(each)}}
            ),
            price(LOOPBACK, 1, 0.0).model_copy(update={"parts": {"server": around(0.0)}}),
        )
        for each, over in ((2.0, ""), (4.5, LOOPBACK))
    )
    point = Tariff(quiet, worked).at("docker.bridge", 1.0)
    assert point.owners["server"].value == pytest.approx(2.0 / 2 + (4.5 - 2.0) / 2)
    assert point.owners["client"].value == 0


def test_between_nodes_both_ends_pay_what_a_server_that_works_does() -> None:
    """A packet costs 1 us more, of which the server pays 0.9, 0.6 of it in soft interrupts, and the
    client, which does nothing else, the rest."""
    amounts = {"server": 1.8, "client": 0.2, "softirq": 1.2}
    quiet, worked = (
        weighing(
            price("docker.bridge", 1, 3.0 + 2.0 * works, over=over).model_copy(
                update={"parts": {name: around(one * works) for name, one in amounts.items()}}
            ),
            price(LOOPBACK, 1, 0.0).model_copy(
                update={"parts": dict.fromkeys(amounts, around(0.0))}
            ),
        )
        for works, over in ((0, ""), (1, LOOPBACK))
    )
    tariff = Tariff(quiet, worked)
    point = tariff.at("docker.bridge", 2.0, between_nodes=True)
    assert point.cold.value == pytest.approx(3.6)
    once = tariff.at("docker.bridge", 2.0).cold.error
    assert point.cold.error == pytest.approx(3 * once), "of the sum, the server and the client"
    assert {name: one.value for name, one in point.owners.items() if one.value} == {
        "server": pytest.approx(1.8),
        "client": pytest.approx(1.8),
        "softirq": pytest.approx(2.4),
    }
    assert point.excess == tariff.at("docker.bridge", 2.0).excess
    packets = Amount(2.0, 0.1, 4)
    nodes = [Paid(way, way, packets, nodes=True) for way in ("native", "docker.bridge")]
    found = priced(tariff, nodes[:1], nodes[1:])
    assert found.owners["server"].value == pytest.approx(3.6)
    assert found.owners["client"].value == 0


@pytest.mark.parametrize(
    "worked",
    [
        None,
        weighing(),
        weighing(price("docker.published", 1, 5.0, over=LOOPBACK)),
        weighing(price("docker.bridge", 1, 5.0)),
    ],
)
def test_unless_a_way_was_weighed_over_the_loopback_of_a_server_that_works_nothing_is_known(
    worked: Weighing | None,
) -> None:
    tariff = Tariff(QUIET, worked)
    assert not tariff.knows_cold("docker.bridge")
    assert tariff.at("docker.bridge", 2.0).cold.value == 0


def test_packets_that_find_cold_caches_have_a_line_of_their_own(tmp_path: Path) -> None:
    """Two packets, each 1 us more where a server works, beside the bridge's 3 us."""
    found = bill(analysed(tmp_path, 1 + 5.0 / 240, QUIET, working=WORKING))
    (cold, batches) = (line for line in found.lines if line.what.startswith(COLD))
    assert (cold.what, batches.what) == (f"{COLD}: {PATH}", f"{COLD}: {BATCHED}")
    assert batches.us == 0
    assert cold.count == pytest.approx(2.0)
    assert cold.us == pytest.approx(2.0, abs=0.01)
    assert found.us == pytest.approx(5.0, abs=0.01)
    assert found.us == pytest.approx(sum(line.us for line in found.lines))
    assert half(found) > half(bill(analysed(tmp_path / "quiet", 1.0, BRIDGE)))
    assert not any(what.startswith(COLD) for what in found.left_out)


def test_answers_that_are_batched_less_cost_what_a_packet_does_to_a_server_that_works(
    tmp_path: Path,
) -> None:
    """Half a packet more, of 20 us in place of 7.5, beside the bridge's 3 and 2 us."""
    found = bill(analysed(tmp_path, 1.0, QUIET, {"native": 1.5}, working=WORKING))
    told = {line.what: line.us for line in found.lines}
    assert told[BATCHED] == pytest.approx(0.5 * 7.5, abs=0.01)
    assert told[f"{COLD}: {BATCHED}"] == pytest.approx(0.5 * (20.0 - 7.5), abs=0.01)
    assert found.us == pytest.approx(3.0 + 2.0 + 0.5 * 20.0, abs=0.02)


@pytest.mark.parametrize("packets", [1.9, 2.0])
def test_of_a_protocol_that_shares_no_packets_nothing_follows_of_batching(packets: float) -> None:
    """MongoDB's has a connection for each operation: packets do not become fewer."""
    many = price("native", 1, -0.3, packets=packets).model_copy(update={"in_flight": 2})
    working = weighing(*WORKING.prices[2:4], many)
    assert Tariff(QUIET, working).working_packet_us() is None
    alike = QUIET.model_copy(update={"prices": [price("native", 1, None), many]})
    assert Tariff(alike).packet_us().value == 0


def test_each_side_s_way_has_its_own_line_of_cold_caches() -> None:
    """Two packets by the port, each 2 us more; as many by the bridge, each 1 us more."""
    port = "docker.published"
    quiet = weighing(*QUIET.prices[2:], price(port, 1, 3.5))
    worked = weighing(
        price("docker.bridge", 1, 4.5, over=LOOPBACK), price(port, 1, 7.0, over=LOOPBACK)
    )
    packets = Amount(2.0, 0.1, 4)
    sides = ([Paid("a", "docker.bridge", packets)], [Paid("b", port, packets)])
    found = priced(Tariff(quiet, worked), *sides)
    assert [(one.what, one.often, round(one.amount.value, 9)) for one in found.lines[2:4]] == [
        (f"{COLD}: {PATH}", 2.0, 4.0),
        (f"the baseline's {COLD}: {PATH}", -2.0, -2.0),
    ]
    assert found.us.value == pytest.approx((3.5 + 4.0) - (3.0 + 2.0))


def test_where_they_were_not_weighed_the_bill_says_what_would_weigh_them(tmp_path: Path) -> None:
    found = bill(analysed(tmp_path, 1.0, BRIDGE))
    assert found.left_out[f"{COLD}: {PATH}"] == COLD_NOT_WEIGHED


def test_a_bill_has_cold_caches_of_all_its_ways_or_of_none(tmp_path: Path) -> None:
    """The container's way to a native server was weighed on that server alone. With the bridge's
    line by itself the bill would have what one side pays."""
    unlike = WORKING.model_copy(
        update={
            "prices": [
                one.model_copy(update={"over": ""}) if one.way == "docker.bridge" else one
                for one in WORKING.prices
            ]
        }
    )
    found = bill(analysed(tmp_path, 1.0, QUIET, {"native": 1.5}, working=unlike))
    assert not any(line.what.startswith(COLD) for line in found.lines)
    assert found.left_out[f"{COLD}: {PATH}"] == COLD_NOT_WEIGHED
    assert found.left_out[f"{COLD}: {BATCHED}"] == COLD_NOT_WEIGHED
    assert found.us == pytest.approx(3.0 + 0.5 * 7.5)


def test_prices_of_two_network_plugins_are_not_taken_from_one_another() -> None:
    """Between the two weighings the cluster was made again, with another."""
    other = WORKING.prices[2].model_copy(update={"path": "bridge, plugin b"})
    working = weighing(other, *WORKING.prices[3:])
    assert not Tariff(QUIET, working).knows_cold("docker.bridge")


def test_without_native_alone_nothing_is_known() -> None:
    """As a file of others may be: its prices are of 32 operations in flight."""
    many = QUIET.model_copy(
        update={"prices": [one for one in BRIDGE.prices if one.in_flight == 32]}
    )
    assert not Tariff(many, WORKING).knows_cold("docker.bridge")
    unlike = QUIET.model_copy(update={"prices": QUIET.prices[1:]})
    assert Tariff(unlike, WORKING).knows_cold("docker.bridge")
