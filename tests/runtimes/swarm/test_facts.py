"""Facts of a Swarm, and the errors if there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.facts import constraints, kernel_has_ip_vs, read_facts
from tests.runtimes.swarm.scripted_swarm import ScriptedSwarm, node


def test_nodes_are_known_by_name_address_and_what_they_have() -> None:
    facts = read_facts(ScriptedSwarm())
    assert [one.name for one in facts.usable] == ["swarm-1", "swarm-2", "swarm-3"]
    first = facts.nodes[0]
    assert (first.address, first.role, first.cpus, first.memory) == (
        "10.0.0.11",
        "manager",
        2,
        2**32,
    )
    assert facts.ip_vs is None  # nothing is known about other machines' kernels
    assert "labels" not in facts.as_dict()["nodes"][0]


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"state": "down"}, "it is down"),
        ({"availability": "drain"}, "its availability is drain"),
    ],
)
def test_a_node_that_can_take_no_task_is_not_used(more: dict[str, str], fault: str) -> None:
    facts = read_facts(ScriptedSwarm([node("a", "10.0.0.1"), node("b", "10.0.0.2", **more)]))
    assert [one.name for one in facts.usable] == ["a"]
    assert facts.nodes[1].fault == fault


@pytest.mark.parametrize(
    ("swarm", "what", "remedy"),
    [
        ({"LocalNodeState": "inactive"}, "in no Swarm", "docker swarm init"),
        (
            {"LocalNodeState": "active", "ControlAvailable": False,
             "RemoteManagers": [{"Addr": "10.0.0.9:2377"}]},
            "is a worker",
            "name a manager's engine",
        ),
        ({"LocalNodeState": "locked"}, "in no Swarm", "docker swarm init"),
    ],
)  # fmt: skip
def test_an_engine_that_manages_no_swarm_is_refused_with_the_next_command(
    swarm: dict[str, object], what: str, remedy: str
) -> None:
    with pytest.raises(RuntimeUnavailableError, match=what) as caught:
        read_facts(ScriptedSwarm(swarm=swarm))
    assert remedy in caught.value.remedy


def test_a_worker_tells_where_its_managers_are() -> None:
    swarm = {"LocalNodeState": "active", "RemoteManagers": [{"Addr": "10.0.0.9:2377"}]}
    with pytest.raises(RuntimeUnavailableError) as caught:
        read_facts(ScriptedSwarm(swarm=swarm))
    assert "10.0.0.9:2377" in caught.value.why


def test_a_selector_is_a_constraint_of_node_labels_unless_it_says_otherwise() -> None:
    selector = {"disk": "nvme", "node.role": "worker", "engine.labels.rack": "a"}
    assert constraints(selector) == [
        "node.labels.disk==nvme",
        "node.role==worker",
        "engine.labels.rack==a",
    ]


def test_a_kernel_that_shows_ip_vs_has_it(tmp_path: Path) -> None:
    shown = tmp_path / "ip_vs"
    shown.touch()
    assert kernel_has_ip_vs(shown)


def test_a_kernel_that_neither_shows_nor_can_load_it_has_it_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no modprobe there
    assert not kernel_has_ip_vs(tmp_path / "ip_vs")
    (tmp_path / "modprobe").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "modprobe").chmod(0o755)
    assert kernel_has_ip_vs(tmp_path / "ip_vs")
