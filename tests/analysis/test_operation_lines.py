"""Bills with a known answer for the work of servers and clients beside packets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.amounts import Amount
from tare.analysis.analyse import analyse
from tare.analysis.operation_lines import (
    NO_PACKETS,
    NOT_COUNTED,
    Doer,
    OperationPrices,
    Operations,
    StubCounts,
    averaged,
)
from tare.analysis.part_tariff import PartTariff
from tare.analysis.price_doubts import part_doubts
from tare.analysis.priced_pair import BATCHED, COLD, COLD_NOT_WEIGHED
from tare.analysis.tariff import Tariff
from tare.records.kept_measurements import write
from tare.records.part_prices import Cost, PartPrice, PartWeighing, keep_parts
from tests.analysis.test_prices import MACHINE
from tests.priced_ways import BRIDGE, PATH, around, price, weighing
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.records.part_prices import WeighedPart
    from tare.records.prices import Weighing

NATIVE_NS = {
    "futex_wake": 100.0,
    "futex_wait": 200.0,
    "epoll_wait": 300.0,
    "read": 400.0,
    "write": 400.0,
    "sendmsg": 500.0,
    "switch": 1100.0,
    "fault_4k": 1000.0,
}
"""A switch without its two calls costs 0.8 us, a futex call 0.15."""
ADDED_NS = {"futex_wake": 10.0, "futex_wait": 10.0, "switch": 50.0}
"""In the container; of other pieces 10, of a fault nothing. A switch alone costs 0.03 us more."""
STUB = {"server_switches": 1.0, "server_futex_calls": 0.0, "server_calls": 2.0}
"""With one in flight, two packets."""
FILES = {
    f"{role}_{kind}_bytes": 0.0 for role in ("server", "client") for kind in ("written", "read")
}
CALLS = ("futex", "epoll", "read", "write", "sendmsg", "sync")


def cost(ns: float, added: float | None, half: float) -> Cost:
    return Cost(
        ns=around(ns, half),
        added=None if added is None else around(added, half),
        percent=None,
    )


def part_price(piece: str, ns: float, platform: str, what: WeighedPart, half: float) -> PartPrice:
    added = None if platform == "native" else ADDED_NS.get(piece, 0.0 if "_4k" in piece else 10.0)
    own = cost(ns + (added or 0.0), added, half)
    return PartPrice(
        what=what,
        piece=piece,
        title=piece,
        platform=platform,
        runtime=platform.partition(".")[0],
        storage=platform.partition(".")[2],
        rounds=5,
        cpu=own,
        wall=own,
    )


def parts(
    half: float = 0.0, platforms: tuple[str, ...] = ("native", "docker"), **ns: float
) -> PartWeighing:
    what: WeighedPart = "storage" if {"append", "flush"} & set(ns) else "system"
    return PartWeighing(
        made=datetime(2026, 11, 1, tzinfo=UTC),
        machine=MACHINE,
        seconds=20.0,
        rounds=5,
        passes=2,
        cpu=0,
        idle_cpus="poll",
        turns=1,
        late=0,
        steal=0.0,
        other_cores=0.0,
        file_systems={},
        left_out={},
        prices=[
            part_price(piece, value, platform, what, half)
            for piece, value in (ns or NATIVE_NS).items()
            for platform in platforms
        ],
    )


def counted(prices: Weighing, counts: Mapping[str, float], **more: Any) -> Weighing:
    """The stub's counts with one in flight; with 32 a tenth, as its packets are."""
    zero = {f"{role}_{kind}_calls": 0.0 for role in ("server", "client") for kind in CALLS}
    zero |= {f"{role}_{kind}": 0.0 for role in ("server", "client") for kind in ("calls", "faults")}
    zero |= FILES
    whole = zero | {"server_switches": 0.0, "client_switches": 0.0} | counts
    own = [
        one.model_copy(
            update={
                "counts": one.counts
                | {
                    name: around(value * (1.0 if one.in_flight == 1 else 0.1), 0.0)
                    for name, value in whole.items()
                }
            }
        )
        for one in prices.prices
    ]
    return prices.model_copy(update={"prices": own, **more})


