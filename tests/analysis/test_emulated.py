"""Virtual machines whose processor was QEMU's emulation: every word of them says so, and nobody
takes them for KVM's cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.errors import KnowledgeError
from tare.knowledge.from_run import About, findings_of
from tare.report.host_groups import groups_table
from tare.report.labels import sides
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.words import answers
from tare.study.read import load_study
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis

HERE = {"hypervisor": "none", "CPU model": "EPYC", "CPUs": "2"}
GUEST = {"hypervisor": "QEMU", "CPU model": "Nehalem", "CPUs": "1"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = Truth(patch={"platform": {"machines": "kvm"}}, parity=GUEST)
    levels = {"native": Truth(parity=HERE), "vm": inside}
    return write_run(
        tmp_path / "r", effects=levels, deployments=3, blocks=2, measure_s=2, seed=3
    )  # fmt: skip


def analysed(root: Path, accelerator: str) -> Analysis:
    for path in (root / "trials").glob("*-vm/manifest.json"):
        manifest = json.loads(path.read_text())
        manifest.setdefault("path", {})["hosts"] = {
            "kvm-1": {"domain": {"accelerator": accelerator}}
        }
        path.write_text(json.dumps(manifest))
    return analyse(root)


def test_in_kvm_nothing_is_said_of_emulation(root: Path) -> None:
    analysis = analysed(root, "kvm")
    assert analysis.emulated == []
    assert analysis.valid
    assert "emulated" not in render_html(analysis)
    assert findings_of(analysis, load_study(root / "study.yaml"), About()).findings


def test_an_emulated_run_is_not_valid_and_says_what_it_was(root: Path) -> None:
    analysis = analysed(root, "tcg")
    assert analysis.emulated == ["vm"]
    assert not analysis.valid
    (check,) = (one for one in analysis.checks if one.name == "virtual machines")
    assert check.status == "invalid"
    assert check.summary.startswith("emulated, not in KVM: vm")


def test_every_verdict_that_mentions_it_is_marked(root: Path) -> None:
    analysis = analysed(root, "tcg")
    for effect in analysis.effects:
        assert sides(analysis, effect) == ("vm (emulated)", "native")
    for answer in answers(analysis):
        assert answer.sentence.startswith("vm (emulated): ")
    text = render_markdown(analysis)
    assert "vm (emulated)" in text
    assert "vm (emulated)" in render_html(analysis)


def test_no_finding_is_made_of_it(root: Path) -> None:
    analysis = analysed(root, "tcg")
    with pytest.raises(KnowledgeError) as told:
        findings_of(analysis, load_study(root / "study.yaml"), About())
    assert told.value.why == "vm: emulated, which is not KVM"


def test_what_this_machine_and_the_virtual_ones_are_is_told_side_by_side(root: Path) -> None:
    table = groups_table(analysed(root, "kvm"))
    assert table is not None
    assert table.columns == ["Fact", "this machine", "kvm"]


@pytest.mark.parametrize(
    ("limits", "confounded"),
    [({}, "CPU model and CPUs"), ({"cpuset": "0", "memory": 2**30}, "CPU model")],
)
def test_a_virtual_machine_as_large_as_the_limits_is_not_smaller(
    tmp_path: Path, limits: dict[str, object], confounded: str
) -> None:
    bounds = {"limits": limits}
    inside = Truth(patch={"platform": {"machines": "kvm"} | bounds}, parity=GUEST)
    levels = {"native": Truth(patch={"platform": bounds}, parity=HERE), "vm": inside}
    root = write_run(tmp_path / "l", effects=levels, deployments=2, blocks=2, measure_s=2, seed=3)
    (check,) = (one for one in analysed(root, "kvm").checks if one.name == "host groups")
    assert check.summary == (
        f"groups of hosts also differ in {confounded}, which an effect may be of"
    )
