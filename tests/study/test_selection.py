"""`--only`: a part of a study's conditions, never without their baselines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.errors import StudyError
from tare.lab.directory import study_digest, study_text
from tare.study.conditions import baseline_condition, expand
from tare.study.plan import make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.study.schema import Study
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDIES = Path(__file__).parents[2] / "studies"
PLAIN = """\
study: example
factors:
  platform: {native: {}, docker: {platform.runtime: docker}, again: {}}
  threads: {"10": {load.threads: 10}, "50": {load.threads: 50}, "90": {load.threads: 90}}
baseline: {platform: native, threads: "10"}
exclude: [{platform: again, threads: ["10", "50"]}]
"""
ASKED = (
    PLAIN
    + """\
analysis: {compare: [platform], by: [threads]}
"""
)


def names(study: Study) -> list[str]:
    return [one.name for one in expand(study)]


def test_only_these_levels_of_a_factor_are_measured(read: ReadStudy) -> None:
    study = read(PLAIN, only=["threads=10,50"])
    assert names(study) == ["native.10", "native.50", "docker.10", "docker.50"]
    assert study.only == {"threads": ["10", "50"]}
    assert len(make_plan(study).trials) == 4 * 12


def test_several_factors_narrow_and_one_factor_twice_adds_up(read: ReadStudy) -> None:
    both = read(PLAIN, only=["threads=50", "platform=native, docker", "threads=10"])
    assert names(both) == ["native.10", "native.50", "docker.10", "docker.50"]


def test_a_selection_may_stand_in_the_study(read: ReadStudy) -> None:
    text = PLAIN + "only: {threads: [10, 50], platform: [native, docker]}\n"
    assert len(names(read(text))) == 4
    assert len(names(read(text, only=["threads=10,90"]))) == 4  # in the place of the study's own


def test_the_baseline_of_a_factor_that_is_kept_apart_may_go(read: ReadStudy) -> None:
    study = read(ASKED, only=["threads=50"])
    assert names(study) == ["native.50", "docker.50"]
    assert baseline_condition(study) == "native.50"


def test_the_baseline_of_a_factor_with_one_level_left_may_go(read: ReadStudy) -> None:
    study = read(PLAIN, only=["threads=90"])
    assert names(study) == ["native.90", "docker.90", "again.90"]
    assert baseline_condition(study) == "native.90"


def test_one_condition_can_be_measured_alone(read: ReadStudy) -> None:
    assert names(read(PLAIN, only=["platform=native", "threads=10"])) == ["native.10"]


def test_a_runs_own_copy_has_the_same_conditions(read: ReadStudy) -> None:
    study = read(ASKED, only=["threads=50"])
    again = read(study_text(study))
    assert again == study
    assert names(again) == names(study)
    assert study_digest(study) != study_digest(read(ASKED))


@pytest.mark.parametrize(
    ("only", "what", "remedy"),
    [
        (["thread=10"], "only.thread: unknown factor", "threads?"),
        (["threads=11"], "only.threads: unknown level '11'", "name one of those"),
        (["threads"], "not a selection", "--only threads=10,50"),
        (["threads=10,"], "not a selection", "--only threads=10,50"),
        (["=10"], "not a selection", "--only threads=10,50"),
        (["platform=again", "threads=10"], "no condition is left", "without --only"),
        (["threads=50,90"], "threads without its baseline 10", "--only threads=10,50,90"),
        (["platform=docker"], "platform without its baseline native", "platform=native,docker"),
    ],
)
def test_a_selection_that_leaves_nothing_to_compare_is_refused(
    refuse: RefuseStudy, only: list[str], what: str, remedy: str
) -> None:
    text = ASKED if only == ["platform=docker"] else PLAIN
    error = refuse(text, only=only)
    assert error.where == f"--only {only[0]}"
    assert what in error.what
    assert remedy in error.remedy


def test_a_platform_alone_is_no_comparison(refuse: RefuseStudy) -> None:
    assert "without its baseline" in refuse(PLAIN, only=["platform=docker", "threads=50"]).what


def test_another_instance_brings_its_own_threads_as_baseline() -> None:
    """In Grambow's study the baseline is on the other instance, with threads of that one."""
    study = load_study(STUDIES / "grambow-2018.yaml", only=["instance=m3-large", "threads=75,150"])
    assert study.baseline == {
        "client": "native",
        "server": "native",
        "threads": "75",
        "compaction": "stcs",
        "key-cache": "auto",
        "instance": "m3-large",
    }
    assert len(expand(study)) == 4 * 2 * 3 * 2


SHARES = """\
study: example
load: {threads: max, search: {of: baseline}}
factors:
  platform: {native: {}, docker: {platform.runtime: docker}}
  workload: {write: {load.workload: stress-write}, read: {load.workload: stress-read}}
  load: {full: {load.threads: max}, half: {load.threads: 50% of max}}
baseline: {platform: native, workload: write, load: full}
analysis: {compare: platform}
"""


def test_another_maximum_than_the_studys_is_never_searched(refuse: RefuseStudy) -> None:
    """Loads are shares of what the baseline writes; reads have another maximum."""
    error = refuse(SHARES, only=["workload=read"])
    assert error.where == "--only workload=read"
    assert "without workload write, loads would be shares of another maximum" in error.what
    assert "native.write.full" in error.why
    assert "write --only workload=write,read" in error.remedy


def test_the_baselines_own_maximum_serves_every_share_of_it(read: ReadStudy) -> None:
    assert baseline_condition(read(SHARES, only=["load=half"])) == "native.write.half"
    both = read(SHARES, only=["workload=write,read", "load=half"])  # as the refusal advises
    assert baseline_condition(both) == "native.write.half"


def test_a_number_as_load_needs_no_maximum(read: ReadStudy) -> None:
    numbers = ["factors.load={full: {load.threads: 9}, half: {load.threads: 4}}", "load.threads=9"]
    assert baseline_condition(read(SHARES, numbers, only=["workload=read"])) == "native.read.full"
    name = STUDIES / "bth-docker-2016.yaml"
    study = load_study(name, scale="printed", only=["workload=read"])
    assert study.baseline["workload"] == "read"


def test_an_excluded_baseline_is_not_advised(refuse: RefuseStudy, read: ReadStudy) -> None:
    text = """\
study: example
factors:
  platform: {native: {}, docker: {platform.runtime: docker}, again: {platform.runtime: docker}}
  threads: {"10": {load.threads: 10}, "50": {load.threads: 50}}
baseline: {platform: native, threads: "10"}
exclude: [{platform: native, threads: "50"}]
"""
    error = refuse(text, only=["threads=50"])
    assert "platform without its baseline native" in error.what
    assert "--set baseline.platform=docker" in error.remedy
    study = read(text, ["baseline.platform=docker"], only=["threads=50"])
    assert names(study) == ["docker.50", "again.50"]
    assert baseline_condition(study) == "docker.50"


def test_what_is_advised_for_part_of_shirinbabs_study_works() -> None:
    """Loads of reads other than 60k were measured in containers and machines alone."""
    path, only = STUDIES / "shirinbab-2020.yaml", ["workload=read", "load=80k"]
    with pytest.raises(StudyError) as caught:
        load_study(path, only=only)
    assert "--set baseline.platform=docker" in caught.value.remedy
    study = load_study(path, ["baseline.platform=docker"], only=only)
    assert baseline_condition(study) == "docker.rf3.1.read.80k"
