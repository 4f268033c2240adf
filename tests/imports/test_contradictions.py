"""Impossible values in a file are refused; columns that are not read are reported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.go_ycsb import read as read_go_ycsb
from tare.imports.order import refuse_disorder
from tare.imports.parsing import grouped, json_document, json_number, number, whole

if TYPE_CHECKING:
    from tests.imports.conftest import Import

DATA = Path(__file__).parent / "data"
MANY = "1" * 5000


@pytest.mark.parametrize(
    "text",
    ["1_000", "\u0661\u0662\u0663", "\uff11\uff10", "0x10", "1e", "1 000", "--1", "1.2.3", ".", ""],
)
def test_a_number_is_in_plain_digits_with_no_mark_between_them(text: str) -> None:
    with pytest.raises(UnreadableError, match="rate is no number"):
        number(text, "rate")


@pytest.mark.parametrize(("text", "value"), [(" 12 ", 12.0), ("1.5E3", 1500.0), (".5", 0.5)])
def test_numbers_as_tools_print_them_are_read(text: str, value: float) -> None:
    assert number(text, "rate") == value


def test_thousands_of_another_script_are_no_number() -> None:
    assert grouped("1,234.5", "rate") == 1234.5
    with pytest.raises(UnreadableError, match="rate is no number"):
        grouped("\u0661,\u0662\u0663\u0664", "rate")


def test_a_number_of_thousands_of_digits_is_told_in_our_words() -> None:
    with pytest.raises(UnreadableError, match="rate is no number: it has 5,000 characters"):
        number(MANY, "rate")
    with pytest.raises(UnreadableError, match=r"11111\.\.\. is no number: it has 5,000 characters"):
        json_document(f'{{"rate": {MANY}}}')


@pytest.mark.parametrize("value", ["1_6", "\u0664", 2.5, True, "many"])
def test_a_count_is_a_whole_number(value: object) -> None:
    assert whole("4", "CPUs") == whole(4, "CPUs") == 4
    with pytest.raises(UnreadableError, match="CPUs is"):
        whole(value, "CPUs")
    assert json_number(2.5, "rate") == 2.5


def test_a_table_s_digits_of_another_script_are_refused_with_their_row(
    import_: Import, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "platform,threads,repetition,throughput\nbare,16,1,1_000\nbare,16,2,\u0661\u0662\n",
        encoding="utf-8",
    )
    outcome = import_("csv", table)
    assert not outcome.trials
    assert "row 2, throughput is no number: '1_000'" in outcome.skipped[0].reason


def test_a_column_that_was_not_read_is_named_with_what_it_may_have_meant(
    import_: Import, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "platform,threads,repetition,throughput,thruput,weather\n"
        "bare,16,1,1000,2000,fine\nbare,16,2,1001,2001,fine\n",
        encoding="utf-8",
    )
    outcome = import_("csv", table)
    assert len(outcome.trials) == 2
    [note] = [one for one in outcome.notes if "not read" in one]
    assert "'thruput' (did you mean throughput?), 'weather'" in note
    assert "threads" not in note


def test_a_table_whose_columns_are_all_read_has_no_such_note(
    import_: Import, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "platform,threads,repetition,seconds,operations,errors,throughput,consistency\n"
        "bare,16,1,10,10000,0,1000,ONE\n",
        encoding="utf-8",
    )
    assert not [one for one in import_("csv", table).notes if "not read" in one]


def test_two_columns_of_one_metric_are_refused(import_: Import, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("platform,threads,read.p99 (ms),Read.p99\nbare,16,1,1000\n", encoding="utf-8")
    assert "two columns are read.p99" in import_("csv", table).skipped[0].reason


def test_an_average_below_the_minimum_is_refused_with_its_line(
    import_: Import, results: Path
) -> None:
    file = results / "bare_16_1.txt"
    text = file.read_text(encoding="utf-8")
    wrong, count = re.subn(
        r"(\[READ\], AverageLatency\(us\)), [\d.]+", r"\1, 3.5", text, flags=re.ASCII
    )
    assert count == 1
    file.write_text(wrong, encoding="utf-8")
    line = next(n for n, one in enumerate(wrong.splitlines(), 1) if "[READ], Average" in one)
    outcome = import_("ycsb", file)
    assert not outcome.trials
    assert re.fullmatch(
        rf"line {line}: read: the average, 3.5 us, is below the minimum, [\d,.]+ us",
        outcome.skipped[0].reason,
    )


def test_the_same_of_go_ycsb() -> None:
    lines = [
        "Run finished, takes 10s",
        "READ   - Takes(s): 10.0, Count: 100, OPS: 10.0, Avg(us): 5, Min(us): 90, Max(us): 200, "
        "50th(us): 100, 99th(us): 190",
        "TOTAL  - Takes(s): 10.0, Count: 100, OPS: 10.0, Avg(us): 95, Min(us): 90, Max(us): 200, "
        "50th(us): 100, 99th(us): 190",
    ]
    with pytest.raises(UnreadableError, match="line 2: read: the average, 5 us, is below the min"):
        refuse_disorder(read_go_ycsb(lines))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"read.p50": 50.0, "read.p99": 20.0}, "read: the p99, 20 us, is below the p50, 50 us"),
        ({"read.p99": 90.0, "read.max": 20.0}, "the p99, 90 us, is above the maximum, 20 us"),
        ({"read.mean": 90.0, "read.max": 20.0}, "the average, 90 us, is above the maximum, 20 us"),
    ],
)
def test_latencies_of_an_operation_are_in_order(values: dict[str, float], said: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(said)):
        refuse_disorder(FileReading(values))


def test_what_was_rounded_is_in_order() -> None:
    refuse_disorder(FileReading({"read.p99": 100.0, "read.max": 99.0, "read.mean": 0.4}))
    refuse_disorder(FileReading({"read.p50": 1000.0, "read.mean": 5000.0, "read.p99": 1100.0}))
    refuse_disorder(FileReading({"read.min": 1000.0, "read.mean": 900.0}, step_us=100.0))


def test_a_report_of_latte_with_an_endless_number_is_told_in_our_words(
    import_: Import, tmp_path: Path
) -> None:
    file = tmp_path / "bare_16_1.json"
    file.write_text(json.dumps({"result": {"cycle_throughput": 1}}).replace("1}", f"{MANY}}}"))
    reason = import_("latte", file, template="{platform}_{threads}_{repetition}.json")
    assert "it has 5,000 characters" in reason.skipped[0].reason
