"""latte gets the study's load, reads YCSB's own keys, and its report is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.load.tools import latte

from .conftest import Specify


def test_keys_are_those_of_ycsb() -> None:
    # records 0 to 4 as YCSB itself writes them
    assert latte.ycsb_keys(5) == [
        "user6284781860667377211", "user8517097267634966620", "user1820151046732198393",
        "user4052466453699787802", "user3232700585171816769",
    ]  # fmt: skip
    assert len(set(latte.ycsb_keys(70_000))) == 70_000


def test_it_warms_up_by_itself_and_gives_its_keys_from_a_file(
    specify: Specify, tmp_path: Path
) -> None:
    asked = specify(workload="ycsb-b", distribution="uniform")
    command = latte.call(asked, ["latte"], tmp_path).command
    text = " ".join(command)
    assert "--functions read:95,update:5 --warmup 2000ms --duration 5000ms" in text
    assert "--threads 1 --concurrency 8 --consistency ONE" in text
    assert command[-3:] == ["--", "127.0.0.1:9042", "127.0.0.2:9042"]
    assert (tmp_path / "keys.txt").read_text().splitlines() == latte.ycsb_keys(1000)
    assert "ycsb.usertable" in (tmp_path / "latte.rn").read_text()


def test_a_rate_is_its_rate(specify: Specify, tmp_path: Path) -> None:
    asked = specify(workload="ycsb-c", distribution="uniform", rate=500.0)
    command = latte.call(asked, ["latte"], tmp_path).command
    assert command[command.index("--rate") + 1] == "500"
    assert "read:100" in command


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        ("   1.016       295         0       294             0.5       1.5       3.3", "294"),
        ("     [s]      [op]      [op]    [op/s]             Min        25        50", None),
    ],
)
def test_its_rows_tell_the_rate(line: str, rate: str | None) -> None:
    found = latte.RATE.search(line)
    assert (found[1] if found else None) == rate
