"""The host groups that a study compares exist, are large enough, and share no machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tare.machines.inventory.host import Host, Inventory
from tare.machines.inventory.read import read_inventory
from tare.runtimes.availability import obstacle
from tare.runtimes.host_groups import group_faults
from tare.study.comparisons import comparisons
from tare.study.conditions import expand
from tare.study.read import load_study
from tare.study.schema import Setup

PAGE = Path(__file__).parents[2] / "docs" / "machines.md"

MEMBERS = {
    "metal": ["m1", "m2"],
    "vmware": ["v1", "v2"],
    "mixed": ["m2", "v2"],
    "clients": ["load1"],
}


def inventory(**groups: list[str]) -> Inventory:
    """An inventory with these groups of hosts."""
    names = dict.fromkeys(name for own in groups.values() for name in own)
    hosts = (
        Host(name, f"192.0.2.{number}", groups=frozenset(g for g in groups if name in groups[g]))
        for number, name in enumerate(names, start=1)
    )
    return Inventory(Path("hosts.ini"), tuple(hosts))


def on(group: str, **parts: Any) -> Setup:
    platform = {"machines": "ssh"} | ({"hosts": group} if group else {})
    return Setup.model_validate({"platform": platform, **parts})


def faults(there: Inventory, *setups: Setup) -> list[tuple[str, str, str]]:
    """Field, reason and remedy of every fault, in the study's order."""
    found = [fault for one in setups for fault in group_faults(one, setups, there)]
    return [(".".join(one.field), one.why, one.remedy) for one in found]


def test_groups_of_their_own_hosts_are_compared() -> None:
    there = inventory(**MEMBERS)
    from_hosts = {"client": {"machines": "ssh"}}
    assert faults(there, on("metal", **from_hosts), on("vmware", **from_hosts)) == []
    assert faults(there, on("metal"), on("metal", platform={"machines": "local"})) == []


def test_hosts_that_no_group_is_named_for_are_those_that_the_inventory_has_for_nodes() -> None:
    there = inventory(nodes=["db1"], vmware=["v1"], clients=["load1"])
    assert faults(there, on("", client={"machines": "ssh"}), on("vmware")) == []


def test_an_unknown_group_is_told_with_the_nearest_name() -> None:
    ((field, why, remedy),) = faults(inventory(**MEMBERS), on("vmwre"))
    assert (field, remedy) == ("platform.hosts", "did you mean vmware?")
    assert why == "no host of hosts.ini is in a group vmwre"
    ((_, _, remedy),) = faults(inventory(**MEMBERS), on("ec2"))
    assert remedy == "name one of its groups: clients, metal, mixed, vmware"


def test_a_group_too_small_is_told_with_what_it_has() -> None:
    wanted = on("vmware", database={"nodes": 3, "replication_factor": 3})
    ((field, why, remedy),) = faults(inventory(**MEMBERS), wanted)
    assert field == "platform.hosts"
    assert "3 database nodes" in why
    assert "the group vmware of hosts.ini has 2" in why
    assert remedy == "add hosts to the group vmware, or lower database.nodes"


def test_two_groups_that_share_a_machine_are_told_once() -> None:
    ((field, why, remedy),) = faults(inventory(**MEMBERS), on("metal"), on("mixed"), on("metal"))
    assert field == "platform.hosts"
    assert why.startswith("m2 is in the groups metal and mixed, which the study compares")
    assert remedy == "take each host out of one of the two groups"


def test_a_group_shares_no_machine_with_the_hosts_that_no_group_is_named_for() -> None:
    ((_, why, _),) = faults(inventory(**MEMBERS), on(""), on("vmware"))
    assert why.startswith("v1, v2 are in the groups nodes and vmware")


@pytest.mark.parametrize(
    ("groups", "remedy"),
    [
        ({"metal": ["m1"], "clients": ["m1", "load1"]}, "take them out of one of the groups"),
        ({"nodes": ["db1"], "metal": ["m1"]}, "make a group clients of other hosts in hosts.ini"),
    ],
)
def test_a_load_client_is_on_no_machine_that_is_measured(
    groups: dict[str, list[str]], remedy: str
) -> None:
    there = inventory(**groups)
    ((field, why, helps),) = faults(there, on("metal", client={"machines": "ssh"}))
    assert field == "client.machines"
    assert why.startswith("m1 is for database nodes and for load clients")
    assert helps.startswith(remedy)
    assert helps.endswith("or set client.machines to local")
    assert faults(there, on("metal")) == []


def test_nothing_is_asked_of_an_inventory_where_nodes_run_elsewhere() -> None:
    assert faults(inventory(nodes=["db1"], clients=["db1"]), Setup()) == []


def test_the_matrix_of_the_documentation_runs_on_the_inventory_beside_it(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Groups of hosts as levels")[2]
    for name, language in (("hosts", "ini"), ("study.yaml", "yaml")):
        (block,) = re.findall(rf"```{language}\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
        (tmp_path / name).write_text(block, encoding="utf-8")
    there = read_inventory(tmp_path / "hosts")
    conditions = expand(load_study(tmp_path / "study.yaml"))
    assert {(one.setup.platform.hosts, one.setup.platform.runtime) for one in conditions} == {
        ("metal", "native"), ("metal", "docker"), ("vmware", "native"), ("vmware", "docker")
    }  # fmt: skip
    assert len({one.deployment for one in conditions}) == 4
    assert faults(there, *(one.setup for one in conditions)) == []
    assert [obstacle(one.setup, inventory=there) for one in conditions] == [None] * 4


def test_the_study_of_containers_in_virtual_machines_runs_on_that_inventory(tmp_path: Path) -> None:
    """Shirinbab 2020, section 5."""
    text = PAGE.read_text(encoding="utf-8").partition("## Groups of hosts as levels")[2]
    (block,) = re.findall(r"```ini\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    (tmp_path / "hosts").write_text(block, encoding="utf-8")
    there = read_inventory(tmp_path / "hosts")
    study = load_study(PAGE.parents[1] / "studies" / "shirinbab-2020-guests.yaml")
    conditions = expand(study)
    guests = {(one.setup.platform.hosts, one.setup.platform.runtime) for one in conditions}
    assert guests == {(group, run) for group in ("metal", "vmware") for run in ("native", "docker")}
    assert faults(there, *(one.setup for one in conditions)) == []
    assert [obstacle(one.setup, inventory=there) for one in conditions] == [None] * 4
    pairs = {(old.name, new.name) for old, new in comparisons(study, conditions)}
    assert ("vmware.native", "vmware.docker") in pairs, "what Docker costs inside the guests"
    assert ("metal.docker", "vmware.docker") in pairs, "and what these cost under it"
