"""Bills with a known answer: prices times packets, beside measurements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.amounts import Amount, amount_of, total
from tare.analysis.analyse import analyse
from tare.analysis.bill import NOT_APART, NOT_COUNTED
from tare.analysis.tariff import Tariff
from tare.records.kept_measurements import write
from tare.records.prices import Weighing
from tests.priced_ways import BRIDGE, PATH, around, price, weighing
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.analysis.model import Analysis, Bill
    from tare.analysis.model.bill import BillLine


def count_packets_by_threads(run: Path) -> None:
    """Two packets an operation with 16 threads, a fifth of one with more."""
    for file in run.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        each = 2.0 if manifest["levels"]["threads"] == "t16" else 0.2
        sent = each * sum(client["ok"] for client in manifest["clients"])
        manifest["slices"]["counts"] = {"packets": sent}
        file.write_text(json.dumps(manifest))


def test_between_two_numbers_of_packets_the_price_is_a_straight_line() -> None:
    tariff = Tariff(BRIDGE)
    assert tariff.at("docker.bridge", 2.0).excess.value == pytest.approx(3.0)
    assert tariff.at("docker.bridge", 0.2).excess.value == pytest.approx(0.4)
    assert tariff.at("docker.bridge", 1.1).excess.value == pytest.approx(1.7)
    assert tariff.packet_us().value == pytest.approx((15.0 - 1.5) / 1.8)


EACH = amount_of(around(0.0), 4).error
"""Every price's interval: 0.1 us on each side over five rounds."""


@pytest.mark.parametrize(("packets", "of_each"), [(0.2, 1.0), (0.65, 1.0), (1.1, 1.0), (4.0, 2.0)])
def test_a_price_between_two_is_as_uncertain_as_they_are_for_they_share_their_rounds(
    packets: float, of_each: float
) -> None:
    """Added in squares, it would be 0.71 of that in the middle."""
    parts = {"server": around(2.0)}
    prices = [one.model_copy(update={"parts": parts}) for one in BRIDGE.prices[2:]]
    point = Tariff(weighing(*prices)).at("docker.bridge", packets)
    assert point.excess.error == pytest.approx(of_each * EACH)
    assert point.owners["server"].error == pytest.approx(of_each * EACH)


def test_what_a_packet_costs_is_uncertain_by_both_of_native_s_prices() -> None:
    packet = Tariff(BRIDGE).packet_us()
    assert packet.error == pytest.approx(2 * EACH / 1.8)
    assert packet.df == 4


def test_beyond_them_it_is_in_proportion_and_said_where_that_is_far() -> None:
    tariff = Tariff(BRIDGE)
    assert tariff.at("docker.bridge", 3.0).excess.value == pytest.approx(4.5)
    assert tariff.at("docker.bridge", 0.1).excess.value == pytest.approx(0.2)
    assert tariff.beyond("docker.bridge", 3.0)
    assert not tariff.beyond("docker.bridge", 2.1)


def test_packets_that_a_way_needs_more_at_equal_batching_are_part_of_its_price() -> None:
    """With as many in flight, native needs 2.0: answers are batched that well."""
    tariff = Tariff(weighing(price("docker.bridge", 1, 3.75, packets=2.1)))
    point = tariff.at("docker.bridge", 2.1)
    assert point.excess.value == pytest.approx(3.75)
    assert point.natively == pytest.approx(2.0)


def test_errors_add_up_in_squares_with_the_fewest_degrees_of_freedom() -> None:
    sum_ = total([Amount(1.0, 0.3, 4), Amount(-3.0, 0.4, 8)])
    assert sum_ == (-2.0, pytest.approx(0.5), 4)
    low, high = sum_.interval()
    assert (high - low) / 2 == pytest.approx(0.5 * 2.776, rel=1e-3)  # t of 4 degrees, 97.5%


