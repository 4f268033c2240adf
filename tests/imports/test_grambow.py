"""The Grambow study's own files give its printed Table 3, and answers that the paper lacks.

Grambow et al. (2018), Table 3, gives relative changes of average latency on m3.medium instances.
Each compares means of five runs, and is averaged over three compaction strategies and two cache
settings.
"""

from __future__ import annotations

import re
import statistics
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.imports.run import ImportOutcome, Request, import_files

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Effect

CHECKOUT = Path(__file__).parents[2]
STUDY = CHECKOUT / "studies" / "grambow-2018.yaml"
RAW = Path(__file__).parent / "data" / "grambow-2018-m3.medium-ycsb.zip"

II, III, IV = ("docker", "native"), ("native", "docker"), ("docker", "docker")
TABLE_3 = {
    ("10", "read.mean"): {II: 1.42, III: 1.84, IV: 1.21},
    ("10", "update.mean"): {II: 1.79, III: 5.13, IV: 4.53},
    ("25", "read.mean"): {II: -0.09, III: -0.01, IV: 0.69},
    ("25", "update.mean"): {II: 0.50, III: 3.06, IV: 3.73},
    ("50", "read.mean"): {II: 2.51, III: -0.52, IV: -0.97},
    ("50", "update.mean"): {II: 2.72, III: 2.66, IV: 2.20},
}
AVERAGES = {
    "read.mean": {II: 1.28, III: 0.44, IV: 0.31},
    "update.mean": {II: 1.67, III: 3.62, IV: 3.49},
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> ImportOutcome:
    run = tmp_path_factory.mktemp("grambow") / "run"
    return import_files(Request("ycsb", [RAW], STUDY, run))


@pytest.fixture(scope="module")
def analysis(outcome: ImportOutcome) -> Analysis:
    return analyse(outcome.run)


def percent(effect: Effect) -> float:
    """The change in percent, rounded as in the paper."""
    return round((effect.ratio - 1) * 100, 2)


def found(analysis: Analysis, metric: str, threads: str | None) -> dict[tuple[str, str], Effect]:
    """Setup to the averaged effect, at one thread count or over all of them."""
    return {
        (effect.levels["client"], effect.levels["server"]): effect
        for effect in analysis.effects
        if effect.metric == metric and effect.over and effect.levels.get("threads") == threads
    }


def test_every_file_becomes_a_trial(outcome: ImportOutcome) -> None:
    assert len(outcome.trials) == 360
    assert not outcome.skipped


@pytest.mark.parametrize(("threads", "metric"), TABLE_3)
def test_table_3_is_as_printed(analysis: Analysis, threads: str, metric: str) -> None:
    effects = found(analysis, metric, threads)
    assert {setup: percent(effect) for setup, effect in effects.items()} == TABLE_3[threads, metric]
    assert {tuple(effect.over) for effect in effects.values()} == {("compaction", "key-cache")}


@pytest.mark.parametrize("metric", AVERAGES)
def test_the_average_rows_are_as_printed(analysis: Analysis, metric: str) -> None:
    effects = found(analysis, metric, None)
    assert {setup: percent(effect) for setup, effect in effects.items()} == AVERAGES[metric]


def test_a_cell_follows_from_the_raw_files_by_hand(analysis: Analysis) -> None:
    pattern = re.compile(
        r"results-(true|false)_(true|false)_10_workloada_'class':'(\w+)'_(\w+)_m3.+_\d\.txt"
    )
    values: dict[tuple[str, str, str, str], list[float]] = {}
    with zipfile.ZipFile(RAW) as archive:
        for name in archive.namelist():
            if fields := pattern.fullmatch(name):
                text = archive.read(name).decode()
                mean = re.search(r"\[UPDATE\], AverageLatency\(us\), (.+)", text)
                assert mean is not None
                client, server, compaction, cache = fields.groups()
                cell = values.setdefault((client, server, compaction, cache), [])
                cell.append(float(mean[1]))
    settings = {key[2:] for key in values}
    assert len(settings) == 6
    ratios = [
        statistics.mean(values["false", "true", *one])
        / statistics.mean(values["false", "false", *one])
        for one in settings
    ]
    effect = found(analysis, "update.mean", "10")[III]
    assert effect.ratio == pytest.approx(statistics.mean(ratios), rel=1e-9)


def test_what_the_paper_could_not_say(analysis: Analysis) -> None:
    read = found(analysis, "read.mean", "25")[III]
    assert read.ci[0] < 1 < read.ci[1]
    assert read.margin == 0.05
    assert read.verdict == "equivalent"
    update = found(analysis, "update.mean", "10")[III]
    assert update.ci[0] > 1
    assert update.verdict in ("different", "different within the margin")
    open_ones = [e for e in analysis.effects if e.verdict == "inconclusive" and e.over]
    assert all(e.needed is None or e.needed > 0 for e in open_ones)


def test_reads_that_found_nothing_are_shown_and_do_not_hide(analysis: Analysis) -> None:
    errors = next(check for check in analysis.checks if check.name == "errors")
    assert errors.status == "warning"
    assert "7 of 360 trials" in errors.summary
    assert sum("NOT_FOUND" in line for line in errors.details) == 7
    assert all(".docker.25." in d or ".docker.10." in d or ".docker.50." in d
               for d in errors.details)  # fmt: skip


def test_what_the_files_do_not_tell_is_said(analysis: Analysis) -> None:
    assert analysis.valid
    unknown = next(check for check in analysis.checks if check.name == "not known, imported")
    assert any("client was the limit" in line for line in unknown.details)
    assert not {"client", "parity", "warm-up", "bits"} & {check.name for check in analysis.checks}


def test_the_same_study_reads_the_m3_large_half(tmp_path: Path) -> None:
    """m3.medium files under names of m3.large files give 144 conditions, all of m3.large."""
    other = tmp_path / "m3.large.zip"
    threads = {"_10_": "_30_", "_25_": "_75_", "_50_": "_150_"}
    with zipfile.ZipFile(RAW) as raw, zipfile.ZipFile(other, "w") as large:
        for name in raw.namelist():
            if not name.endswith(("_1.txt", "_2.txt")):
                continue
            renamed = name.replace("m3.medium", "m3.large")
            for medium, count in threads.items():
                renamed = renamed.replace(medium, count)
            large.writestr(renamed, raw.read(name))
    outcome = import_files(Request("ycsb", [other], STUDY, tmp_path / "large"))
    assert len(outcome.trials) == 144
    analysis = analyse(tmp_path / "large")
    assert {summary.levels["instance"] for summary in analysis.conditions} == {"m3-large"}
    rows = {e.levels["threads"] for e in analysis.effects if e.over and "threads" in e.levels}
    assert rows == {"30", "75", "150"}
    assert set(found(analysis, "read.mean", "75")) == {II, III, IV}
