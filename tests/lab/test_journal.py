"""The journal survives any end of the process that writes it."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tare.lab.journal import Journal

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_events_come_back_in_order_with_time_and_facts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", now=lambda: NOON)
    journal.write("trial begun", trial="D1-B01-native")
    journal.write("trial done", trial="D1-B01-native")
    assert [e["event"] for e in journal.events()] == ["trial begun", "trial done"]
    assert journal.events()[0]["at"] == "2026-01-01T12:00:00+00:00"


def test_a_line_that_a_crash_cut_off_is_dropped_and_the_next_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).write("run begun")
    with path.open("a") as file:
        file.write('{"event": "trial beg')
    journal = Journal(path)
    journal.write("run resumed")
    assert [e["event"] for e in journal.events()] == ["run begun", "run resumed"]


def test_reading_leaves_a_file_as_it_is_whoever_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    content = b'["mine"]\n{"day": "Monday"}\n\xff\n{"event": "run begun"}\nthe last, without an end'
    path.write_bytes(content)
    assert Journal(path).events() == [{"event": "run begun"}]
    assert path.read_bytes() == content


def test_after_a_line_that_the_disk_had_no_room_for_the_next_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("run begun")

    def full(descriptor: int) -> None:
        os.truncate(descriptor, os.fstat(descriptor).st_size - 5)
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setattr(os, "fsync", full)
        journal.write("trial done")
    journal.write("run interrupted")
    assert [e["event"] for e in journal.events()] == ["run begun", "run interrupted"]


def test_lives_of_a_deployment_are_counted_over_resumes(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).write("deployment begun", deployment="D1-native-1", of="D1-native")
    Journal(path).write("deployment begun", deployment="D1-native-again-1", of="D1-native-again")
    assert Journal(path).lives("D1-native") == 1
    assert Journal(path).lives("D2-native") == 0
