"""How prices of parts are shown, and what is refused before anything starts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tare.analysis import part_prices as part_prices_module
from tare.analysis.part_prices import AGAIN, Turn, part_prices
from tare.analysis.prices import prices
from tare.cli import weigh_parts
from tare.cli.weigh import LEAST_ROUNDS, ROUNDS, USUAL
from tare.cli.weigh_parts import What, csv_text, lines, parse, table
from tare.cli.weighing import weigh_and_keep_parts
from tare.errors import UsageError
from tare.records.part_prices import FileSystem, PartWeighing, parts_in
from tests.analysis.test_part_prices import MACHINE, weighed
from tests.analysis.test_prices import weighed as ways_weighed
from tests.cli.in_process import tare


def shown(found: PartWeighing) -> list[str]:
    console = Console(width=170)
    with console.capture() as captured:
        console.print(table(found))
    return captured.get().splitlines()


def test_parts_are_weighed_in_one_order_however_they_are_named() -> None:
    assert parse("machine, network") == [What.NETWORK, What.MACHINE]


@pytest.mark.parametrize("text", ["", "disk", "system,disk"])
def test_a_part_that_there_is_not_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert (
        "network,working,connection,bytes,system,storage,machine,name,start" in refused.value.remedy
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--what", "disk"),
        ("--what", "network,system", "--json"),
        ("--what", "network,connection", "--csv"),
        ("--what", "network,start", "--csv"),
        ("--what", "connection", "--in-flight", "8"),
        ("--what", "bytes,connection", "--in-flight", "8"),
        ("--what", "bytes", "--database", "mongodb"),
        ("--what", "bytes,network", "--json"),
        ("jail", "--what", "system"),
    ],
)
def test_the_command_refuses_before_anything_starts(words: tuple[str, ...]) -> None:
    done = tare("weigh", *words)
    assert done.returncode == 2, done.stderr
    assert "tare weigh" in done.stderr or "--what" in done.stderr


def test_an_operation_is_a_row_and_further_platforms_follow_below() -> None:
    rows = shown(part_prices(weighed(), MACHINE))
    wake = next(row for row in rows if row.startswith("futex wake"))
    assert " CPU " in wake
    assert " ns " in wake
    assert " docker " in wake
    assert "+30.0 [" in wake
    layer = [row for row in rows if "docker.layer" in row]
    assert len(layer) == 2, "of CPU time and of the time that passed"
    assert all(row.startswith(" ") for row in layer)
    assert any(row.startswith("append") and " passed " in row and " us " in row for row in rows)


def test_the_table_for_other_programs_has_every_number_with_its_interval() -> None:
    found = part_prices(weighed(), MACHINE)
    rows = list(csv.DictReader(io.StringIO(csv_text(found))))
    assert len(rows) == len(found.prices)
    native, docker = (
        next(row for row in rows if (row["operation"], row["platform"]) == ("futex_wake", platform))
        for platform in ("native", "docker")
    )
    assert native["cpu_added_ns"] == native["wall_percent_high"] == ""
    assert float(docker["cpu_added_ns"]) == pytest.approx(30, abs=5)
    assert float(docker["wall_ns_low"]) <= float(docker["wall_ns"]) <= float(docker["wall_ns_high"])


def test_two_files_of_the_prices_of_parts_are_compared(tmp_path: Path) -> None:
    found = part_prices(weighed(), MACHINE)
    for name in ("a", "b"):
        (tmp_path / name).write_text(found.model_dump_json())
    (tmp_path / "ways").write_text(prices(ways_weighed(), MACHINE).model_dump_json())
    done = tare("compare", "a", "b", cwd=tmp_path)
    assert done.returncode == 0
    assert "futex wake" in done.stdout
    assert "docker.layer over native" in done.stdout
    assert "not told apart" in done.stdout
    done = tare("compare", "a", "ways", cwd=tmp_path)
    assert done.returncode == 2
    assert "a platform's parts and of a request are not compared" in done.stderr


def test_what_disturbed_or_was_left_out_is_said() -> None:
    found = part_prices(weighed(), MACHINE)
    told = lines(found.model_copy(update={"left_out": {"docker": "no engine"}, "other_cores": 1.0}))
    assert "left out: docker: no engine" in told
    assert any("other programs disturbed it" in line for line in told)
    assert told[-1].startswith("A price is of one operation")


def test_an_operation_with_fewer_rounds_is_named_with_their_number() -> None:
    def stands_still(number: int, turn: Turn) -> Turn:
        still = number == 2 and (turn.piece, turn.unit) == ("append", "docker.layer")
        return replace(turn, began=turn.at + 0.01) if still else turn

    found = part_prices(weighed(change=stands_still), MACHINE)
    assert [line for line in lines(found) if line.startswith("fewer rounds")] == [
        "fewer rounds, as their turns were late or too long in the others: "
        "append 4 KiB, fdatasync (4)"
    ]
    rows = csv.DictReader(io.StringIO(csv_text(found)))
    assert {row["rounds"] for row in rows if row["platform"] == "docker.layer"} == {"4"}
    assert not any("fewer" in line for line in lines(part_prices(weighed(), MACHINE)))


def test_the_fewest_rounds_that_are_taken_are_those_that_a_price_needs() -> None:
    assert LEAST_ROUNDS == part_prices_module.LEAST_ROUNDS


def test_two_disks_are_not_compared_in_silence() -> None:
    found = part_prices(weighed(), MACHINE)
    assert not any("TMPDIR" in line for line in lines(found))
    elsewhere = found.file_systems | {"docker.directory": FileSystem(kind="ext4", device="8:1")}
    told = lines(found.model_copy(update={"file_systems": elsewhere}))
    assert any("files of docker.directory are not on the device" in line for line in told)
    layer = found.file_systems | {"docker.layer": FileSystem(kind="overlay", device="0:99")}
    assert not any(
        "TMPDIR" in line for line in lines(found.model_copy(update={"file_systems": layer}))
    )


def test_a_bill_gets_no_price_of_storage_that_is_one_of_two_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = part_prices(weighed(), MACHINE)
    elsewhere = found.file_systems | {"docker.volume": FileSystem(kind="ext4", device="8:1")}
    two = found.model_copy(update={"file_systems": elsewhere})
    for told, kept in ((two, {"system"}), (found, {"system", "storage"})):
        monkeypatch.setenv("TARE_CACHE", str(tmp_path / str(len(kept))))
        monkeypatch.setattr(weigh_parts, "weigh", lambda *_, told=told: told)
        weigh_and_keep_parts([What.SYSTEM, What.STORAGE], USUAL, ROUNDS, print)
        parts = parts_in(tmp_path / str(len(kept)))
        assert {price.what for one in parts for price in one.prices} == kept


def test_a_difference_where_there_is_none_is_said_with_its_operation() -> None:
    def dearer(_: int, turn: Turn) -> Turn:
        one = (turn.piece, turn.unit) == ("futex_wake", AGAIN)
        return replace(turn, cpu_ns=turn.cpu_ns * 2) if one else turn

    assert not any("native again is not" in line for line in lines(part_prices(weighed(), MACHINE)))
    told = lines(part_prices(weighed(change=dearer), MACHINE))
    assert any("native again is not the same as native: futex wake" in line for line in told)
