"""Every runtime declares itself, and others can bring theirs."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes import registry
from tare.runtimes.declaration import Declaration
from tests.brought import Point, found

GVISOR = ["gvisor", "gvisor-systrap", "gvisor-kvm", "gvisor-ptrace"]
PODMAN = ["podman", "podman-crun", "podman-runc"]
NAMES = ["native", "docker", *PODMAN, *GVISOR, "kubernetes", "swarm"]

OF_ENGINES = "tare.runtimes.docker_family"
"""what the declarations of engines of this machine have in common"""


class Jail(Declaration):
    name = "jail"


class Cell(Declaration):
    name = "cell"


class Again(Declaration):
    name = "docker"


NO_NAMES = ("", "jail@vmware", "ssh-jail", "ssh", "jail.bridge", "Jail", "a jail", "jail-", "8")
"""Of which a key, a way or a label could not be made, or would be read as something else."""


def named(name: str) -> Declaration:
    found = Jail()
    found.name = name
    return found


def test_tare_s_own_are_found_first_and_then_what_packages_bring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert found(monkeypatch, registry) == NAMES
    assert found(monkeypatch, registry, Point("jail", Jail)) == [*NAMES, "jail"]
    both = Point("two", lambda: (Jail(), Cell()))
    assert found(monkeypatch, registry, both) == [*NAMES, "jail", "cell"], (
        "one module may have several"
    )


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (Again, "there is a runtime docker already"),
        (lambda: importlib.import_module("no_such_jail"), "No module named 'no_such_jail'"),
        (lambda: "jail", "it is no tare.runtimes.declaration.Declaration"),
        (Declaration, "its name is None"),
        *((lambda name=name: named(name), f"its name is {name!r}") for name in NO_NAMES),
    ],
)
def test_what_a_package_brings_and_cannot_be_used_is_told_with_the_package(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[], Any], why: str
) -> None:
    with pytest.raises(RuntimeUnavailableError) as refused:
        found(monkeypatch, registry, Point("jail", load))
    assert refused.value.where == "tare_jail:DECLARED"
    assert why in refused.value.why
    assert "pip uninstall tare-jail" in refused.value.remedy


def test_a_runtime_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(RuntimeUnavailableError, match="no runtime jail") as refused:
        registry.declared("jail")
    assert ", ".join(NAMES) in refused.value.why


@pytest.mark.parametrize("name", registry.names())
def test_what_a_declaration_says_agrees_with_itself(name: str) -> None:
    own = registry.declared(name)
    network, storage = own.proposed
    assert own.name == name
    assert (network in own.networks, storage in own.storages) == (True, True)
    assert own.endpoints[0] == own.plugins[0] == ""
    assert {own.several_on} - {""} <= set(own.networks)
    assert set(own.inside_only) <= set(own.networks)
    assert own.from_outside in own.networks
    assert set(own.made_storages) | set(own.in_engine) <= set(own.storages)
    assert {other for other, _ in own.near} <= set(registry.names()) - {name}
    assert own.orchestrator == bool(own.title)
    assert own.variant_of in {"", *registry.names()} - {name}
    assert own.on_hosts == (type(own).make_on_hosts is not Declaration.make_on_hosts)
    assert type(own).make is not Declaration.make


def test_two_runtimes_say_only_once_how_near_they_are() -> None:
    pairs = [
        frozenset({name, other})
        for name, own in registry.registered().items()
        for other, _ in own.near
    ]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("name", [registry.BARE, registry.CONTAINER])
def test_what_is_made_has_the_name_and_asks_nothing_yet(name: str, tmp_path: Path) -> None:
    assert registry.declared(name).make("run", tmp_path, AddressPool()).name == name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*registry.OWN, OF_ENGINES])
def test_a_declaration_imports_nothing_that_takes_long(name: str) -> None:
    """It is imported by every command that reads a study."""
    tree = ast.parse(Path(str(importlib.import_module(name).__file__)).read_text("utf-8"))
    at_once = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    own = {one for one in at_once if one and one.startswith("tare")}
    light = {"tare.errors", "tare.runtimes.declaration", "tare.runtimes.obstacle", OF_ENGINES}
    assert own <= light
    assert at_once - own <= set(sys.stdlib_module_names)


def test_a_runtime_that_is_not_for_hosts_refuses_them_in_words(tmp_path: Path) -> None:
    hosts: Any = None  # it is refused before any is looked at
    with pytest.raises(RuntimeUnavailableError, match="jail runs no units on hosts"):
        Jail().make_on_hosts(tmp_path, hosts, "")


def test_a_declaration_that_does_not_say_what_runs_its_units_is_refused_in_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(RuntimeUnavailableError, match="jail runs no units") as refused:
        Jail().make("r1", tmp_path, AddressPool(print))
    assert refused.value.why == "Jail declares no `make`"
