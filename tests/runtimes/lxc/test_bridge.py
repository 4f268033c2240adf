"""The bridges of dead runs are found by group and label, and others' are left alone."""

from __future__ import annotations

import json
import subprocess
from ipaddress import IPv4Network
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines import neighbours
from tare.runtimes.lxc import bridge
from tare.starter import mark

from .test_groups import DEAD

NETWORK = IPv4Network("198.19.7.0/24")
Called = list[list[str]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """The commands of ip and iptables, none of which is given."""
    return answered(monkeypatch, {})


def answered(monkeypatch: pytest.MonkeyPatch, answers: dict[str, tuple[int, str]]) -> Called:
    commands: Called = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        commands.append(command)
        told = next((own for word, own in answers.items() if word in command), (0, ""))
        return SimpleNamespace(returncode=told[0], stdout=told[1], stderr=told[1])

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(bridge.shutil, "which", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(neighbours, "bridges_filtered", lambda: True)
    return commands


def test_it_has_the_first_address_a_label_and_a_rule_for_its_own_containers(called: Called) -> None:
    made = bridge.make("r", NETWORK)
    assert (made.name, str(made.gateway)) == ("tare-br7", "198.19.7.1")
    assert str(next(made.nodes)) == "198.19.7.100"
    words = [" ".join(one) for one in called]
    assert words[0] == (
        "ip link add name tare-br7 address 02:42:c6:13:07:00 group 7742 type bridge"
    )
    assert f"ip link set dev tare-br7 alias r@{mark()}" in words
    assert words[-1].endswith(
        "-I FORWARD -i tare-br7 -o tare-br7 -m comment --comment tare -j ACCEPT"
    )


def test_one_that_cannot_be_made_whole_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = answered(monkeypatch, {"alias": (2, "RTNETLINK answers: no")})
    with pytest.raises(RuntimeUnavailableError, match="alias") as raised:
        bridge.make("r", NETWORK)
    assert raised.value.why == "RTNETLINK answers: no"
    assert commands[-1] == ["ip", "link", "delete", "dev", "tare-br7"]


def test_those_of_dead_runs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [
        {},
        {"ifname": "tare-br1", "ifalias": f"r@{DEAD}"},
        {"ifname": "tare-br2", "ifalias": "r@of-nobody"},
        {"ifname": "tare-br3"},
        {"ifname": "others"},
    ]
    answered(monkeypatch, {"-json": (0, json.dumps(told))})
    assert bridge.leftovers() == ["tare-br1", "tare-br3"]
