"""Messages are whole, whatever texts they quote, and write sizes as people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.runtimes.obstacle import Obstacle
from tare.study.conditions import expand
from tare.study.left_out import divide, reasons
from tare.study.quantities import size_in_words

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

HEAD = "study: told\nload: {threads: 4}\n"


@pytest.mark.parametrize("value", ["a; rm -rf b", "; ", "1s; then more"])
def test_a_value_with_a_semicolon_is_quoted_whole(refuse: RefuseStudy, value: str) -> None:
    error = refuse(f'study: told\nload: {{threads: 4, measure: "{value}"}}\n')
    assert error.what == f"load.measure: {value!r} is not a duration"
    assert error.remedy == "write it like 10s, 2m or 1m30s"


def test_reasons_with_semicolons_stay_whole(read: ReadStudy) -> None:
    first, second = "a network called x; y", "no volumes"
    found = Obstacle(("platform",), f"{first}; {second}", "change it", (first, second))
    _, left = divide(expand(read(HEAD)), lambda setup: found)
    assert reasons(left) == [first, second]
    _, alone = divide(expand(read(HEAD)), lambda setup: Obstacle(("x",), first, "change it"))
    assert reasons(alone) == [first]
    assert "whys" not in alone[0].model_dump()


@pytest.mark.parametrize(
    ("size", "said"),
    [(512, "512B"), (1024**2, "1MiB"), (64 * 1024**2, "64MiB"), (3 * 2**29, "1.5GiB")],
)
def test_a_size_is_told_in_its_own_unit(size: int, said: str) -> None:
    assert size_in_words(size) == said


@pytest.mark.parametrize(
    ("field", "least"), [("database: {heap: 1MiB}", "64MiB"), ("database: {heap: 9000TiB}", "")]
)
def test_a_size_out_of_range_is_not_told_in_bytes(
    refuse: RefuseStudy, field: str, least: str
) -> None:
    error = refuse(f"{HEAD}{field}\n")
    assert error.where == "study.yaml:3"
    assert "67108864" not in str(error)
    assert "1125899906842624" not in str(error)
    assert least in error.remedy


def test_a_size_that_may_be_null_is_told_so_too(refuse: RefuseStudy) -> None:
    error = refuse(f"{HEAD}platform: {{limits: {{memory: 9000TiB}}}}\n")
    assert "it must be at most 1024TiB" in error.why


def test_a_duration_out_of_range_is_told_with_its_unit(refuse: RefuseStudy) -> None:
    error = refuse("study: told\nload: {threads: 4, measure: 900h}\n")
    assert error.why == "it must be at most 720h"


def test_a_character_that_may_not_stand_in_yaml_is_told_with_its_line(refuse: RefuseStudy) -> None:
    error = refuse(f'{HEAD}question: "a\x01b"\n')
    assert error.where == "study.yaml:3"
    assert "U+0001" in error.why
    assert "\\u0001" in error.remedy


def test_a_file_that_is_too_large_is_told_in_mebibytes(refuse: RefuseStudy) -> None:
    error = refuse("#" * (1024 * 1024 + 1))
    assert error.why == "more than 1MiB"
    assert error.remedy


@pytest.mark.parametrize(
    ("lines", "where", "remedy"),
    [
        ("database: {rf: 3}", "study.yaml:3", "did you mean database.replication_factor?"),
        ("design: {rounds: 3}", "study.yaml:3", "did you mean design.deployments?"),
        ("platform: {memory: 2GiB}", "study.yaml:3", "did you mean platform.limits.memory?"),
        ("database: {nodes: 2k}", "study.yaml:3", "did you mean 2_000?"),
        ("database: {RF: 3}", "study.yaml:3", "did you mean database.replication_factor?"),
        ("margins: {p99: 10}", "study.yaml:3", "did you mean margins.p99: 10%?"),
        ("margins: {read.p99: 2.5}", "study.yaml:3", "did you mean margins.read.p99: 2.5%?"),
        ("margins: {p99: 1000}", "study.yaml:3", "give margins.p99 less than 1"),
    ],
)
def test_an_abbreviation_and_a_percentage_without_its_sign_are_understood(
    refuse: RefuseStudy, lines: str, where: str, remedy: str
) -> None:
    error = refuse(f"{HEAD}{lines}\n")
    assert (error.where, error.remedy) == (where, remedy)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("concurrency: 4", "load.threads"), ("duration: 10s", "load.measure")],
)
def test_what_other_tools_call_a_field_is_understood(
    refuse: RefuseStudy, written: str, meant: str
) -> None:
    error = refuse(f"study: told\nload: {{workload: ycsb-a, {written}}}\n")
    assert error.remedy == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("volume", "write baseline: {storage: volume, row: usual}"),
        ("[large, volume]", "write baseline: {storage: volume, row: large}"),
        ("tmpfs", "write baseline: {storage: directory, row: usual}"),
    ],
)
def test_a_baseline_that_names_no_factor_is_told_the_mapping_to_write(
    refuse: RefuseStudy, written: str, remedy: str
) -> None:
    factors = (
        "factors:\n  storage: {directory: {}, volume: {platform.storage: volume}}\n"
        "  row: {usual: {}, large: {load.field_length: 1000}}\n"
    )
    error = refuse(f"{HEAD}{factors}baseline: {written}\n")
    assert error.where == "study.yaml:6"
    assert error.remedy == remedy


def test_a_baseline_of_a_study_without_factors_is_to_be_removed(refuse: RefuseStudy) -> None:
    assert refuse(f"{HEAD}baseline: native\n").remedy.startswith("remove it")
