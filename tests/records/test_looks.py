"""The file of a run's looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.errors import RecordError
from tare.records.looks import Look, Looks, read_looks, write_looks

if TYPE_CHECKING:
    from pathlib import Path

PLANNED = Look(round=5, of=8, why="planned", decided=False)
END = Look(round=8, of=8, why="end", decided=True)


def test_no_file_means_that_nobody_looked(tmp_path: Path) -> None:
    assert read_looks(tmp_path / "looks.json") == Looks()


def test_looks_are_read_as_they_were_written(tmp_path: Path) -> None:
    looks = Looks().with_look(END).with_look(PLANNED)
    write_looks(tmp_path / "looks.json", looks)
    assert read_looks(tmp_path / "looks.json").looks == [PLANNED, END]
    assert [one.name for one in tmp_path.iterdir()] == ["looks.json"]


def test_a_damaged_file_is_an_error_for_levels_would_be_wrong(tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text('{"looks": [{')
    with pytest.raises(RecordError, match="looks"):
        read_looks(tmp_path / "looks.json")


def test_a_run_ends_with_a_final_look_or_a_decided_one() -> None:
    decided = PLANNED.model_copy(update={"decided": True})
    assert Looks().ended() is None
    assert Looks(looks=[PLANNED]).ended() is None
    assert Looks(looks=[decided]).ended() == decided
    assert Looks(looks=[PLANNED, END]).ended() == END


def test_a_look_replaces_one_after_the_same_round() -> None:
    time = Look(round=5, of=8, why="time", decided=False)
    assert Looks(looks=[PLANNED]).with_look(time).looks == [time]
