"""A file is named and skipped if its content contradicts the condition in its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.records.reader import read_run
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.imports.conftest import Import

WRITE = (DATA / "stress-4.0-alpha2-write-j17-hdr.txt").read_text(encoding="utf-8")
MIXED = (DATA / "stress-3.11.2-mixed-j17.txt").read_text(encoding="utf-8")
YCSB = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")
FERRETDB = (DATA / "ycsb-ferretdb-a-t.txt").read_text(encoding="utf-8")
LOAD = (DATA / "ycsb-cassandra-a-load.txt").read_text(encoding="utf-8")
GO = (DATA / "go-ycsb-cassandra-a-run.txt").read_text(encoding="utf-8")
STUDY = """\
study: said
{base}
factors:
  kind: {{one: {one}, other: {{client.runtime: docker}}}}
baseline: {{kind: one}}
design: {{fresh: trial, deployments: 1, blocks: 1}}
files: {{template: "{{kind}}_{{repetition}}.txt"}}
"""


def outcome_of(
    import_: Import,
    study: Path,
    tmp_path: Path,
    tool: str,
    text: str,
    base: str = "",
    one: str = "{}",
) -> tuple[str, list[str]]:
    """Why the only file was skipped (empty if it was imported), and its trial's notes."""
    study.write_text(STUDY.format(base=base, one=one), encoding="utf-8")
    path = tmp_path / "one_1.txt"
    path.write_text(text, encoding="utf-8")
    outcome = import_(tool, path)
    if outcome.skipped:
        return outcome.skipped[0].reason, []
    (record,) = read_run(outcome.run).trials
    return "", record.manifest.notes


@pytest.mark.parametrize(
    ("tool", "text", "workload", "why"),
    [
        ("cassandra-stress", WRITE, "stress-read", "the study says stress-read (read), its"),
        ("cassandra-stress", MIXED, "stress-write", "its content has read and write"),
        ("cassandra-stress", WRITE, "stress-mixed", "its content has write"),
        ("ycsb", YCSB, "ycsb-c", "its content has read and update"),
        ("ycsb", YCSB, "ycsb-d", "(read and insert), its content has read and update"),
        ("ycsb", YCSB, "ycsb-f", "(read and rmw and update), its content has read and update"),
        ("ycsb", YCSB, "ycsb-b", "with 95% read, its content has 50%"),
        ("ycsb", LOAD, "ycsb-a", "the load phase"),
        ("ycsb", YCSB, "stress-read", "its content has read and update"),
        ("ycsb", GO, "ycsb-c", "its content has read and update"),
        ("cassandra-stress", WRITE, "stress-write", ""),
        ("cassandra-stress", MIXED, "stress-mixed", ""),
        ("ycsb", YCSB, "ycsb-a", ""),
        ("ycsb", GO, "ycsb-a", ""),
    ],
)
def test_operations_are_those_of_the_workload(
    import_: Import, study: Path, tmp_path: Path, tool: str, text: str, workload: str, why: str
) -> None:
    patch = f"{{load.workload: {workload}}}"
    reason, _ = outcome_of(import_, study, tmp_path, tool, text, one=patch)
    assert why in reason
    assert bool(why) == bool(reason)


def test_an_update_workload_without_updates(import_: Import, study: Path, tmp_path: Path) -> None:
    reads = [
        "[OVERALL], RunTime(ms), 1000.0", "[OVERALL], Throughput(ops/sec), 1000.0",
        "[READ], Operations, 1000", "[READ], AverageLatency(us), 900.0",
        "[READ], Return=OK, 1000", "[CLEANUP], Operations, 4", "[CLEANUP], AverageLatency(us), 9.0",
    ]  # fmt: skip
    base = "load: {workload: ycsb-a}"
    reason, _ = outcome_of(import_, study, tmp_path, "ycsb", "\n".join(reads) + "\n", base)
    assert reason == "the study says ycsb-a (read and update), its content has read"


def test_both_halves_of_a_read_modify_write_are_counted_too(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    """YCSB prints these counts for 2000 operations of its workload F."""
    counts = {"READ": 2000, "READ-MODIFY-WRITE": 1000, "UPDATE": 1000}
    lines = ["[OVERALL], RunTime(ms), 1000.0", "[OVERALL], Throughput(ops/sec), 2000.0"]
    for name, count in counts.items():
        lines += [f"[{name}], Operations, {count}", f"[{name}], AverageLatency(us), 900.0"]
    lines += ["[CLEANUP], Operations, 4", "[CLEANUP], AverageLatency(us), 9.0"]
    base = "load: {workload: ycsb-f}"
    assert outcome_of(import_, study, tmp_path, "ycsb", "\n".join(lines) + "\n", base)[0] == ""


def test_threads_and_consistency_that_the_study_says_for_all(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    base = "load: {threads: 8}"
    reason, _ = outcome_of(import_, study, tmp_path, "cassandra-stress", WRITE, base)
    assert reason == "the study says 8 threads for one, its content 16"
    base = "database: {consistency: {write: ONE, read: QUORUM}}"
    reason, _ = outcome_of(import_, study, tmp_path, "cassandra-stress", WRITE, base)
    assert reason == "the study says consistency ONE (writes) for one, its content QUORUM"


@pytest.mark.parametrize(("kind", "reason"), [("mongodb", ""), ("cassandra", "was of mongodb")])
def test_the_database_that_the_study_says(
    import_: Import, study: Path, tmp_path: Path, kind: str, reason: str
) -> None:
    base = f'database: {{kind: {kind}, version: "7.0"}}'
    found, _ = outcome_of(import_, study, tmp_path, "ycsb", FERRETDB, base)
    assert reason in found
    assert bool(found) == bool(reason)


def test_a_level_that_describes_nothing_is_known_by_a_workloads_name(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    text = STUDY.format(base="", one="{}").replace("one", "stress-read")
    study.write_text(text, encoding="utf-8")
    path = tmp_path / "stress-read_1.txt"
    path.write_text(WRITE, encoding="utf-8")
    (skipped,) = import_("cassandra-stress", path).skipped
    assert "the study says stress-read (read), its content has write" in skipped.reason


def test_defaults_of_the_study_contradict_nothing(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    """The default of ycsb-a with 32 threads says nothing about these files."""
    assert outcome_of(import_, study, tmp_path, "cassandra-stress", WRITE) == ("", [])


def test_what_cannot_be_checked_is_recorded(import_: Import, study: Path, tmp_path: Path) -> None:
    base = "load: {threads: 4, workload: ycsb-a}\ndatabase: {consistency: {read: ONE}}"
    reason, notes = outcome_of(import_, study, tmp_path, "ycsb", YCSB, base)
    assert reason == ""
    assert notes == [
        "not checked against the study, for the file does not tell it: threads, consistency"
    ]