def analysed(
    place: Path,
    cost: float,
    prices: Weighing | None,
    packets: Mapping[str, float | list[float]] | None = None,
    working: Weighing | None = None,
    **design: Any,
) -> Analysis:
    """A container whose operation costs so many times a native one's 240 us; two packets each, or
    by condition as many."""
    of_server = 1 + 240 / 180 * (cost - 1)
    truths = {
        "native": Truth(),
        "docker-bridge": Truth(server_cpu=of_server, patch=docker("bridge")),
    }
    scene: dict[str, Any] = {"blocks": 1, "deployments": 6, "measure_s": 2, "seed": 3}
    quiet = {"between": 0.002, "within": 0.002}
    run = write_run(place / "r", effects=truths, slice_s=0.25, **(scene | quiet | design))
    for file in run.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        each = (packets or {}).get(manifest["condition"], 2.0)
        if isinstance(each, list):
            each = each[manifest["round"] - 1]
        sent = each * sum(client["ok"] for client in manifest["clients"])
        manifest["slices"]["counts"] = {"packets": sent}
        file.write_text(json.dumps(manifest))
    if prices is not None:
        write(prices, run / "prices.json")
    if working is not None:
        write(working, run / "prices-working.json")
    return analyse(run)


def as_cluster(
    run: Path, of_clients: Mapping[str, float], platform: Mapping[str, Any] | None = None
) -> Analysis:
    """The run as one of clusters of three nodes.

    Args:
        of_clients: condition to the packets of clients for each operation, where they were counted.
        platform: of the container, beside what it is.
    """
    for file in run.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        manifest["setup"]["database"]["nodes"] = 3
        if manifest["condition"] != "native":
            manifest["setup"]["platform"] |= platform or {}
        if (each := of_clients.get(manifest["condition"])) is not None:
            sent = each * sum(client["ok"] for client in manifest["clients"])
            manifest["slices"]["counts"]["client_packets"] = sent
        file.write_text(json.dumps(manifest))
    return analyse(run)


def bill(analysis: Analysis) -> Bill:
    assert analysis.bills is not None
    (found,) = analysis.bills.of
    return found


def test_a_bill_that_is_right_is_consistent(tmp_path: Path) -> None:
    found = bill(analysed(tmp_path, 1 + 3.0 / 240, BRIDGE))
    assert found.us == pytest.approx(3.0, abs=0.01)
    assert found.us == pytest.approx(sum(line.us for line in found.lines))
    assert found.lines[0].what == PATH
    assert found.lines[0].count == pytest.approx(2.0)
    assert found.lines[0].price_us == pytest.approx(1.5, abs=0.01)
    assert found.ci[0] < 3.0 < found.ci[1]
    assert found.verdict == "consistent"
    assert found.notes == []


def test_answers_that_are_batched_less_cost_a_packet_more_each(tmp_path: Path) -> None:
    """The container's operations need half a packet more, at 7.5 us, beside the bridge's 3 us."""
    found = bill(analysed(tmp_path, 1.0, BRIDGE, packets={"native": 1.5}))
    assert found.lines[-1].what == "answers batched less or more"
    assert found.lines[-1].count == pytest.approx(0.5)
    assert found.us == pytest.approx(3.0 + 0.5 * 7.5)


def half(of: Bill | BillLine) -> float:
    return (of.ci[1] - of.ci[0]) / 2


@pytest.mark.parametrize("native", [1.5, 2.0, 1.0])
def test_what_is_not_known_of_a_packet_s_cost_is_in_the_bill(tmp_path: Path, native: float) -> None:
    """Of a packet 0.2 / 1.8 us, as often as one is needed more or less; of the bridge 0.1 us."""
    found = bill(analysed(tmp_path, 1.0, BRIDGE, packets={"native": native}))
    bridge, batching = found.lines
    assert half(bridge) == pytest.approx(0.1)
    assert half(batching) == pytest.approx(abs(2.0 - native) * 0.2 / 1.8)
    assert half(found) == pytest.approx(half(bridge) + half(batching))


