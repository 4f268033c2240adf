"""The bill beside an undecided finding, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.knowledge.replication.bills import NOT_WEIGHED
from tare.knowledge.replication.model import Scorecard
from tare.knowledge.replication.scorecard_text import cells, markdown, remarks
from tare.records.kept_measurements import write
from tests.analysis.test_bill import BRIDGE, count_packets_by_threads
from tests.knowledge.replication.published import ANY_LOAD, PUBLISHED, printed, rows, scorecard
from tests.knowledge.sample import finding
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tare.knowledge.replication.model import Row
    from tare.knowledge.schema import Finding

AT_16 = {"load": {"share": None, "threads": 16}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with so much noise in throughput that -8% is undecided.

    An operation takes 2 packets with 16 threads and 0.2 with 64. Over the bridge, these cost 3 us
    and 0.4 us.
    """
    truths = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path_factory.mktemp("runs") / "r", effects=truths, threads=[16, 64], slice_s=0.25,
        blocks=1, deployments=3, measure_s=2, between=0.06,
    )  # fmt: skip
    count_packets_by_threads(run)
    return run


def undecided(run: Path, analysis: Analysis, one: Finding) -> Row:
    (row,) = rows(scorecard(run, one, analysis=analysis)).values()
    assert row.verdict == "undecided"
    return row


def test_an_undecided_finding_has_the_bill_of_its_conditions_service_demand(
    run: Path, analysis: Analysis
) -> None:
    write(BRIDGE, run / "prices.json")
    card = scorecard(run, printed("one", -8.0, **AT_16), analysis=analysis)
    (row,) = card.rows
    assert row.verdict == "undecided"
    assert row.bill is not None
    assert row.bill.us == pytest.approx(3.0, abs=0.01)
    assert (row.bill.baseline, row.bill.treatment) == ("native.t16", "docker-bridge.t16")
    assert 200 < row.bill.baseline_us < 300, "of service demand, where throughput is 4,000/s"
    assert row.no_bill == ""
    note = cells(card, row)[-1]
    assert "; bill, of CPU time per operation: +3.00 µs [+2.85, +3.15] (+1." in note
    assert "%) by prices, " in note
    assert "It decides nothing, and is of no other metric." in markdown(card)
    assert Scorecard.model_validate_json(card.model_dump_json()) == card


def test_a_finding_that_is_averaged_has_the_mean_of_its_pairs_bills(
    run: Path, analysis: Analysis
) -> None:
    write(BRIDGE, run / "prices.json")
    row = undecided(run, analysis, printed("mean", -8.0, **ANY_LOAD))
    assert row.bill is not None
    assert row.bill.us == pytest.approx((3.0 + 0.4) / 2, abs=0.01)


def test_prices_that_are_not_valid_are_called_so_beside_the_bill(
    run: Path, analysis: Analysis
) -> None:
    write(BRIDGE.model_copy(update={"other_cores": 0.5}), run / "prices.json")
    row = undecided(run, analysis, printed("one", -8.0, **AT_16))
    assert row.bill is not None
    assert row.bill.notes == ["its prices are not valid: other programs disturbed it (0.5 cores)"]


def test_a_decided_finding_has_neither_a_bill_nor_a_reason(run: Path, analysis: Analysis) -> None:
    write(BRIDGE, run / "prices.json")
    card = scorecard(run, printed("wrong", 900.0, **AT_16), analysis=analysis)
    (row,) = card.rows
    assert (row.verdict, row.bill, row.no_bill) == ("disagrees", None, "")
    assert not any("bill" in text for text in remarks(card))


def test_where_nothing_was_weighed_the_row_says_so(run: Path, analysis: Analysis) -> None:
    (run / "prices.json").unlink(missing_ok=True)
    card = scorecard(run, printed("one", -8.0, **AT_16), analysis=analysis)
    (row,) = card.rows
    assert (row.bill, row.no_bill) == (None, NOT_WEIGHED)
    assert f"no bill: {NOT_WEIGHED}" in cells(card, row)[-1]


def test_of_a_way_that_is_never_weighed_the_reason_is_told_and_not_that_of_prices(
    tmp_path: Path,
) -> None:
    inside = docker("published") | {"client": {"runtime": "docker", "network": "bridge"}}
    found = printed("one", -1.0, treatment={**PUBLISHED, "client": "docker"})
    row = unweighed(tmp_path, found, docker_published=inside)
    assert row.no_bill == (
        "of clients in containers those on a bridge are weighed alone, to a server there or on the "
        "host"
    )


def test_nodes_behind_published_ports_lack_nothing_but_the_run_s_prices(tmp_path: Path) -> None:
    three = {"database": {"nodes": 3}}
    found = printed("one", -1.0, nodes=3, treatment=PUBLISHED)
    row = unweighed(tmp_path, found, native=three, docker_published=docker("published") | three)
    assert row.no_bill == NOT_WEIGHED


def unweighed(place: Path, found: Finding, **patches: dict[str, Any]) -> Row:
    """The undecided row of Docker's published ports over native, from a run without prices."""
    patches = {"native": {}} | patches
    truths = {name.replace("_", "-"): Truth(patch=one) for name, one in patches.items()}
    run = write_run(place / "r", effects=truths, deployments=3, blocks=1, measure_s=2, between=0.06)
    return undecided(run, analyse(run), found)


def test_a_way_that_was_not_weighed_is_named(run: Path, analysis: Analysis) -> None:
    native = BRIDGE.model_copy(update={"prices": BRIDGE.prices[:2]})
    write(native, run / "prices.json")
    row = undecided(run, analysis, printed("one", -8.0, **AT_16))
    assert (row.bill, row.no_bill) == (None, "the way docker.bridge was not weighed")


def test_of_disk_writes_prices_say_nothing(tmp_path: Path) -> None:
    truths = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    scene = {"deployments": 2, "blocks": 2, "measure_s": 2}
    run = write_run(tmp_path / "r", effects=truths, **scene)
    write(BRIDGE, run / "prices.json")
    analysis = analyse(run)
    trials = [
        one.model_copy(update={"values": {**one.values, "disk.write_kbps": 100.0 + 37.0 * place}})
        for place, one in enumerate(analysis.trials)
    ]
    disk = finding(
        id="disk", study="synthetic", baseline={"network": "host"}, operation="mixed",
        metric="disk.write_kbps", unit="kB/s", load={"share": None, "threads": 32},
    )  # fmt: skip
    row = undecided(run, analysis.model_copy(update={"trials": trials}), disk)
    assert row.no_bill == "prices are of CPU time, and disk.write_kbps is not"
