"""Repetitions may have any names; their numbers follow the order of the names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tare.imports.repetitions import number_named
from tare.imports.trial_identity import TrialPlace
from tare.imports.trial_writer import ImportedTrial
from tare.records.layout import RunFiles
from tare.records.reader import read_run
from tare.study.conditions import expand
from tare.study.read import load_study
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.imports.conftest import Import

YCSB = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")
TEMPLATE = "{platform}-{threads}/{repetition}/run.txt"


def results(root: Path, *names: str) -> Path:
    """The condition's directory, with a directory per repetition."""
    for name in names:
        place = root / "docker-16" / name
        place.mkdir(parents=True)
        (place / "run.txt").write_text(YCSB, encoding="utf-8")
    return root


def sources(run: Path) -> dict[str, str]:
    """Trial to its source file."""
    return {
        one.name: one.manifest.source.files[0].path
        for one in read_run(run).trials
        if one.manifest.source
    }


def test_time_stamps_are_numbered_in_their_order(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    names = ("2019-01-14_10-30-00", "2019-01-13_23-59-59", "2019-01-14_09-00-00")
    outcome = import_("ycsb", results(tmp_path / "files", *names), template=TEMPLATE)
    assert outcome.skipped == []
    assert [
        next(name for name in names if name in path) for _, path in sorted(sources(run).items())
    ] == sorted(names)
    assert any("environment.json" in note for note in outcome.notes)
    entry = json.loads(RunFiles(run).environment.read_text(encoding="utf-8"))["imports"][0]
    assert entry["repetitions"] == {
        "docker.few": {name: number for number, name in enumerate(sorted(names), start=1)}
    }


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (("run-10", "run-2", "run-1"), ["run-1", "run-2", "run-10"]),
        (("20190114103000", "20190113103000"), ["20190113103000", "20190114103000"]),
        (("b", "2", "a"), ["2", "a", "b"]),
    ],
    ids=["numbers inside", "long numbers", "a number beside names"],
)
def test_the_order_of_names(
    names: tuple[str, ...], ordered: list[str], import_: Import, tmp_path: Path
) -> None:
    outcome = import_("ycsb", results(tmp_path / "files", *names), template=TEMPLATE)
    assert list(outcome.repetitions["docker.few"]) == ordered


def test_whole_numbers_stay_what_they_are(import_: Import, tmp_path: Path, run: Path) -> None:
    outcome = import_("ycsb", results(tmp_path / "files", "3", "7"), template=TEMPLATE)
    assert outcome.repetitions == {}
    assert set(sources(run)) == {"D1-B03-docker.few", "D1-B07-docker.few"}


def test_series_find_their_trial_by_the_name_that_it_had(study: Path) -> None:
    condition = expand(load_study(study))[0]
    trials = [
        ImportedTrial(TrialPlace(condition, 1, 0, name), 0) for name in ("second", "unheard-of")
    ]
    numbers: dict[str, dict[str, int]] = {}
    number_named(trials, numbers, {condition.name: {"first": 1, "second": 2}})
    assert [one.block for one in trials] == [2, 0]
    assert numbers == {}, "they are known already"


def test_a_name_that_cannot_be_printed_is_none(import_: Import, tmp_path: Path) -> None:
    outcome = import_("ycsb", results(tmp_path / "files", "a\x1bb"), template=TEMPLATE)
    assert "no name" in outcome.skipped[0].reason
