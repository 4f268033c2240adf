"""Conditions that cannot run are planned and reported; the rest runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.errors import StudyError
from tare.lab.directory import study_digest
from tare.runtimes.availability import obstacle
from tare.study.left_out import in_words, reasons
from tare.study.plan import Plan, make_plan
from tare.study.refusals import refusals, refuse_plan
from tests.study.test_refusals import HERE, MACHINE

if TYPE_CHECKING:
    from tare.study.refusals import Refusal
    from tests.study.conftest import ReadStudy

BEFORE = Path(__file__).parent / "data" / "plan-without-left-out.json"
"""Written by the version before anything could be left out."""
TEXT = """\
study: example
load: {records: 1000}
factors:
  platform:
    native: {}
    docker: {platform: {runtime: docker, network: bridge}}
    k8s: {platform: {runtime: kubernetes, storage: pvc}}
  machines:
    physical: {}
    vmware:
      platform.machines: vmware
baseline: {platform: native, machines: physical}
design: {deployments: 1, blocks: 2}
"""


def planned(read: ReadStudy, text: str = TEXT, *overrides: str) -> Plan:
    return make_plan(read(text, overrides), obstacle)


def refused(plan: Plan) -> list[Refusal]:
    return refusals(plan, MACHINE, HERE, ["5.0.9"])


def names(plan: Plan) -> list[str]:
    return [one.condition.name for one in plan.left_out]


def test_the_rest_runs(read: ReadStudy) -> None:
    plan = planned(read)
    assert [one.name for one in plan.conditions] == ["native.physical", "docker.physical"]
    assert {trial.condition for trial in plan.trials} == {"native.physical", "docker.physical"}
    assert all(len(block.order) == 2 for turn in plan.rounds for block in turn.blocks)
    assert names(plan) == ["native.vmware", "docker.vmware", "k8s.physical", "k8s.vmware"]
    assert refused(plan) == []


def test_each_says_why_and_what_would_mend_it(read: ReadStudy) -> None:
    left = planned(read).left_out
    assert {one.condition.name: one.why for one in left} == {
        "native.vmware": "this version makes no VMware machines",
        "docker.vmware": "this version makes no VMware machines",
        "k8s.physical": "no Kubernetes cluster is named here",
        "k8s.vmware": "this version makes no VMware machines; no Kubernetes cluster is named here",
    }
    assert all("`tare " in one.remedy for one in left)
    assert reasons(left) == [
        "this version makes no VMware machines", "no Kubernetes cluster is named here",
    ]  # fmt: skip


def levels(*names: str) -> dict[str, dict[str, str]]:
    """Conditions named by their levels of two factors."""
    return {
        name: dict(zip(("platform", "threads"), name.split("."), strict=True)) for name in names
    }


@pytest.mark.parametrize(
    ("gone", "rest", "words"),
    [
        (["vmware.1"], ["native.1"], "vmware.1"),
        (["vmware.1", "vmware.2"], ["native.1", "native.2"], "platform vmware (2 conditions)"),
        (["vmware.1", "k8s.1"], ["native.1"], "platform vmware, k8s (2 conditions)"),
        (["vmware.1", "native.1"], ["vmware.2", "native.2"], "threads 1 (2 conditions)"),
        (["vmware.1", "native.2"], ["vmware.2", "native.1"], "vmware.1, native.2"),
        (["vmware.1", "vmware.2"], [], "every condition"),
        (["a.1", "b.2", "c.1"], ["a.2", "b.1", "c.2"], "a.1, b.2 and 1 more"),
    ],
)
def test_a_level_says_more_than_a_list_of_its_conditions(
    gone: list[str], rest: list[str], words: str
) -> None:
    assert in_words(levels(*gone), levels(*rest).values(), 2) == words


def test_the_estimate_is_of_what_runs(read: ReadStudy) -> None:
    alone = make_plan(read(TEXT, ("exclude=[{platform: k8s}, {machines: vmware}]",)))
    assert planned(read).estimate == alone.estimate


def test_without_anything_to_hinder_every_condition_is_in_the_plan(read: ReadStudy) -> None:
    plan = make_plan(read(TEXT))
    assert (len(plan.conditions), plan.left_out) == (6, [])


def test_the_plan_file_keeps_them(read: ReadStudy) -> None:
    plan = planned(read)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_comparisons_with_them_are_not_made(read: ReadStudy) -> None:
    pairs = {(base.name, one.name) for base, one in planned(read).not_compared}
    assert ("native.physical", "k8s.physical") in pairs
    assert ("docker.physical", "docker.vmware") in pairs
    assert ("native.physical", "docker.physical") not in pairs


def test_where_nothing_can_run_the_study_is_refused(read: ReadStudy) -> None:
    plan = planned(read, TEXT, "platform.machines=vmware", "exclude=[{machines: vmware}]")
    assert (plan.conditions, plan.trials) == ([], [])
    with pytest.raises(StudyError, match="nothing can be run") as caught:
        refuse_plan(refused(plan))
    assert caught.value.where == "--set platform.machines=vmware"
    assert "this version makes no VMware machines" in str(caught.value)
    assert "tare compare" in caught.value.remedy
    assert caught.value.exit_code == 2


def test_a_baseline_that_cannot_run_leaves_nothing_to_compare_with(read: ReadStudy) -> None:
    overrides = ("baseline={platform: k8s, machines: physical}", "exclude=[{machines: vmware}]")
    (one,) = refused(planned(read, TEXT, *overrides))
    assert "nothing is left to compare with" in one.reason
    assert (one.field, one.where) == ("platform.runtime", "study.yaml:7")
    assert one.remedy == "name another baseline"


def test_other_comparisons_may_remain_without_the_baseline(read: ReadStudy) -> None:
    """Docker against native is left on the physical machine, where threads have no baseline."""
    plan = planned(read, TEXT, "baseline={platform: native, machines: vmware}")
    assert "native.vmware" in names(plan)
    assert refused(plan) == []


def test_treatments_that_cannot_run_leave_the_baseline(read: ReadStudy) -> None:
    """Its own values stand beside what others printed."""
    plan = planned(read, TEXT, "exclude=[{platform: [docker, k8s]}]")
    assert [one.name for one in plan.conditions] == ["native.physical"]
    assert refused(plan) == []


def test_a_share_of_a_maximum_that_cannot_be_found_is_refused(read: ReadStudy) -> None:
    overrides = ("baseline={platform: native, machines: vmware}", "load.threads=66% of max")
    assert refused(planned(read, TEXT, *overrides)) == []
    (one,) = refused(planned(read, TEXT, *overrides, "load.search.of=baseline"))
    assert one.field == "load.search.of"
    assert "the maximum of native.vmware, which cannot be run" in one.reason


def test_a_plan_of_an_older_version_is_read() -> None:
    plan = Plan.model_validate_json(BEFORE.read_text(encoding="utf-8"))
    assert plan.left_out == []
    assert [one.name for one in plan.conditions] == ["native", "docker-published"]
    assert [trial.name for trial in plan.trials] == [
        "D1-B01-docker-published", "D1-B01-native", "D1-B02-native", "D1-B02-docker-published",
    ]  # fmt: skip


def test_what_older_versions_knew_is_written_as_they_wrote_it() -> None:
    """Setups are in every record, and compared with those of other versions."""
    old = Plan.model_validate_json(BEFORE.read_text(encoding="utf-8"))
    for one in make_plan(old.study, obstacle).model_dump(mode="json")["conditions"]:
        assert set(one["setup"]["platform"]) == {
            "machines", "runtime", "network", "storage", "limits",
        }  # fmt: skip
        assert not {"write_concern", "read_preference"} & set(one["setup"]["database"])


def test_what_is_said_is_written(read: ReadStudy) -> None:
    plan = make_plan(read(TEXT, ("platform.address=host-name",)))
    assert plan.model_dump(mode="json")["study"]["platform"]["address"] == "host-name"
    assert study_digest(plan.study) != study_digest(make_plan(read(TEXT)).study)