def test_each_owner_s_part_stands_beside_what_it_used(tmp_path: Path) -> None:
    """Of 24 us all are the server's, of which prices have 2; the client's are 1 and nothing."""
    parts = {"server": around(2.0), "client": around(1.0)}
    prices = [one.model_copy(update={"parts": parts}) for one in BRIDGE.prices[2:]]
    found = bill(analysed(tmp_path, 1.10, weighing(*prices)))
    owners = {one.owner: one for one in found.owners}
    assert owners["server"].us == pytest.approx(2.0)
    assert owners["server"].measured_us == pytest.approx(24, abs=3)
    assert owners["client"].us == pytest.approx(1.0)
    assert owners["client"].measured_us == pytest.approx(0, abs=1)


def test_soft_interrupts_stand_beside_what_was_spent_in_them(tmp_path: Path) -> None:
    """Of all owners' time: 2 us of the clients' way and 3 between nodes, of 4 and 6 packets."""
    parts = {"docker.bridge": 2.0, "docker.between-nodes": 3.0}
    prices = [
        one.model_copy(update={"parts": {"softirq": around(parts[one.way])}})
        for one in WITH_NODES.prices[2:]
    ]
    analysed(tmp_path, 1.0, weighing(*prices), packets={"native": 4.0, "docker-bridge": 6.0})
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    (softirq,) = (one for one in found.owners if one.owner == "softirq")
    assert softirq.us == pytest.approx(5.0)
    assert sum(one.us for one in found.owners if one.owner != "softirq") == 0
    assert softirq.measured_us == pytest.approx(0, abs=1)


def test_a_cost_that_nobody_weighed_contradicts_the_bill_and_is_told(tmp_path: Path) -> None:
    found = bill(analysed(tmp_path, 1.10, BRIDGE))
    assert found.verdict == "contradicted"
    assert found.unexplained_us == pytest.approx(240 * 0.10 - 3.0, abs=3)


def test_where_the_measurement_does_not_decide_there_is_the_bill_only(tmp_path: Path) -> None:
    found = bill(analysed(tmp_path, 1.0, BRIDGE, margins={"service_demand": "0.5%"}))
    assert found.verdict == "bill only"
    assert found.us == pytest.approx(3.0, abs=0.01)


def why_no_bill(analysis: Analysis) -> str:
    assert analysis.bills is not None
    assert analysis.bills.of == []
    (one,) = analysis.bills.without
    assert (one.baseline, one.treatment) == ("native", "docker-bridge")
    return one.why


def test_without_prices_or_with_those_of_other_ways_there_is_no_bill(tmp_path: Path) -> None:
    assert analysed(tmp_path / "none", 1.0, None).bills is None
    other = weighing(price("docker.proxy", 1, 40.0))
    found = analysed(tmp_path / "other", 1.0, other)
    assert why_no_bill(found) == "the way docker.bridge was not weighed"


def test_without_counted_packets_there_is_no_bill(tmp_path: Path) -> None:
    scene = {"deployments": 2, "blocks": 2, "measure_s": 2}
    run = write_run(tmp_path / "r", effects={"native": Truth(), "docker-bridge": Truth(
        patch=docker("bridge"))}, **scene)  # fmt: skip
    write(BRIDGE, run / "prices.json")
    assert why_no_bill(analyse(run)) == NOT_COUNTED


def test_of_a_cluster_the_clients_packets_are_billed_and_the_rest_is_said(tmp_path: Path) -> None:
    """Of 6 packets that the nodes send and receive, 2 are the clients': 3 us over the bridge."""
    packets = {"native": 4.0, "docker-bridge": 6.0}
    analysed(tmp_path, 1.10, BRIDGE, packets=packets)
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    assert [(line.what, line.count) for line in found.lines] == [(PATH, pytest.approx(2.0))]
    assert found.us == pytest.approx(3.0, abs=0.01)
    assert found.unpriced == [
        "what nodes send each other (the way docker.between-nodes was not weighed)",
        "how many answers share a packet",
    ]
    assert found.verdict == "in part", "24 us were measured, and that contradicts nothing"
    assert found.unexplained_us == pytest.approx(24 - 3, abs=3)


