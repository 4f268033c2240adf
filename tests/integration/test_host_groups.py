"""Real studies that compare two groups of hosts: each group's nodes on its own hosts, slices over
both, what differs between them, a group that is lost, and a run that goes on after both were.

The hosts are network namespaces with an sshd each (`ssh_hosts`). Those of the group `guests` see a
hypervisor and another processor, as a virtual machine might. Skipped where we are not root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration import ssh_hosts

from .conftest import QUICK, Bench
from .test_studies_on_hosts import left

pytestmark = pytest.mark.engine

STUDY = """\
study: groups
question: What do the guests cost?
database: {{heap: 256MiB, {quick}}}
platform: {{machines: ssh}}
client: {{machines: ssh}}
load: {{records: 2000, threads: 8, warmup: 300ms, measure: {measure}}}
factors:
  hosts:
    metal: {{platform.hosts: metal}}
    guests: {{platform.hosts: guests}}
baseline: {{hosts: metal}}
design: {{slice: {slice}, deployments: 1, blocks: {blocks}, reset: keep, fresh: {fresh},
         warm: {{at_least: 500ms, at_most: 500ms, window: 125ms}}}}
"""
GROUPS = {"metal": ["m1"], "guests": ["v1"], "clients": ["load1"]}


def cpuinfo(model: str, *, hypervisor: bool) -> dict[str, str]:
    """This machine's CPUs under another name, with or without a hypervisor below them."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8").replace(" hypervisor", "")
    text = re.sub(r"(?m)^(model name\s*:).*", rf"\1 {model}", text)
    if hypervisor:
        text = re.sub(r"(?m)^(flags\s*:.*)", r"\1 hypervisor", text)
    return {"/proc/cpuinfo": text}


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    sees = {
        "m1": cpuinfo("Metal CPU", hypervisor=False),
        "v1": cpuinfo("Guest CPU", hypervisor=True),
    }
    with ssh_hosts.needed_by("test_host_groups.py", "m1", "v1", "load1", sees=sees) as made:
        yield made


@pytest.fixture
def named(hosts: ssh_hosts.SshHosts) -> Iterator[ssh_hosts.SshHosts]:
    with hosts.named(**GROUPS):
        yield hosts


def write(bench: Bench, **changed: Any) -> Path:
    path = bench.root / "groups.yaml"
    words: dict[str, Any] = {"slice": "off", "measure": "1s", "blocks": 1}
    words |= {"fresh": "deployment"} | changed
    path.write_text(STUDY.format(quick=QUICK, **words), encoding="utf-8")
    return path


def nodes(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """Group and host of each database node."""
    units = [one for one in manifest["units"] if one["role"] == "database"]
    return [(one["hosts"], one["machine"]) for one in units]


def test_two_groups_are_driven_in_slices_and_what_differs_is_told_first(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    study = write(bench, slice="100ms", blocks=2)
    plan = bench.tare("plan", study)
    assert plan.returncode == 0, plan.stdout + plan.stderr
    assert "metal: a node of each cluster on m1" in plan.stdout
    assert "guests: a node of each cluster on v1" in plan.stdout
    bench.measured("run", study, timeout=350)
    found = bench.manifests("groups")
    assert len(found) == 4
    for name, manifest in found.items():
        assert manifest["status"] == "done", manifest["reason"]
        group, host = {"metal": ("metal", "m1"), "guests": ("guests", "v1")}[manifest["condition"]]
        assert nodes(manifest) == [(group, host)]
        assert (manifest["path"]["group"], set(manifest["path"]["hosts"])) == (
            group,
            {host, "load1"},
        )
        assert (manifest["slices"]["count"], manifest["slices"]["frozen"]) == (10, True)
        text = (bench.root / "runs/groups/trials" / name / "slices.jsonl").read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        assert all(len(row["units_cpu_s"]) == 2 for row in rows), "the trial's own units alone"
        (node,) = [one["name"] for one in manifest["units"] if one["role"] == "database"]
        assert all(row["units_cpu_s"][node] > 0 for row in rows)
        assert all(one["errors"] == 0 for one in manifest["clients"])
        assert sum(row["ops"] for row in rows) == sum(one["ok"] for one in manifest["clients"])
        assert 0 < manifest["server_cpu_s"] < manifest["machine_cpu_s"]
    told = json.loads((bench.root / "runs/groups/analysis.json").read_text("utf-8"))
    facts = {one["fact"]: one["values"] for one in told["host_groups"] if one["differs"]}
    assert facts["CPU model"] == {"metal": "Metal CPU", "guests": "Guest CPU"}
    assert facts["hypervisor"]["metal"] == "none"
    assert facts["hypervisor"]["guests"] != "none"
    (check,) = [one for one in told["checks"] if one["name"] == "host groups"]
    assert check["status"] == "warning"
    assert any("are one machine" in one for one in check["details"]), "namespaces share a kernel"
    page = (bench.root / "runs/groups/report.html").read_text("utf-8")
    assert page.index("Guest CPU") < page.index('id="answer"')
    assert left(bench) == []


@pytest.mark.long
def test_a_group_that_vanishes_costs_its_own_trials_and_no_other_s(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    study = write(bench, slice="100ms", measure="3s", blocks=2)
    process = bench.start("run", study)
    bench.await_event(process, "trial done", run="groups")
    named.hosts["v1"].vanish()
    said = process.communicate(timeout=350)[0]
    assert process.returncode in (0, 3), said
    found = bench.manifests("groups").values()
    done = {(one["condition"], one["block"]) for one in found if one["status"] == "done"}
    assert {("metal", 1), ("metal", 2), ("guests", 1)} == done, said
    failed = [one for one in bench.journal("groups") if one["event"] == "trial failed"]
    assert any("v1" in one["why"] for one in failed), said
    named.boot("v1")
    bench.cleaned()
    assert left(bench) == []


@pytest.mark.long
def test_what_a_killed_run_left_on_both_groups_is_cleaned_and_it_goes_on(
    bench: Bench, named: ssh_hosts.SshHosts
) -> None:
    study = write(bench, measure="2s", blocks=2)
    process = bench.start("run", study)
    bench.await_event(process, "trial done", run="groups")
    process.kill()
    process.wait()
    named.hosts["v1"].kill()
    named.boot("v1")
    words = " ".join(left(bench))
    assert "(m1)" in words
    assert "(v1)" in words
    bench.cleaned()
    assert left(bench) == []
    bench.measured("run", study, timeout=350)
    assert {one["status"] for one in bench.manifests("groups").values()} == {"done"}
    assert left(bench) == []
