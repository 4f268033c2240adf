"""Host groups that a run compares: their machines are described before effects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.report.host_groups import groups_table
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis, Check

METAL = {"hypervisor": "none", "CPU model": "Xeon", "CPUs": "8", "disk": "SSD of 400 GiB"}
GUEST = METAL | {"hypervisor": "VMware, Inc.", "disk": "Virtual disk of 40 GiB"}


def on(group: str, facts: dict[str, str], **platform: str) -> Truth:
    named = {"hosts": group} if group else {}
    return Truth(patch={"platform": {"machines": "ssh", **named, **platform}}, parity=facts)


def run(tmp_path: Path, **levels: Truth) -> Path:
    return write_run(
        tmp_path / "r", effects=levels, deployments=2, blocks=2, measure_s=2, seed=3
    )  # fmt: skip


def groups_check(analysis: Analysis) -> Check:
    (found,) = (one for one in analysis.checks if one.name == "host groups")
    return found


def test_what_differs_between_groups_comes_first_and_is_of_the_hosts_alone(tmp_path: Path) -> None:
    docker = {"runtime": "docker", "storage": "layer"}
    analysis = analyse(
        run(
            tmp_path,
            metal=on("metal", METAL),
            vmware=on("vmware", GUEST),
            docker_in_vmware=on("vmware", GUEST | {"own control group": "yes"}, **docker),
        )
    )
    told = {one.fact: (one.differs, one.values) for one in analysis.host_groups}
    assert list(told)[:2] == ["hypervisor", "disk"]
    assert told["hypervisor"] == (True, {"metal": "none", "vmware": "VMware, Inc."})
    assert told["CPUs"] == (False, {"metal": "8", "vmware": "8"})
    assert "file system" not in told
    expected = {one.fact: one.expected for one in analysis.parity}
    assert expected["hypervisor"]
    assert expected["disk"]
    check = groups_check(analysis)
    assert (check.status, check.summary) == ("ok", "groups of hosts differ in hypervisor and disk")
    assert "hypervisor: none (metal); VMware, Inc. (vmware)" in check.details


def test_groups_that_differ_in_size_or_processor_are_a_warning(tmp_path: Path) -> None:
    small = on("vmware", GUEST | {"CPUs": "4", "memory": "8.0 GiB"})
    check = groups_check(analyse(run(tmp_path, metal=on("metal", METAL), vmware=small)))
    assert check.status == "warning"
    assert "also differ in CPUs and memory" in check.summary


def test_hosts_of_one_group_that_differ_are_told_both(tmp_path: Path) -> None:
    root = run(tmp_path, metal=on("metal", METAL), vmware=on("vmware", GUEST))
    manifest = root / "trials" / "D2-B01-vmware" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("Xeon", "Opteron"))
    (model,) = (one for one in analyse(root).host_groups if one.fact == "CPU model")
    assert model.values == {"metal": "Xeon", "vmware": "Opteron and Xeon"}


def test_two_groups_on_one_machine_are_a_warning_by_its_kernel(tmp_path: Path) -> None:
    root = run(tmp_path, metal=on("metal", METAL), vmware=on("vmware", GUEST))
    for path in (root / "trials").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        for unit in manifest["units"]:
            unit["machine"] = "m1" if manifest["condition"] == "metal" else "v1"
        path.write_text(json.dumps(manifest))
    hosts = {name: {"boot": "one"} for name in ("m1", "v1")}
    (root / "environment.json").write_text(json.dumps({"hosts": hosts}))
    analysis = analyse(root)
    check = groups_check(analysis)
    assert check.status == "warning"
    assert "m1 of metal and v1 of vmware are one machine" in check.details
    table = groups_table(analysis)
    assert table is not None
    assert table.notes == [f"G{check.summary[1:]}."]


def test_hosts_without_a_named_group_are_called_nodes(tmp_path: Path) -> None:
    analysis = analyse(run(tmp_path, first=on("", METAL), second=on("vmware", GUEST)))
    assert list(analysis.host_groups[0].values) == ["nodes", "vmware"]


@pytest.mark.parametrize("second", [Truth(), on("metal", METAL)])
def test_where_no_two_groups_are_compared_nothing_is_said(tmp_path: Path, second: Truth) -> None:
    analysis = analyse(run(tmp_path, metal=on("metal", METAL), second=second))
    assert analysis.host_groups == []
    assert groups_table(analysis) is None
    assert not any(one.name == "host groups" for one in analysis.checks)
    assert 'id="host-groups"' not in render_html(analysis)


def test_the_report_tells_it_before_the_answer(tmp_path: Path) -> None:
    analysis = analyse(run(tmp_path, metal=on("metal", METAL), vmware=on("vmware", GUEST)))
    page = render_html(analysis)
    assert 0 < page.index('id="host-groups"') < page.index('id="answer"')
    text = render_markdown(analysis)
    row = text.index("| hypervisor | none | VMware, Inc. |")
    assert row < text.index("## The answer")
