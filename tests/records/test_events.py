"""Events are read back as they were written; damaged lines are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.records.events import Event, read_events, write_events


def test_written_events_come_back(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    detail = {"node": "n1", "table": "ycsb.usertable"}
    write_events([{"from": 1.5, "to": 2.5, "what": "compaction", "detail": detail}], file)
    assert read_events(file) == ([Event(1.5, 2.5, "compaction", detail)], [])


def test_a_record_without_the_file_has_no_events(tmp_path: Path) -> None:
    assert read_events(tmp_path / "events.jsonl") == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"from": 1}',
        '{"from": 3, "to": 2, "what": "backwards"}',
        '{"from": NaN, "to": 2, "what": "x"}',
        '{"from": 1, "to": 2, "what": "x", "detail": 7}',
        "[" * 100_000,
    ],
)
def test_a_damaged_line_is_named_and_the_rest_is_read(tmp_path: Path, line: str) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(f'{line}\n{{"from": 1, "to": 2, "what": "gc pause"}}\n')
    events, damage = read_events(file)
    assert [event.what for event in events] == ["gc pause"]
    assert damage == ["events.jsonl:1: unreadable line"]


@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_without_complaint(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / f"events-{os.getpid()}.jsonl"
    file.write_bytes(data)
    events, damage = read_events(file)
    assert len(events) + len(damage) <= data.count(b"\n") + data.count(b"\r") + 1
