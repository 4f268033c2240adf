"""Pauses are read from garbage collection logs of real JVMs.

OpenJDK 17 wrote data/gc-*.log with the same option that nodes get: gc-g1-cassandra.log is from a
Cassandra 5.0.9 node under load, the others from a small program.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.databases.cassandra import gclog

DATA = Path(__file__).parent / "data"
CASSANDRA = DATA / "gc-g1-cassandra.log"
MIB = 1 << 20


def pauses(name: str) -> list[gclog.Pause]:
    found = gclog.read_from(DATA / name, 0)
    assert found is not None
    return found


def test_every_pause_of_a_real_node_is_found_and_nothing_else() -> None:
    text = CASSANDRA.read_text()
    found = pauses("gc-g1-cassandra.log")
    assert len(found) == len(re.findall(r"\) Pause", text)) == 75
    # the sum of the last column, computed independently
    assert sum(p.seconds for p in found) == pytest.approx(6.00695)


def test_a_pause_has_its_end_length_kind_and_heap() -> None:
    first = pauses("gc-g1-cassandra.log")[0]
    assert first == gclog.Pause(
        ended=1795274057.493,
        seconds=9.522 / 1e3,
        kind="Young (Normal) (G1 Evacuation Pause)",
        before=16 * MIB,
        after=5 * MIB,
    )


@pytest.mark.parametrize(("name", "count"), [("gc-serial.log", 13), ("gc-parallel.log", 27)])
def test_other_collectors_have_the_same_form(name: str, count: int) -> None:
    found = pauses(name)
    assert len(found) == count
    assert {p.kind for p in found} >= {"Full (System.gc())"}


def test_a_collector_that_logs_no_pauses_is_unknown_not_without_pauses() -> None:
    assert gclog.read_from(DATA / "gc-z.log", 0) is None


def test_only_what_was_logged_after_the_offset_is_read() -> None:
    half = CASSANDRA.read_bytes()[: CASSANDRA.stat().st_size // 2].rpartition(b"\n")[0]
    before = gclog.parse(half.decode().splitlines())
    after = gclog.read_from(CASSANDRA, len(half))
    assert after is not None
    assert before + after == pauses("gc-g1-cassandra.log")
    assert 0 < len(before) < 75


def test_what_was_allocated_is_the_growth_between_pauses() -> None:
    found = [
        gclog.Pause(10.0, 0.5, "Young", 100 * MIB, 20 * MIB),
        gclog.Pause(12.0, 0.25, "Young", 120 * MIB, 30 * MIB),
        gclog.Pause(15.0, 0.25, "Full", 80 * MIB, 10 * MIB),
    ]
    assert gclog.counts(found) == {
        "gc.pauses": 3.0,
        "gc.pause_s": 1.0,
        "gc.allocated_bytes_per_s": (100 + 50) * MIB / 5.0,
    }


def test_one_pause_or_none_tells_nothing_of_allocation() -> None:
    assert gclog.counts([]) == {"gc.pauses": 0.0, "gc.pause_s": 0}
    one = gclog.Pause(10.0, 0.5, "Young", 100 * MIB, 20 * MIB)
    assert gclog.counts([one]) == {"gc.pauses": 1.0, "gc.pause_s": 0.5}


def test_a_node_in_a_container_is_read_through_its_root() -> None:
    log = gclog.log_of(42, "/node/tmp")
    assert log == Path("/proc/42/root/node/tmp/gc.log")


def test_a_path_with_a_colon_stays_one_path_in_the_option() -> None:
    assert gclog.option("/data/a:b") == (
        '-Xlog:gc=info:file="/data/a:b/gc.log":timemillis:filecount=0'
    )


@given(st.lists(st.text(max_size=200)))
def test_any_text_is_read_without_complaint(lines: list[str]) -> None:
    assert isinstance(gclog.parse(lines), list)