WEIGHED = counted(BRIDGE, STUB)


def doer(
    way: str = "native", packets: float | None = 2.0, error: float = 0.0, **counts: float
) -> Doer:
    zero = {f"{role}_{kind}_calls": 0.0 for role in ("server", "client") for kind in CALLS}
    zero |= {"client_calls": 0.0, "server_faults": 0.0, "client_faults": 0.0} | FILES
    whole = zero | {"client_switches": 0.0} | STUB | counts
    return Doer(
        way,
        None if packets is None else Amount(packets, 0.0, 5),
        way.partition(".")[0],
        "volume",
        {name: Amount(value, error, 5) for name, value in whole.items()},
        "",
    )


def lines(
    base: Doer, treated: Doer, prices: Weighing = WEIGHED, *weighed: PartWeighing
) -> Operations:
    return OperationPrices(PartTariff(weighed or (parts(),)), StubCounts(prices)).lines(
        base, treated
    )


def _adds(piece: str, calls: float) -> float:
    return calls * ADDED_NS.get(piece, 10.0) / 1000


def amounts(found: Operations) -> dict[str, float]:
    return {one.what: pytest.approx(one.amount.value) for one in found.lines if one.amount.value}


BRIDGED = "docker.bridge"


def test_what_the_stub_does_as_well_is_in_the_price_of_its_packets_and_in_no_line() -> None:
    assert amounts(lines(doer(), doer(BRIDGED))) == {}
    at_fewer = {name: value * 0.1 for name, value in STUB.items()}
    assert amounts(lines(doer(), doer(BRIDGED, 0.2, **at_fewer))) == {}


def test_a_container_adds_to_every_call_of_a_client_in_it() -> None:
    outside = doer(client_read_calls=3.0, client_write_calls=2.0)
    inside = outside._replace(client="docker")
    (line,) = [one for one in lines(outside, inside).lines if one.amount.value]
    assert (line.what, line.often) == ("what docker adds to system calls", 5.0)
    assert line.amount.value == pytest.approx(_adds("read", 3) + _adds("write", 2))
    assert amounts(lines(inside, inside)) == {}
    uncounted = inside._replace(counts={}, why_no_calls="no tracepoints")
    assert lines(doer(), uncounted).left_out["what docker adds to reads of the clients"] == (
        "no tracepoints"
    )


def test_between_nodes_both_ends_of_the_price_are_servers() -> None:
    """Of three switches one is the clients' way's, and two are those of both ends between nodes."""
    ends = {"server_switches": 1.0, "client_switches": 1.0}
    prices = counted(weighing(*BRIDGE.prices[2:], price("docker.between-nodes", 1, 5.0)), ends)
    one = doer(BRIDGED, client_switches=1.0, server_switches=3.0, server_calls=0.0)
    base = doer(client_switches=1.0, server_switches=1.0, server_calls=0.0)
    treated = one._replace(nodes=("docker.between-nodes", Amount(2.0, 0.0, 5)))
    assert amounts(lines(base, treated, prices)) == {}
    assert amounts(lines(base, one, prices))["context switches"] == 2.0 * 0.8


def test_a_switch_more_costs_a_hand_over_without_its_calls_and_what_docker_adds() -> None:
    found = lines(doer(), doer(BRIDGED, server_switches=1.25))
    assert amounts(found) == {
        "context switches": 0.25 * 0.8,
        "what docker adds to context switches": 0.25 * 0.03,
    }
    (line,) = [one for one in found.lines if one.what == "context switches"]
    assert (line.often, line.unit) == (pytest.approx(0.25), "context switches")
    assert found.owners["server"].value == pytest.approx(0.25 * 0.83)


def test_what_docker_adds_is_paid_for_each_call_though_native_makes_as_many() -> None:
    """Ten futex calls and four of no kind, beside the stub's two."""
    many = {"server_futex_calls": 10.0, "server_calls": 16.0}
    found = lines(doer(**many), doer(BRIDGED, **many))
    assert amounts(found) == {"what docker adds to system calls": 14 * 0.01}


