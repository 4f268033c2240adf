"""What `tare weigh` refuses, and how its prices are told."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tare.analysis.price_changes import compare_prices as compare
from tare.analysis.prices import prices
from tare.cli import compare_prices, weighing
from tare.cli.prices_text import added, csv_text, lines, not_valid, table
from tare.records.prices import Interval
from tests.analysis.test_prices import MACHINE, weighed

TARE = str(Path(sys.executable).with_name("tare"))


def refused(*words: str) -> str:
    """What the command says where it starts nothing."""
    done = subprocess.run(
        [TARE, "weigh", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    return done.stderr


def shown(console_width: int = 160) -> str:
    console = Console(width=console_width, record=True, file=None)
    with console.capture() as captured:
        console.print(table(prices(weighed(), MACHINE)))
    return captured.get()


def test_a_runtime_that_cannot_be_weighed_is_refused_before_anything_starts() -> None:
    said = refused("lxc")
    assert "lxc cannot be weighed" in said
    assert "tare weigh native docker" in said


def test_a_time_that_holds_no_slices_is_refused_with_the_time_that_would() -> None:
    said = refused("native", "--seconds", "10", "--rounds", "9")
    assert "is too short" in said
    assert "more --seconds, or fewer --rounds" in said


def test_each_way_is_a_row_with_what_it_adds() -> None:
    text = shown()
    assert "docker.proxy" in text
    assert "bridge and veth pair" in text
    assert added(Interval(value=1.0, low=0.9, high=1.1)) == "+1.00 [+0.90, +1.10]"
    assert added(None) == ""


@pytest.mark.parametrize("kind", ["kvm", "ssh", "vmware"])
def test_machines_are_weighed_by_a_tare_inside_and_the_refusal_says_how(kind: str) -> None:
    said = refused("docker", kind)
    assert f"{kind} cannot be weighed from here" in said
    assert "tare compare here.json there.json" in said


def test_what_could_not_be_weighed_and_what_it_cannot_tell_are_said() -> None:
    found = prices(weighed(), MACHINE)
    told = lines(found.model_copy(update={"left_out": {"docker": "no engine (make setup)"}}))
    assert "left out: docker: no engine (make setup)" in told
    assert told[-1].startswith("A price is of a round trip on this machine")


def test_a_difference_where_there_is_none_is_said() -> None:
    alike = lines(prices(weighed(noise=0.05), MACHINE))
    apart = lines(prices(weighed(us=(8.0, 10.0, 9.0, 15.0)), MACHINE))
    assert not any("native again is not the same" in line for line in alike)
    assert any("native again is not the same" in line for line in apart)


def test_other_programs_are_said_where_they_disturb() -> None:
    found = prices(weighed(), MACHINE)
    busy = lines(found.model_copy(update={"other_cores": 1.0}))
    assert any("other programs disturbed it" in line for line in busy)


def test_a_busy_machine_and_a_native_that_is_not_itself_are_not_valid() -> None:
    found = prices(weighed(), MACHINE)
    assert not_valid(found) == []
    (busy,) = not_valid(found.model_copy(update={"other_cores": 0.5}))
    assert busy.startswith("not valid: other programs disturbed it")
    (still,) = not_valid(found.model_copy(update={"gap_s": found.slice_s / 2}))
    assert still.startswith("not valid: nothing was answered for 0.12 s")
    assert not_valid(found.model_copy(update={"gap_s": found.slice_s / 3})) == []
    (unlike,) = not_valid(prices(weighed(us=(8.0, 10.0, 9.0, 15.0)), MACHINE))
    assert unlike.startswith("not valid: native again")


def test_the_table_for_other_programs_has_every_number_with_its_interval() -> None:
    head, native, *others = csv_text(prices(weighed(), MACHINE)).splitlines()
    assert head.startswith("way,in_flight,path,demand_us,demand_us_low,demand_us_high,added_us,")
    assert native.startswith("native,1,,")
    assert ",,," in native, "nothing is added to native"
    assert len(others) == 3


def test_two_files_of_prices_are_compared(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(prices(weighed(), MACHINE).model_dump_json())
    done = subprocess.run(
        [TARE, "compare", "a", "b"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "docker.bridge" in done.stdout
    assert "not told apart" in done.stdout


def test_two_prices_are_compared_in_microseconds_and_in_percent_of_native_s() -> None:
    slow = prices(weighed(), MACHINE)
    dearer = prices(weighed(us=(8.0, 8.0, 11.0, 15.0)), MACHINE)
    console = Console(width=200)
    with console.capture() as captured:
        console.print(compare_prices.table(compare(slow, dearer)))
    native, _, bridge, _ = captured.get().splitlines()[1:]
    assert "%" in captured.get().splitlines()[0]
    assert native.split()[:4] == ["native", "1", "in", "all"]
    assert native.endswith(" " * 20), "native has no share of itself"
    assert "+12.5" in bridge
    assert "+37.5" in bridge
    assert "+25.0 [" in bridge


def test_a_request_and_a_connection_are_not_compared(tmp_path: Path) -> None:
    for name, operation in (("a", "request"), ("b", "connection")):
        found = prices(weighed(), MACHINE).model_copy(update={"operation": operation})
        (tmp_path / name).write_text(found.model_dump_json())
    words = [TARE, "compare", "a", "b"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "are not compared" in done.stderr


def test_what_a_connection_costs_is_told_as_that() -> None:
    found = prices(weighed(), MACHINE).model_copy(update={"operation": "connection"})
    console = Console(width=160)
    with console.capture() as captured:
        console.print(table(found))
    assert "connection us" in captured.get()
    assert "TLS" in captured.get().splitlines()[0]
    assert "full handshake of version 1.3" in lines(found)[-1]


def test_what_a_further_kilobyte_costs_is_told_in_nanoseconds_with_both_sizes() -> None:
    sizes = {"operation": "kilobyte", "larger_row_bytes": 9000}
    found = prices(weighed(), MACHINE).model_copy(update=sizes)
    console = Console(width=170)
    with console.capture() as captured:
        console.print(table(found))
    assert added(found.prices[2].added, 3) in captured.get()
    told = lines(found)
    assert any("rows of 1,000 and 9,000 bytes" in line for line in told)
    assert told[-1].startswith("A price is of 1,000 further bytes")


def test_options_of_runs_mean_nothing_for_prices(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(prices(weighed(), MACHINE).model_dump_json())
    words = [TARE, "compare", "a", "b", "--fail-on", "worse"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "prices are compared as they are" in done.stderr


def test_a_database_whose_protocol_is_not_spoken_is_refused() -> None:
    said = refused("--database", "redis")
    assert "cassandra or mongodb" in said
    assert "tare weigh --database mongodb" in said


def test_whose_protocol_was_spoken_is_said() -> None:
    found = prices(replace(weighed(), database="mongodb"), MACHINE)
    assert any("MongoDB's OP_MSG, a connection for each" in line for line in lines(found))
    assert csv_text(found).splitlines()[1].endswith(",mongodb")
    assert not any("OP_MSG" in line for line in lines(prices(weighed(), MACHINE)))


def test_a_time_that_is_no_number_is_refused() -> None:
    assert "no number" in refused("native", "--seconds", "inf")


def test_that_a_weighing_is_not_kept_for_bills_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "weigh", lambda *_, **__: None)
    monkeypatch.setattr(weighing, "prices", lambda *_: prices(weighed(), MACHINE))
    told: list[str] = []
    weighing.weigh_and_keep(told.append, weighing.WeighingRequest(["kubernetes"]))
    assert told == [
        "not kept for bills of later runs, which take what was weighed of native and docker "
        "together, with the usual options"
    ]
