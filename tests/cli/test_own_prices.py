"""What a way would cost an operation of the user's, by this machine's own prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.cli.own_prices import in_all_lines, price_lines
from tare.knowledge.measured import Measured, MeasuredValue
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine, keep
from tests.priced_ways import BRIDGE, WORKING, price, weighing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TARE_CACHE", str(tmp_path))
    return tmp_path


def kept() -> None:
    keep(BRIDGE.model_copy(update={"machine": MeasuredMachine.of(local_facts())}))


def test_two_round_trips_cost_twice_the_price_and_its_share_of_the_operation(cache: Path) -> None:
    kept()
    head, alone, many, limit = price_lines("docker", "bridge", 2, 300.0)
    assert "2 round trips" in head
    assert alone == "  docker.bridge, 1 in flight: +6.00 us [+5.80, +6.20] of CPU time, +2.0%"
    assert many.startswith("  docker.bridge, 32 in flight: +0.80 us [+0.60, +1.00]")
    assert limit.startswith("That is the way alone.")


def test_larger_answers_cost_what_further_kilobytes_do(cache: Path) -> None:
    kept()
    _, unknown, alone, *_ = price_lines("docker", "bridge", 1, None, row_bytes=5000)
    assert "tare weigh --what bytes" in unknown
    assert alone.startswith("  docker.bridge, 1 in flight: +3.00 us")
    own = {"machine": MeasuredMachine.of(local_facts()), "operation": "kilobyte"}
    keep(weighing(price("docker.bridge", 1, 0.5)).model_copy(update=own))
    _, alone, many, _ = price_lines("docker", "bridge", 2, None, row_bytes=5000)
    assert alone.startswith("  docker.bridge, 1 in flight, rows of 5,000 bytes: +10.00 us [")
    assert many.startswith("  docker.bridge, 32 in flight, rows of 1,000 bytes: +0.80 us")
    _, alone, *_ = price_lines("docker", "bridge", 2, None, row_bytes=1000)
    assert alone.startswith("  docker.bridge, 1 in flight: +6.00 us [+5.80, +6.20]")


def test_a_server_that_works_pays_more_for_the_same_way(cache: Path) -> None:
    kept()
    keep(WORKING.model_copy(update={"machine": MeasuredMachine.of(local_facts())}))
    _, _, _, works, _ = price_lines("docker", "bridge", 2, 300.0)
    assert works == (
        "  docker.bridge, 1 in flight, to a server that works (than docker.loopback there): +9.00 "
        "us [+8.80, +9.20] of CPU time, +3.0%"
    )


def test_prices_of_mongodb_s_protocol_are_others(cache: Path) -> None:
    kept()
    (unknown,) = price_lines("docker", "bridge", 1, None, "mongodb")
    assert "tare weigh --database mongodb" in unknown
    own = {"machine": MeasuredMachine.of(local_facts()), "database": "mongodb"}
    keep(BRIDGE.model_copy(update=own))
    head, *_ = price_lines("docker", "bridge", 1, None, "mongodb")
    assert "tare weigh --database mongodb" in head
    assert "mongodb" not in next(iter(price_lines("docker", "bridge", 1, None)))


def test_without_prices_the_command_that_finds_them_is_said(cache: Path) -> None:
    assert list(price_lines("docker", "", 1, None)) == [
        "This machine's own prices are not known yet: tare weigh (two minutes)."
    ]
    kept()
    assert list(price_lines("kubernetes", "", 1, None)) == [
        "No way into kubernetes was weighed here: tare weigh kubernetes."
    ]


def test_what_was_measured_in_all_stands_beside_the_price_of_the_way() -> None:
    value = MeasuredValue(
        id="own.bridge", family="cpu_per_op", title="CPU per operation", metric="service_demand",
        ratio=1.05, ci=(1.04, 1.06), word="near", distance=0.1, differs=[], where="docker/native",
    )  # fmt: skip
    mean = value.model_copy(update={"family": "mean"})
    run = Measured(
        run="own", made="1 May 2026", machine="two CPUs", valid=False, invalid=["no"], caution="",
        values=[value, mean],
    )  # fmt: skip
    head, line = in_all_lines([run])
    assert "in all" in head
    assert line == "  own (NOT VALID): +5.0% [+4.0%, +6.0%], docker/native"
    assert list(in_all_lines([run.model_copy(update={"values": [mean]})])) == []