def test_between_two_ways_into_one_container_only_the_difference_pays_it() -> None:
    prices = counted(
        weighing(price("docker.bridge", 1, 3.0), price("docker.loopback", 1, 0.1)), STUB
    )
    many = {"server_futex_calls": 10.0, "server_calls": 12.0}
    more = {"server_futex_calls": 10.5, "server_calls": 12.5}
    found = lines(doer("docker.loopback", **many), doer(BRIDGED, **more), prices)
    assert amounts(found) == {
        "futex calls": 0.5 * 0.15,
        "what docker adds to system calls": 0.5 * 0.01,
    }


def test_between_two_storages_of_one_runtime_a_call_costs_the_same() -> None:
    """A poorly known price of forty calls adds no error: both sides make as many calls."""
    many = {"server_futex_calls": 30.0, "server_sync_calls": 0.1, "server_calls": 40.0}
    volume = doer(BRIDGED, **many)
    storage = [
        parts(0.0, ("native", "docker.volume"), append=40_000.0),
        parts(0.0, ("docker.layer",), append=41_000.0),
    ]
    found = lines(volume, volume._replace(storage="layer"), WEIGHED, parts(500.0), *storage)
    (calls,) = [one for one in found.lines if one.what == "what docker adds to system calls"]
    assert calls.amount.value == pytest.approx(0.0)
    assert calls.amount.error == pytest.approx(0.0)


def test_what_the_stub_alone_does_is_taken_off_too() -> None:
    """Of its two calls 1.1 write several buffers, and the database makes none of that kind: what
    docker adds to them is in the price of the packets."""
    prices = counted(BRIDGE, STUB | {"server_sendmsg_calls": 1.1})
    none = {"server_calls": 0.9}
    found = lines(doer(**none), doer(BRIDGED, **none), prices)
    assert amounts(found) == {"what docker adds to system calls": (0.9 - 2.0) * 0.01}


def test_clients_pay_natively_and_their_part_is_theirs() -> None:
    found = lines(doer(), doer(BRIDGED, client_read_calls=2.0, client_calls=2.0))
    assert amounts(found) == {"reads": 2 * 0.4}
    assert found.owners["client"].value == pytest.approx(0.8)
    assert found.owners["server"].value == pytest.approx(0.0)


def test_faults_and_syncs_have_lines_where_they_are_weighed_and_made() -> None:
    made = {"server_faults": 0.5, "server_sync_calls": 0.1, "server_calls": 2.1}
    storage = parts(platforms=("native", "docker.volume"), append=40_000.0)
    found = lines(doer(), doer(BRIDGED, **made), WEIGHED, parts(), storage)
    assert amounts(found) == {
        "page faults": 0.5 * 1.0,
        "syncs": 0.1 * 40.0,
        "what docker adds to system calls": 0.1 * 0.01,
    }


def test_bytes_of_files_have_lines_and_those_of_a_sync_are_in_its_own() -> None:
    """A flush of 8 MiB costs 8,388.608 us, so a kilobyte 1; a read of 4,096 bytes 40.96 us, so a
    kilobyte 10. Of 12,096 bytes that were written two syncs' 8,192 are in what two syncs cost."""
    flush, read = 8_388_608.0, 40_960.0
    whole = parts(
        platforms=("native", "docker.volume"), append=40_000.0, flush=flush, read_cold=read
    )
    files = {"server_written_bytes": 12_096.0, "server_read_bytes": 500.0}
    synced = {"server_sync_calls": 2.0, "server_calls": 4.0}
    found = lines(doer(), doer(BRIDGED, **files, **synced), WEIGHED, parts(), whole)
    assert amounts(found) == {
        "syncs": 2 * 40.0,
        "kilobytes written to files": 3.904,
        "kilobytes read from the disk": 5.0,
        "what docker adds to system calls": 2 * 0.01,
        # 10 ns for a whole flush, and for a read
        "what docker adds to kilobytes written to files": 3.904 * 0.01 * 1000 / (8 << 20),
        "what docker adds to kilobytes read from the disk": 0.5 * 0.01 * 1000 / 4096,
    }
    assert found.left_out == {}


