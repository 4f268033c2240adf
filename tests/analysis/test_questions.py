"""Rows, averages and repetitions that an analysis section makes of the conditions."""

from __future__ import annotations

from typing import Any

from tare.analysis.inference.contrasts import Contrast, make_contrasts, without_undescribed_twins
from tare.study.conditions import expand
from tests.analysis.repetitions import conditions_of, study_of

FACTORS = {
    "client": ["native", "docker"],
    "server": ["native", "docker"],
    "threads": ["t10", "t25"],
    "cache": ["on", "off"],
}


def contrasts(analysis: dict[str, Any], **more: Any) -> list[Contrast]:
    study = study_of(FACTORS, analysis, **more)
    return make_contrasts(conditions_of(study), study.baseline, study.analysis).of


def test_combinations_are_compared_with_the_baselines_combination() -> None:
    found = contrasts({"compare": ["client", "server"], "over": ["threads", "cache"]})
    assert [(c.treatment, c.baseline, c.factor) for c in found] == [
        ("native.docker", "native.native", "server"),
        ("docker.native", "native.native", "client"),
        ("docker.docker", "native.native", ""),
    ]
    assert all(len(c.cells) == 4 for c in found)
    assert len({c.family for c in found}) == 1
    assert ("native.native.t10.on", "docker.docker.t10.on") in found[2].cells


def test_by_gives_a_row_per_level_and_then_their_average() -> None:
    found = contrasts({"compare": ["server"], "by": ["threads"], "over": ["client", "cache"]})
    assert [(c.treatment, c.over) for c in found] == [
        ("docker.t10", ("client", "cache")),
        ("docker.t25", ("client", "cache")),
        ("docker", ("client", "cache", "threads")),
    ]
    assert [len(row) for row in found[2].rows] == [4, 4]
    assert found[0].family != found[2].family


def test_averages_go_up_from_the_last_of_by() -> None:
    found = contrasts({"compare": ["server"], "by": ["client", "threads"], "over": ["cache"]})
    assert [c.over for c in found if c.levels == {"server": "docker", "client": "native"}] == [
        ("cache", "threads")
    ]
    assert [c.over for c in found if c.levels == {"server": "docker"}] == [
        ("cache", "client", "threads")
    ]


def test_factors_without_a_role_are_kept_equal() -> None:
    found = contrasts({"compare": ["server"], "over": ["cache"]})
    assert {c.treatment for c in found} == {
        "native.docker.t10", "native.docker.t25", "docker.docker.t10", "docker.docker.t25",
    }  # fmt: skip
    assert all(c.levels.keys() == {"client", "server", "threads"} for c in found)


def test_without_compare_each_factor_left_is_a_question_of_its_own() -> None:
    found = contrasts({"over": ["threads", "cache"]})
    assert {(c.treatment, c.baseline, c.question) for c in found} == {
        ("docker.native", "native.native", "client"),
        ("docker.docker", "native.docker", "client"),
        ("native.docker", "native.native", "server"),
        ("docker.docker", "docker.native", "server"),
    }


def test_an_average_of_one_row_is_not_shown_twice() -> None:
    found = contrasts(
        {"compare": ["server"], "by": ["threads"], "over": ["client", "cache"]},
        exclude=[{"threads": "t25"}],
    )
    assert [c.treatment for c in found] == ["docker.t10"]


def test_cells_that_lack_their_baseline_are_lonely() -> None:
    study = study_of(
        FACTORS,
        {"compare": ["server"], "over": ["cache"]},
        exclude=[{"server": "native", "cache": "off"}],
    )
    found = make_contrasts(conditions_of(study), study.baseline, study.analysis)
    assert all(len(c.cells) == 1 for c in found.of)
    assert "native.docker.t10.off" in found.lonely


def test_levels_of_files_that_say_nothing_are_no_repetitions() -> None:
    study = study_of({"platform": ["native", "docker"]})
    assert [c.aa_of for c in expand(study)] == [None, "native"]
    assert [c.aa_of for c in without_undescribed_twins(expand(study), ["platform"])] == [None, None]
    assert [c.aa_of for c in without_undescribed_twins(expand(study), [])] == [None, "native"]