BETWEEN = "bridge and two veth pairs, from another container"
NODES = [
    price("docker.between-nodes", 1, 5.0).model_copy(update={"path": BETWEEN}),
    price("docker.between-nodes", 32, 0.6).model_copy(update={"path": BETWEEN}),
]
WITH_NODES = weighing(*BRIDGE.prices[2:], *NODES)


def test_what_nodes_send_each_other_is_a_line_at_the_price_of_its_own_way(tmp_path: Path) -> None:
    """Of 6 packets 2 are clients', and 2 are sent by one node and received by another: 4 on each
    side, so that nothing is batched less."""
    packets = {"native": 4.0, "docker-bridge": 6.0}
    analysed(tmp_path, 1 + 8.0 / 240, WITH_NODES, packets=packets)
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    clients, between, batching = found.lines
    assert (clients.what, between.what) == (PATH, f"between nodes: {BETWEEN}")
    assert (clients.count, between.count) == (pytest.approx(2.0), pytest.approx(2.0))
    assert (between.us, between.price_us) == (pytest.approx(5.0), pytest.approx(2.5))
    assert half(between) == pytest.approx(0.1)
    assert batching.count == pytest.approx(0.0)
    assert found.us == pytest.approx(3.0 + 5.0)
    assert half(found) == pytest.approx(half(clients) + half(between)), "of the same rounds"
    assert found.unpriced == []
    assert found.verdict == "consistent"


def test_packets_that_native_nodes_need_more_are_batched_less_there(tmp_path: Path) -> None:
    packets = {"native": 5.0, "docker-bridge": 6.0}
    analysed(tmp_path, 1.0, WITH_NODES, packets=packets)
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    assert found.lines[-1].count == pytest.approx(-1.0)
    assert found.us == pytest.approx(3.0 + 5.0 - 7.5)


def test_between_nodes_both_ends_are_the_database_s(tmp_path: Path) -> None:
    """The weighed client stands for a node: what it uses is no load client's."""
    parts = {"server": around(2.0), "client": around(1.0)}
    prices = [one.model_copy(update={"parts": parts}) for one in WITH_NODES.prices[2:]]
    packets = {"native": 4.0, "docker-bridge": 6.0}
    analysed(tmp_path, 1.0, weighing(*prices), packets=packets)
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    owners = {one.owner: one.us for one in found.owners}
    assert owners["server"] == pytest.approx(2.0 + 2.0 + 1.0)
    assert owners["client"] == pytest.approx(1.0)


def test_a_cluster_that_sends_far_more_than_was_weighed_says_so(tmp_path: Path) -> None:
    packets = {"native": 8.0, "docker-bridge": 14.0}
    analysed(tmp_path, 1.0, WITH_NODES, packets=packets)
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    assert found.lines[1].us == pytest.approx(15.0)
    assert found.notes == ["docker-bridge had 6.00 packets per operation between its nodes, which "
                           "is far from what was weighed"]  # fmt: skip


@pytest.mark.parametrize(
    ("machines", "why"),
    [(["a", "b", "c"], []), (["a", "b", "a"], ["shared a machine"]), (["", "", ""], [])],
)
def test_nodes_of_one_machine_do_not_take_the_way_between_two(
    tmp_path: Path, machines: list[str], why: list[str]
) -> None:
    pods = {"runtime": "kubernetes", "network": "container-dns", "endpoint": "host-port"}
    prices = [
        one.model_copy(update={"way": one.way.replace("docker.bridge", "kubernetes.host-port")
                               .replace("docker", "kubernetes")})
        for one in WITH_NODES.prices[2:]
    ]  # fmt: skip
    analysed(tmp_path, 1.0, weighing(*prices), packets={"native": 4.0, "docker-bridge": 6.0})
    for file in (tmp_path / "r").glob("trials/*-docker-bridge*/manifest.json"):
        manifest = json.loads(file.read_text())
        (unit,) = [one for one in manifest["units"] if one["role"] == "database"]
        others = [one for one in manifest["units"] if one["role"] != "database"]
        manifest["units"] = [*others, *(unit | {"machine": one} for one in machines)]
        file.write_text(json.dumps(manifest))
    found = bill(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}, pods))
    assert [one for one in why if one not in found.unpriced[0]] == []
    assert (found.verdict == "in part") == bool(why)


