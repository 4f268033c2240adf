"""A cluster is refused if its nodes would be unreachable; the test programs on hosts are ended.

The hosts are scripted: a table says who answers at which target.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import Host, Inventory
from tare.machines.shell_output import Done
from tare.machines.ssh import HostError
from tare.runtimes.replies import Reply
from tare.runtimes.ssh.connectivity import prove
from tare.runtimes.ssh.hosts import Hosts


class Connected:
    """A connection over which `tare-pod ask` gets the table's answers."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers, self.lives = answers, 1
        self.begun: list[tuple[str, ...]] = []
        self.forwarded: list[tuple[str, int]] = []
        self.cancelled: list[tuple[int, str, int]] = []
        self.last_words = ""

    def run(self, *words: object) -> Done:
        lines = []
        for target in map(str, words[4:]):
            name = self.answers.get(target)
            answer = {"name": name, "peer": "", "local": ""} if name else None
            told = {"target": target, "from": "", "to": "", "answer": answer, "why": "refused"}
            lines.append(json.dumps(told))
        return Done(0, "\n".join(lines).encode(), b"")

    def script(self, text: str, *words: str) -> Done:
        if "stderr.log" in text:
            return Done(0, self.last_words.encode(), b"")
        self.begun.append(words)
        return Done(0, b"", b"")

    def forward_port(self, host: str, port: int) -> int:
        self.forwarded.append((host, port))
        return 40000

    def cancel_port(self, *words: Any) -> None:
        self.cancelled.append(words)


class Scene:
    """Two hosts for nodes and one for clients."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers = {
            f"192.0.2.{n}:{port}": f"db{n}" for n in (1, 2) for port in (9042, 7000)
        } | {"127.0.0.1:40000": ""}
        made = [
            Host("db1", "192.0.2.1", groups=frozenset({"nodes"})),
            Host("db2", "db2.example.com", service="192.0.2.2", groups=frozenset({"nodes"})),
            Host("load1", "192.0.2.9", groups=frozenset({"clients"})),
        ]
        self.ended: list[str] = []
        self.failing: set[str] = set()
        machines: Any = {one.name: self.machine(one) for one in made}
        self.machines = machines
        self.hosts = Hosts(Inventory(Path("hosts"), tuple(made)), "run", machines)
        self.door: str | None = None
        monkeypatch.setattr("tare.runtimes.ssh.connectivity.ask_from_here", self.ask_from_here)

    def machine(self, host: Host) -> Any:
        return SimpleNamespace(
            name=host.name,
            host=host,
            mark="mark",
            programs={"tare-pod": PurePosixPath("/pod")},
            connection=Connected(self.answers),
            forwarded_in=0,
            open_files=1024,
            home=lambda unit: PurePosixPath("/runs", host.name, unit),
            script=lambda name: name,
            settle=lambda: None,
            read_clock=lambda: None,
            as_dict=dict,
            end=lambda home, grace_s: self.end(host.name),
        )

    def end(self, name: str) -> None:
        self.ended.append(name)
        if name in self.failing:
            raise HostError("it is gone", where=name)

    def ask_from_here(self, targets: Sequence[str], within_s: float) -> list[Reply]:
        """The last host with a forward answers at the forwarded port, unless `door` is set."""
        found = []
        for target in targets:
            name = self.answers.get(target, "")
            if target == "127.0.0.1:40000" and self.door is None:
                used = [one for one in self.machines.values() if one.connection.forwarded]
                name = used[-1].name
            found.append(Reply(target, name=name, why="" if name else "closed"))
        return found

    def prove(self, *clients: str) -> dict[str, Any]:
        return prove(self.hosts, 2, 9042, clients or ("ssh-native",))

    def prove_unnamed(self) -> dict[str, Any]:
        self.hosts.use([""], clients=True)
        return self.prove()


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_each_host_answers_where_its_node_will_listen_and_is_asked_by_all_that_will(
    scene: Scene,
) -> None:
    told = scene.prove()
    asked = [(one["from"], one["target"]) for one in told["asked"]]
    assert asked == [
        ("load1", "192.0.2.1:9042"),
        ("load1", "192.0.2.2:9042"),
        ("db1", "192.0.2.2:7000"),
        ("db2", "192.0.2.1:7000"),
    ]
    (words,) = scene.machines["db2"].connection.begun
    assert words[-6:] == ("--name", "db2", "--at", "192.0.2.2", "9042", "7000")
    assert scene.ended == ["db1", "db2"]


def test_a_host_that_cannot_listen_there_says_why(scene: Scene) -> None:
    for port in (9042, 7000):
        del scene.answers[f"192.0.2.2:{port}"]
    reason = "tare-pod: db2.example.com is 127.0.1.1 on this machine, where no other one gets to"
    scene.machines["db2"].connection.last_words = f"first\n{reason}\n"
    with pytest.raises(RuntimeUnavailableError, match="can listen") as caught:
        scene.prove()
    assert caught.value.why == reason
    assert "db2" in caught.value.where
    assert scene.ended == ["db1", "db2"]


def test_a_host_that_nobody_gets_to_is_its_firewall_s(scene: Scene) -> None:
    del scene.answers["192.0.2.1:7000"]
    with pytest.raises(RuntimeUnavailableError, match=r"from db2 to 192\.0\.2\.1") as caught:
        scene.prove()
    assert "firewall" in caught.value.remedy


@pytest.mark.parametrize("clients", ["ssh-native", "native"])
def test_an_address_at_which_another_host_answers_is_refused(scene: Scene, clients: str) -> None:
    scene.answers["192.0.2.2:9042"] = "db1"
    with pytest.raises(RuntimeUnavailableError, match=r"db1 answers .* where db2 should"):
        scene.prove(clients)


def test_a_server_that_grants_forwards_and_refuses_their_use_is_found_out(scene: Scene) -> None:
    scene.door = "closed"
    with pytest.raises(RuntimeUnavailableError, match="forwards no port") as caught:
        scene.prove()
    assert "AllowTcpForwarding" in caught.value.remedy
    assert scene.ended == ["db1", "db2"]


@pytest.mark.parametrize("clear", [True, False])
def test_a_forward_that_was_tried_is_taken_back(scene: Scene, clear: bool) -> None:
    scene.door = None if clear else "closed"
    with contextlib.nullcontext() if clear else pytest.raises(RuntimeUnavailableError):
        scene.prove()
    assert scene.machines["db1"].connection.cancelled == [(40000, "192.0.2.1", 9042)]


def test_forwards_are_tried_once_in_a_connection_s_life(scene: Scene) -> None:
    scene.prove()
    scene.prove()
    first, second = (scene.machines[name].connection for name in ("db1", "db2"))
    assert first.forwarded == [("192.0.2.1", 9042)]
    second.lives += 1
    scene.prove()
    assert second.forwarded == [("192.0.2.2", 9042)] * 2


def test_all_are_told_to_end_though_one_is_gone_which_is_said(scene: Scene) -> None:
    scene.failing = {"db1"}
    with pytest.raises(HostError, match="it is gone"):
        scene.prove()
    assert scene.ended == ["db1", "db2"]


def test_nodes_of_a_group_are_proven_on_its_hosts_alone_and_the_records_name_it(
    scene: Scene,
) -> None:
    scene.hosts.use(["nodes"], clients=True)
    told = prove(scene.hosts, 2, 9042, ["ssh-native"], group="nodes")
    assert told["group"] == "nodes"
    assert set(told["hosts"]) == {"db1", "db2", "load1"}
    assert "group" not in scene.prove_unnamed()
