"""Only a directory with its own run's mark is ever removed, and never one behind a link."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from tare.errors import TareError
from tare.lab import clean, marked
from tare.records.layout import RunFiles


def run_at(root: Path, plan: str = "{}") -> RunFiles:
    root.mkdir(parents=True)
    files = RunFiles(root)
    files.plan.write_text(plan)
    return files


def left(files: RunFiles) -> list[Path]:
    """What a killed run leaves: its working directory and half a trial."""
    made = [files.root / "work", files.trials / ".t1.partial"]
    for directory in made:
        marked.make(directory, files)
        (directory / "n1/data").mkdir(parents=True)
        (directory / "n1/data/rows").write_text("rows")
    return sorted(made)


def remove_all(runs: Path) -> None:
    clean.remove(clean.Leftovers(directories=marked.leftovers(runs)))


def test_what_a_killed_run_left_is_found_and_removed(tmp_path: Path) -> None:
    files = run_at(tmp_path / "run")
    assert left(files) == marked.leftovers(tmp_path)
    remove_all(tmp_path)
    assert list(files.trials.iterdir()) == []
    assert not (files.root / "work").exists()


def test_directories_of_others_stay_whatever_they_are_called(tmp_path: Path) -> None:
    thesis = tmp_path / "projectA" / "work" / "thesis.tex"
    half = tmp_path / "projectA/trials/.download.partial/half"
    in_a_run = run_at(tmp_path / "run").root / "work/thesis.tex"
    for file in (thesis, half, in_a_run):
        file.parent.mkdir(parents=True)
        file.write_text("years of work")
    assert marked.leftovers(tmp_path) == []
    remove_all(tmp_path)
    assert {file.read_text() for file in (thesis, half, in_a_run)} == {"years of work"}


def test_the_mark_of_another_run_is_none(tmp_path: Path) -> None:
    left(run_at(tmp_path / "a", "one plan"))
    other = run_at(tmp_path / "b", "another plan")
    (tmp_path / "a/work").rename(other.root / "work")
    assert marked.leftovers(tmp_path) == [tmp_path / "a/trials/.t1.partial"]
    marked.remove(other.root / "work", other)
    assert (other.root / "work/n1/data/rows").exists()


def test_what_a_run_on_another_machine_has_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = run_at(tmp_path / "run")
    monkeypatch.setattr(marked, "identity", lambda: "there")
    made = left(files)
    monkeypatch.setattr(marked, "identity", lambda: "here")
    assert marked.leftovers(tmp_path) == []
    for directory in made:
        marked.remove(directory, files)
        with pytest.raises(TareError, match="something else is there") as refused:
            marked.make(directory, files)
        assert "where another machine runs it, wait" in refused.value.remedy
        assert (directory / "n1/data/rows").exists()
    monkeypatch.setattr(marked, "identity", lambda: "there")
    assert marked.leftovers(tmp_path) == made


def test_a_label_that_names_no_machine_may_be_of_any(tmp_path: Path) -> None:
    files = run_at(tmp_path / "run")
    for directory in left(files):
        label = json.loads((directory / marked.LABEL).read_text())
        (directory / marked.LABEL).write_text(json.dumps({"plan": label["plan"]}))
    assert marked.leftovers(tmp_path) == []


@pytest.mark.parametrize("linked", ["run", "run/work", "run/trials", "run/trials/.t1.partial"])
def test_a_link_leads_to_nothing_that_is_removed(tmp_path: Path, linked: str) -> None:
    runs, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    left(run_at(runs / "run"))
    (runs / linked).rename(elsewhere)
    (runs / linked).symlink_to(elsewhere)
    kept = sorted(elsewhere.rglob("*"))
    assert not [one for one in marked.leftovers(runs) if one.is_relative_to(runs / linked)]
    remove_all(runs)
    assert sorted(elsewhere.rglob("*")) == kept


def test_a_link_that_takes_the_place_of_what_was_found_is_not_followed(tmp_path: Path) -> None:
    files = run_at(tmp_path / "runs/run")
    left(files)
    found = clean.Leftovers(directories=marked.leftovers(tmp_path / "runs"))
    files.trials.rename(tmp_path / "elsewhere")
    files.trials.symlink_to(tmp_path / "elsewhere")
    clean.remove(found)
    assert (tmp_path / "elsewhere/.t1.partial/n1/data/rows").exists()


def test_a_link_inside_goes_and_not_what_it_leads_to(tmp_path: Path) -> None:
    files = run_at(tmp_path / "runs/run")
    left(files)
    (tmp_path / "kept").mkdir()
    (files.root / "work/link").symlink_to(tmp_path / "kept")
    remove_all(tmp_path / "runs")
    assert (tmp_path / "kept").is_dir()
    assert not (files.root / "work").exists()


def test_a_run_does_not_take_a_place_that_holds_something_else(tmp_path: Path) -> None:
    files = run_at(tmp_path / "run")
    (files.root / "work").mkdir()
    (files.root / "work/thesis.tex").write_text("years of work")
    with pytest.raises(TareError, match="something else is there"):
        marked.make(files.root / "work", files)
    assert (files.root / "work/thesis.tex").exists()


def test_a_run_makes_its_directory_anew(tmp_path: Path) -> None:
    files = run_at(tmp_path / "run")
    left(files)
    marked.make(files.root / "work", files)
    assert [one.name for one in (files.root / "work").iterdir()] == [marked.LABEL]


@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_label_that_was_cut_off_while_it_was_written_is_the_runs(
    tmp_path: Path, length: int
) -> None:
    """The state after a full disk: the run must be able to go on, and `tare clean` to remove it."""
    files = run_at(tmp_path / "run")
    work = files.root / "work"
    marked.make(work, files)
    label = work / marked.LABEL
    label.write_bytes(label.read_bytes()[:length])
    assert marked.leftovers(tmp_path) == [work]
    marked.make(work, files)
    label.write_bytes(label.read_bytes()[:length])
    remove_all(tmp_path)
    assert not work.exists()


def test_beside_a_label_that_was_cut_off_nothing_goes(tmp_path: Path) -> None:
    files = run_at(tmp_path / "run")
    work = files.root / "work"
    marked.make(work, files)
    (work / marked.LABEL).write_text("")
    (work / "thesis.tex").write_text("years of work")
    assert marked.leftovers(tmp_path) == []
    with pytest.raises(TareError, match="something else is there"):
        marked.make(work, files)
    assert (work / "thesis.tex").read_text() == "years of work"


def test_a_disk_without_room_for_the_label_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = run_at(tmp_path / "run")

    def full(path: Path, data: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        marked.make(files.root / "work", files)
    assert not (files.root / "work").exists()
