"""Which conditions are compared with which."""

from __future__ import annotations

from typing import Any

from tare.analysis.inference.contrasts import Contrasts, make_contrasts
from tare.study.conditions import expand
from tare.study.schema import Study

FACTORS: dict[str, Any] = {
    "platform": {
        "native": {},
        "native-again": {},
        "docker": {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}},
    },
    "threads": {"t16": {"load": {"threads": 16}}, "t64": {"load": {"threads": 64}}},
}
BASE: dict[str, Any] = {
    "study": "contrasts",
    "database": {"kind": "cassandra", "version": "5.0.9"},
    "load": {"workload": "ycsb-a"},
}


def contrasts_of(
    baseline: dict[str, str], exclude: list[dict[str, Any]] | None = None
) -> Contrasts:
    document = BASE | {"factors": FACTORS, "baseline": baseline, "exclude": exclude or []}
    study = Study.model_validate(document)
    return make_contrasts(expand(study), study.baseline)


def pairs(found: Contrasts) -> set[tuple[str, str, str]]:
    return {(c.treatment, c.baseline, c.factor) for c in found.of}


def test_factors_that_the_baseline_does_not_name_are_kept_equal() -> None:
    found = contrasts_of({"platform": "native"})
    assert pairs(found) == {
        ("native-again.t16", "native.t16", "platform"),
        ("native-again.t64", "native.t64", "platform"),
        ("docker.t16", "native.t16", "platform"),
        ("docker.t64", "native.t64", "platform"),
    }
    assert found.baselines == ["native.t16", "native.t64"]
    assert found.stratum("native.t64") == ["native.t64", "native-again.t64", "docker.t64"]


def test_one_factor_at_a_time_where_the_baseline_names_several() -> None:
    found = pairs(contrasts_of({"platform": "native", "threads": "t16"}))
    assert ("docker.t64", "native.t64", "platform") in found
    assert ("docker.t64", "docker.t16", "threads") in found
    assert ("native.t64", "native.t16", "threads") in found
    assert not [p for p in found if p[:2] == ("docker.t64", "native.t16")]


def test_the_full_baseline_serves_where_exclusions_leave_no_neighbour() -> None:
    exclude = [{"platform": "native", "threads": "t64"}, {"platform": "docker", "threads": "t16"}]
    found = contrasts_of({"platform": "native", "threads": "t16"}, exclude)
    assert ("docker.t64", "native.t16", "") in pairs(found)
    assert found.lonely == []


def test_a_condition_without_baseline_is_lonely() -> None:
    found = contrasts_of({"platform": "native"}, [{"platform": "native", "threads": "t64"}])
    assert found.lonely == ["native-again.t64", "docker.t64"]


def test_repeated_conditions_are_twins_and_their_contrast_is_aa() -> None:
    found = contrasts_of({"platform": "native"})
    assert found.twins == [("native.t16", "native-again.t16"), ("native.t64", "native-again.t64")]
    assert [c.treatment for c in found.of if c.aa] == ["native-again.t16", "native-again.t64"]