def test_where_syncs_were_not_counted_it_is_not_known_which_bytes_they_hold() -> None:
    refused = "the kernel counts no system calls for it: Permission denied"
    side = doer(BRIDGED, server_written_bytes=4096.0)
    side = side._replace(
        counts={n: a for n, a in side.counts.items() if "calls" not in n}, why_no_calls=refused
    )
    assert lines(doer(), side).left_out["kilobytes written to files of the servers"] == refused


def test_a_line_that_one_of_two_pairs_lacks_is_in_no_mean_of_both() -> None:
    """Half of it would have no pair: in the other half it is unknown, not zero."""
    made = {"server_switches": 3.0, "server_faults": 0.5}
    whole = lines(doer(), doer(BRIDGED, **made))
    side = doer(BRIDGED, **made)
    without = side._replace(counts={n: a for n, a in side.counts.items() if "switches" not in n})
    found = averaged([(0.5, whole), (0.5, lines(doer(), without))])
    assert amounts(found) == {"page faults": 0.5}
    assert found.left_out == {
        "context switches of the servers (in 1 of 2 pairs)": NOT_COUNTED,
        "context switches of the clients (in 1 of 2 pairs)": NOT_COUNTED,
    }
    assert found.owners["server"].value == pytest.approx(0.5)
    assert amounts(averaged([(0.5, whole), (0.5, whole)])) == amounts(whole)


def test_without_a_price_or_a_count_there_is_a_reason_and_no_line() -> None:
    synced = doer(BRIDGED, server_sync_calls=0.1, server_calls=2.1)
    assert lines(doer(), synced).left_out == {
        "syncs of the servers": "storage has no price here: tare weigh --what storage",
    }
    unweighed = counted(weighing(price("kubernetes.host-port", 1, 5.0)), STUB)
    pod = doer("kubernetes.host-port", server_switches=2.0)
    found = lines(doer(), pod, unweighed)
    assert amounts(found) == {"context switches": 0.8}
    assert found.left_out["what kubernetes adds to context switches"] == (
        "it was not weighed on kubernetes"
    )


def test_a_reason_names_the_calls_that_it_is_of_beside_a_line_of_others() -> None:
    """Of syncs alone it is not known what docker adds to them, and on this storage."""
    made = {"server_sync_calls": 0.1, "server_futex_calls": 1.0, "server_calls": 3.1}
    natively = parts(platforms=("native",), append=40_000.0)
    found = lines(doer(), doer(BRIDGED, **made), WEIGHED, parts(), natively)
    assert amounts(found)["what docker adds to system calls"] == 0.01
    assert found.left_out == {"what docker adds to syncs": "it was not weighed on docker.volume"}
    fewer = {name: ns for name, ns in NATIVE_NS.items() if name != "write"}
    both = (parts(**fewer), parts(platforms=("native",), write=400.0))
    found = lines(doer(), doer(BRIDGED, server_write_calls=1.0, server_calls=3.0), WEIGHED, *both)
    assert found.left_out == {
        "what docker adds to writes": "it was not weighed on docker",
        "what docker adds to other system calls": "it was not weighed on docker",
    }


def test_where_calls_were_not_counted_the_reason_is_the_kernel_s() -> None:
    refused = "the kernel counts no system calls for it: Permission denied"
    without = {n: a for n, a in doer().counts.items() if "calls" not in n}
    base = doer()._replace(counts=without, why_no_calls=refused)
    found = lines(base, doer(BRIDGED, server_switches=2.0))
    assert found.left_out["futex calls of the servers"] == refused
    assert amounts(found)["context switches"] == pytest.approx(0.8)


def test_what_the_stub_did_has_to_be_known_and_the_packets_too() -> None:
    older = lines(doer(), doer(BRIDGED), BRIDGE)
    assert older.lines == []
    assert (
        "of the stub, whose packets are priced" in older.left_out["context switches of the servers"]
    )
    found = lines(doer(packets=None), doer(BRIDGED))
    assert found.left_out["context switches of the servers"] == NO_PACKETS