def test_what_native_packets_cost_is_no_part_of_a_cluster_s_bill(tmp_path: Path) -> None:
    """All packets of native nodes pass the host's loopback, those between them and the clients'."""
    analysed(tmp_path, 1.0, BRIDGE, packets={"native": 4.0, "docker-bridge": 6.0})
    few = bill(as_cluster(tmp_path / "r", {"docker-bridge": 1.1}))
    assert few.us == pytest.approx(1.7)


def test_of_a_cluster_whose_clients_were_not_counted_apart_there_is_no_bill(
    tmp_path: Path,
) -> None:
    """As in every run made before these were counted."""
    analysed(tmp_path, 1.0, BRIDGE)
    assert why_no_bill(as_cluster(tmp_path / "r", {})) == NOT_APART


PROXIED = "published port: userland docker-proxy, bridge and two veth pairs, from another container"
BY_PORTS = weighing(
    *(one.model_copy(update={"way": "docker.published"}) for one in BRIDGE.prices[2:]),
    price("docker.between-published", 1, 60.0).model_copy(update={"path": PROXIED}),
    price("docker.between-published", 32, 6.0).model_copy(update={"path": PROXIED}),
)


def by_ports(run: Path, told: float | None) -> Analysis:
    """Three nodes that reach each other by published ports: the kernel counts all of their packets
    in the clients' namespace, and so many were told apart in the warm-up."""
    for file in run.glob("trials/*-docker-bridge*/manifest.json"):
        manifest = json.loads(file.read_text())
        manifest["slices"]["client_packets_per_op"] = told
        file.write_text(json.dumps(manifest))
    return as_cluster(run, {"docker-bridge": 6.0}, {"network": "published"})


def test_of_nodes_behind_published_ports_both_ways_are_billed_at_packets_told_apart(
    tmp_path: Path,
) -> None:
    """Of 6 packets 2 are the clients', at 3 us over the port; 2 pass docker-proxy, at 60 us."""
    packets = {"native": 4.0, "docker-bridge": 6.0}
    analysed(tmp_path, 1 + 63.0 / 240, BY_PORTS, packets=packets)
    found = bill(by_ports(tmp_path / "r", 2.0))
    clients, between, batching = found.lines
    assert between.what == f"between nodes: {PROXIED}"
    assert (clients.count, between.count) == (pytest.approx(2.0), pytest.approx(2.0))
    assert (clients.us, between.us) == (pytest.approx(3.0), pytest.approx(60.0))
    assert batching.count == pytest.approx(0.0)
    assert found.unpriced == []
    assert found.verdict == "consistent"


def test_what_the_kernel_counts_there_with_the_proxy_s_packets_is_not_believed(
    tmp_path: Path,
) -> None:
    """As in every run made before packets were told apart: all six would be the clients'."""
    analysed(tmp_path, 1.0, BY_PORTS, packets={"native": 4.0, "docker-bridge": 6.0})
    assert why_no_bill(by_ports(tmp_path / "r", None)) == NOT_APART


def test_a_cluster_on_the_host_s_loopback_has_a_whole_bill(tmp_path: Path) -> None:
    """All four packets pass that one way: twice the price of two, and no packet more is needed."""
    host = weighing(price("docker.host", 1, 0.5))
    analysed(tmp_path, 1.0, host, packets={"native": 4.0, "docker-bridge": 4.0})
    found = bill(as_cluster(tmp_path / "r", {}, {"network": "host"}))
    assert found.us == pytest.approx(1.0)
    assert found.unpriced == []
    assert found.verdict != "in part"
    assert found.notes == ["docker-bridge had 4.00 packets per operation, which is far from what "
                           "was weighed"]  # fmt: skip


