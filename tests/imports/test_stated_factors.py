"""If file names do not give a level, the load generator's printed settings may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.imports.stated_factors import stated_factors
from tare.records.reader import read_run
from tare.study.read import load_study
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.imports.conftest import Import

MONGODB = (DATA / "ycsb-ferretdb-a-t.txt").read_text(encoding="utf-8")
LARGE = MONGODB.replace("recordcount=2000 ", "recordcount=10000000 ")
STUDY = """\
study: stamped
factors:
  where: {loopback: {}, host: {}}
  size: {small: {load.records: 2_000}, large: {load.records: 10_000_000}}
baseline: {where: loopback, size: small}
design: {fresh: trial, deployments: 1, blocks: 2}
files:
  template: "{_}/{repetition}/run.txt"
  values: {where: {"mongodb://127.0.0.1:27017/ycsbj?w=1": loopback}}
"""
BY_NAME = STUDY.replace("where:", "mongodb-url:")


def stamped(root: Path, **texts: str) -> Path:
    """Directories with time stamps as names and one result each."""
    for number, text in enumerate(texts.values()):
        place = root / "results" / f"2019-01-1{number}_10-30-00"
        place.mkdir(parents=True)
        (place / "run.txt").write_text(text, encoding="utf-8")
    return root


def test_directories_of_time_stamps_need_no_table(
    import_: Import, study: Path, tmp_path: Path, run: Path
) -> None:
    study.write_text(BY_NAME, encoding="utf-8")
    files = stamped(tmp_path / "files", a=MONGODB, b=LARGE, c=MONGODB, d=LARGE, e=LARGE)
    outcome = import_("ycsb", files)
    assert outcome.skipped == []
    trials = [one.name.partition("-B")[2] for one in read_run(run).trials]
    assert sorted(trials) == [
        "01-loopback.large", "01-loopback.small", "02-loopback.large", "02-loopback.small",
        "03-loopback.large",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("factors", "told", "found"),
    [
        ("recordcount: {few: {}, many: {}}", {"property recordcount": "2000"},
         {"recordcount": "2000"}),
        ("size: {a: {load.records: 1}, b: {load.records: 2}}", {"property recordcount": "2"},
         {"size": "2"}),
        ("mix: {a: {load.workload: ycsb-a}, b: {load.workload: ycsb-b}}",
         {"property workload file": "workloadb"}, {"mix": "ycsb-b"}),
        ("size: {a: {load: {records: 1, threads: 2}}, b: {}}", {"property recordcount": "1"}, {}),
        ("binding: {a: {}, b: {}}", {"property recordcount": "1"}, {}),
    ],
    ids=["its name", "its field", "a workload's file", "two fields", "nothing of it"],
)  # fmt: skip
def test_what_tells_a_factor(
    study: Path, factors: str, told: dict[str, str], found: dict[str, str]
) -> None:
    name = factors.partition(":")[0]
    level = factors.partition("{")[2].partition(":")[0]
    study.write_text(f"study: s\nfactors: {{{factors}}}\nbaseline: {{{name}: {level}}}\n")
    assert stated_factors(load_study(study), {}, told) == found


@pytest.mark.parametrize(
    "factor",
    ["recordcount: {all: {}}", "tool: {java: {}}", "mix: {half: {load.workload: ycsb-a}}"],
    ids=["a property's name", "a fact's name", "a workload of another file"],
)
def test_a_single_level_is_not_taken_back_by_what_a_tool_calls_alike(
    import_: Import, study: Path, tmp_path: Path, factor: str
) -> None:
    name, level = factor.partition(":")[0], factor.partition("{")[2].partition(":")[0]
    study.write_text(
        f"study: s\nfactors: {{{factor}}}\nbaseline: {{{name}: {level}}}\n"
        "design: {fresh: trial, deployments: 1, blocks: 1}\n"
        'files: {template: "run_{repetition}.txt"}\n',
        encoding="utf-8",
    )
    mine = MONGODB.replace("-P workloada", "-P mine")
    (tmp_path / "run_1.txt").write_text(mine, encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "run_1.txt")
    assert (outcome.files, outcome.skipped) == (1, [])


def test_a_single_level_whose_field_the_content_contradicts_is_refused(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    study.write_text(
        STUDY.replace(", large: {load.records: 10_000_000}", "").replace(
            "{_}/{repetition}/run", "run_{repetition}"
        )
    )
    (tmp_path / "run_1.txt").write_text(LARGE, encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "run_1.txt", fixed={"where": "host"})
    assert "size is '10000000', which is no level" in outcome.skipped[0].reason


def test_a_name_and_a_property_that_contradict_are_told(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    study.write_text(STUDY.replace("{_}/{repetition}/run", "{size}_{repetition}"))
    (tmp_path / "small_1.txt").write_text(LARGE, encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "small_1.txt", fixed={"where": "host"})
    assert "its name says size small, its content 10000000" in outcome.skipped[0].reason