def test_errors_of_counts_and_of_prices_are_in_a_line() -> None:
    """Half a switch more, known to 0.1 on either side: of 0.8 us each, which are known to 0.02."""
    half = 0.02 * 1000 / 3 * 2.776  # three pieces, whose errors add up; t of 4 degrees, 97.5%
    found = lines(
        doer(error=0.1), doer(BRIDGED, server_switches=1.5, error=0.1), WEIGHED, parts(half)
    )
    (line,) = [one for one in found.lines if one.what == "context switches"]
    error = ((0.8 * 2**0.5 * 0.1) ** 2 + (0.5 * 0.02) ** 2) ** 0.5
    assert line.amount.error == pytest.approx(error, rel=1e-3)
    assert line.amount.df == 4


def test_a_run_s_bill_has_them_in_its_sum_and_its_owner(tmp_path: Path) -> None:
    """A container with one more switch per operation, measured as that much dearer."""
    extra_us = 3.0 + 0.8 + 0.03
    truths = {
        "native": Truth(),
        "docker-bridge": Truth(server_cpu=1 + extra_us / 180, patch=docker("bridge")),
    }
    quiet: dict[str, Any] = {"between": 0.0005, "within": 0.0005}
    run = write_run(
        tmp_path / "r", effects=truths, slice_s=0.25, blocks=1, deployments=6, measure_s=2,
        seed=3, **quiet,
    )  # fmt: skip
    for file in run.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        ok = sum(client["ok"] for client in manifest["clients"])
        switches = 1.0 if manifest["condition"] == "native" else 2.0
        sides = {"server_switches": switches, "client_switches": 0.0,
                 "server_faults": 0.0, "client_faults": 0.0, **FILES}  # fmt: skip
        manifest["slices"]["counts"] = {name: n * ok for name, n in sides.items()}
        manifest["slices"]["counts"]["packets"] = 2.0 * ok
        none = {f"{role}_{kind}_calls": 0 for role in ("server", "client") for kind in CALLS}
        calls = none | {"server_calls": 200, "client_calls": 0}
        manifest["slices"]["calls"] = {
            "slices": 2, "operations": 100, "counts": calls, "demand_us": 260.0
        }  # fmt: skip
        file.write_text(json.dumps(manifest))
    write(WEIGHED, run / "prices.json")
    keep_parts(parts(), run)
    analysis = analyse(run)
    assert analysis.bills is not None
    (bill,) = analysis.bills.of
    assert bill.us == pytest.approx(extra_us)
    told = {line.what: line.us for line in bill.lines}
    assert told["context switches"] == pytest.approx(0.8)
    assert told["what docker adds to context switches"] == pytest.approx(0.03)
    cold = (f"{COLD}: {PATH}", f"{COLD}: {BATCHED}")
    assert bill.left_out == dict.fromkeys(cold, COLD_NOT_WEIGHED)
    assert bill.verdict == "consistent"
    assert bill.unexplained_us == pytest.approx(0.0, abs=0.6)
    server = next(one for one in bill.owners if one.owner == "server")
    assert server.us == pytest.approx(0.83)
    assert analysis.bills.parts_made == "2026-11-01T00:00:00+00:00"
    (trial, *_) = analysis.trials
    assert trial.beside["os.server_calls_per_op"] == 2.0


def test_a_disturbed_weighing_of_parts_makes_its_prices_doubtful() -> None:
    assert part_doubts(parts()) == []
    (told,) = part_doubts(parts().model_copy(update={"other_cores": 0.5}))
    assert told == "other programs disturbed the weighing of system (0.5 cores)"


def test_a_way_whose_packets_were_hardly_counted_holds_nothing_of_what_the_stub_did() -> None:
    """Of so few packets per operation the tariff makes no price, and the stub's counts are of none:
    both go by the same rule."""
    prices = counted(weighing(price(BRIDGED, 1, 3.0, packets=1e-7)), STUB)
    assert StubCounts(prices).at(BRIDGED, 2.0, "server_switches") is None
    assert BRIDGED not in Tariff(prices)