def test_between_two_endpoints_of_one_cluster_nodes_send_each_other_the_same(
    tmp_path: Path,
) -> None:
    prices = weighing(
        price("docker.bridge", 1, 3.0), price("docker.bridge", 32, 0.4),
        price("docker.proxy", 1, 43.0), price("docker.proxy", 32, 4.0),
    )  # fmt: skip
    analysed(tmp_path, 1.0, prices)
    run = tmp_path / "r"
    for file in run.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        manifest["deployment"] = f"D{manifest['round']}-bridge-1"
        if manifest["condition"] == "native":  # the way by the bridge's own address
            manifest["setup"]["platform"] |= {"runtime": "docker", "network": "bridge"}
        else:
            manifest["setup"]["platform"] |= {"endpoint": "proxy"}
        file.write_text(json.dumps(manifest))
    found = bill(as_cluster(run, {"native": 2.0, "docker-bridge": 2.0}))
    assert found.us == pytest.approx(43.0 - 3.0)
    assert found.unpriced == []
    assert found.lines[-1].what == "answers batched less or more"


def test_an_average_has_the_mean_of_its_pairs_bills_where_no_pair_is_compared_alone(
    tmp_path: Path,
) -> None:
    """An operation pays 3 us for 2 packets and 0.4 us for 0.2: a mean of 1.7 us."""
    truths = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path / "r", effects=truths, threads=[16, 64], slice_s=0.25, blocks=1, deployments=3,
        measure_s=2, between=0.002, within=0.002,
    )  # fmt: skip
    count_packets_by_threads(run)
    write(BRIDGE, run / "prices.json")
    alone = analyse(run).bills
    assert alone is not None
    told = {one.treatment: one.us for one in alone.of if one.baseline.startswith("native")}
    assert told["docker-bridge.t16"] == pytest.approx(3.0)
    assert told["docker-bridge.t64"] == pytest.approx(0.4)
    study = run / "study.yaml"
    asked = "\nanalysis: {compare: [platform], over: {factors: [threads], how: mean-of-ratios}}\n"
    study.write_text(study.read_text() + asked)
    found = bill(analyse(run))
    assert found.us == pytest.approx(1.7, abs=0.01)
    assert found.lines[0].count == pytest.approx(1.1)
    assert half(found) > 0.9 * 0.1, "prices of the same rounds err together"


def hostile(**changed: Any) -> str:
    """The file with other values in the price of the bridge."""
    told = json.loads(BRIDGE.model_dump_json())
    told["rounds"] = changed.pop("rounds", told["rounds"])
    told["prices"][2] |= changed
    return json.dumps(told)


@pytest.mark.parametrize(
    "text",
    [
        '{"prices": NaN}',
        hostile(added={"value": 3, "low": -1e308, "high": 1e308}),
        hostile(added={"value": 3, "low": 4, "high": 2}),
        hostile(rounds=10**20),
    ],
)
def test_a_damaged_or_hostile_file_of_prices_is_no_bill(tmp_path: Path, text: str) -> None:
    analysed(tmp_path, 1.0, BRIDGE)
    (tmp_path / "r" / "prices.json").write_text(text)
    assert analyse(tmp_path / "r").bills is None


def test_a_way_without_packets_has_no_price(tmp_path: Path) -> None:
    nothing = {"packets": {"value": 5e-324, "low": 0.0, "high": 1.0}}
    analysed(tmp_path, 1.0, BRIDGE)
    text = json.loads(hostile(counts=nothing))
    text["prices"][3]["counts"] = nothing
    (tmp_path / "r" / "prices.json").write_text(json.dumps(text))
    assert why_no_bill(analyse(tmp_path / "r")) == "the way docker.bridge was not weighed"


def test_an_error_of_the_packets_is_in_both_lines_of_a_side_and_adds_up_as_one(
    tmp_path: Path,
) -> None:
    """Per packet, 1.44 us of the bridge and 7.5 of batching: 8.9 together, not added in squares."""
    spread = {"docker-bridge": [0.9, 1.0, 1.1, 0.9, 1.0, 1.1], "native": [1.0] * 6}
    found = bill(analysed(tmp_path, 1.0, BRIDGE, packets=spread))
    bridge, batching = (line.ci[1] - line.us for line in found.lines)
    assert found.ci[1] - found.us > 0.97 * (bridge + batching)
