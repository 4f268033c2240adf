"""Reasons for skipped files: faults come first, even if more files are skipped as foreign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.imports.reasons import by_reason
from tare.imports.sources import Skipped
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.imports.conftest import Import

YCSB = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")


def test_faults_come_before_files_that_are_only_others() -> None:
    load = [Skipped(f"load-{n}", f"its content has {n} inserts", fault=False) for n in range(94)]
    cut = [Skipped(f"run-{n}", "cut off: no END after the results") for n in range(3)]
    found = by_reason([*load, *cut])
    assert [(one.fault, len(one.labels)) for one in found] == [(True, 3), (False, 94)]
    assert found[1].text == "its content has 0 inserts"


def test_of_one_kind_the_rare_reason_comes_first() -> None:
    often = [Skipped(f"a{n}", "the sidecar has no row for it", fault=False) for n in range(5)]
    found = by_reason([*often, Skipped("b", "platform is 'x', which is no level", fault=False)])
    assert [len(one.labels) for one in found] == [1, 5]


def test_an_import_tells_faults_from_other_files(import_: Import, results: Path) -> None:
    (results / "docker_16_3.txt").write_text(YCSB[:700], encoding="utf-8")
    (results / "README").write_text("hello", encoding="utf-8")
    (results / "podman_16_1.txt").write_text(YCSB, encoding="utf-8")
    found = {one.label.rsplit("/", 1)[-1]: one.fault for one in import_("ycsb", results).skipped}
    assert found == {"docker_16_3.txt": True, "README": False, "podman_16_1.txt": False}
