"""Run directories as found: whole, damaged, hostile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tare.errors import RecordError
from tare.records.reader import read_run
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ["D1-B01-docker", "D1-B01-native"]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    truths = {"native": Truth(), "docker": Truth()}
    return write_run(tmp_path / "r1", effects=truths, deployments=1, blocks=1, measure_s=3)


def test_a_run_gives_its_trials_with_series_and_histograms(run_dir: Path) -> None:
    run = read_run(run_dir)
    assert run.name == "r1"
    assert run.damaged == []
    assert [trial.name for trial in run.trials] == NAMES
    trial = run.trials[0]
    (client,) = trial.manifest.clients
    log = trial.histograms(client)
    assert sum(p.total for t, p in log.totals.items() if t.endswith("-rt")) == client.ok
    intervals, damage = trial.progress()
    assert [interval.t for interval in intervals] == [1.0, 2.0, 3.0]
    assert damage == []
    samples = trial.samples()
    assert samples.t.shape == samples.value.shape == samples.part.shape
    assert {"machine", "n1", "c1"} <= {scope for scope, _ in samples.parts}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def _unknown_field(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"surprise": 1}))


def _newer(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))


def _foreign(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"trial": "other"}))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_cut, "Invalid JSON"),
        (_unknown_field, "surprise"),
        (_newer, "format 99"),
        (_foreign, "belongs to trial 'other'"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "UTF-8"),
        (lambda path: path.unlink(), "cannot be read"),
    ],
)
def test_a_damaged_manifest_is_named_and_the_others_are_read(
    run_dir: Path, damage: Callable[[Path], None], reason: str
) -> None:
    damage(run_dir / "trials" / NAMES[0] / "manifest.json")
    run = read_run(run_dir)
    assert [trial.name for trial in run.trials] == NAMES[1:]
    (lost,) = run.damaged
    assert lost.trial == NAMES[0]
    assert reason in lost.reason


def test_a_failed_attempt_is_read_beside_its_repetition(run_dir: Path) -> None:
    good = run_dir / "trials" / NAMES[0]
    failed = good.with_name(f"{NAMES[0]}.failed-1")
    failed.mkdir()
    record = json.loads((good / "manifest.json").read_text()) | {"status": "failed", "clients": []}
    (failed / "manifest.json").write_text(json.dumps(record))
    run = read_run(run_dir)
    assert [(t.name, t.done) for t in run.trials] == [
        (NAMES[0], True),
        (f"{NAMES[0]}.failed-1", False),
        (NAMES[1], True),
    ]


def test_progress_lines_that_make_no_sense_are_named(run_dir: Path) -> None:
    trial = read_run(run_dir).trials[0]
    with trial.files.progress.open("a") as out:
        out.write('{"event":"interval","phase":"measure","t":"soon"}\n[1]\n{"event":"inter')
    intervals, damage = trial.progress()
    assert len(intervals) == 3
    assert damage == [f"progress.jsonl:{n}: unreadable line" for n in (5, 6, 7)]


def test_samples_of_another_shape_are_refused(run_dir: Path) -> None:
    trial = read_run(run_dir).trials[0]
    pq.write_table(pa.table({"t": ["noon"], "value": [1.0]}), trial.files.samples)
    with pytest.raises(RecordError, match="damaged"):
        trial.samples()
    trial.files.samples.write_bytes(b"PAR1 but no more")
    with pytest.raises(RecordError, match="damaged"):
        trial.samples()
    trial.files.samples.unlink()
    with pytest.raises(RecordError, match="damaged"):
        trial.samples()


def test_the_environment_is_optional(run_dir: Path) -> None:
    assert read_run(run_dir).environment() == {}
    (run_dir / "environment.json").write_text('{"machine": {"cpus": 2}}')
    assert read_run(run_dir).environment() == {"machine": {"cpus": 2}}
    (run_dir / "environment.json").write_text("{")
    assert read_run(run_dir).environment() == {}
