"""Databases, kinds of machines and runtimes declare themselves, and packages can bring theirs."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tare.databases import registry as databases
from tare.databases.cassandra.declaration import CassandraDeclaration
from tare.databases.declaration import DatabaseDeclaration
from tare.errors import RuntimeUnavailableError
from tare.machines import registry as machines
from tare.machines.declaration import MachinesDeclaration
from tare.runtimes import registry as runtimes
from tare.runtimes.declaration import Declaration
from tests.brought import Point, found


class Scylla(CassandraDeclaration):
    name = "scylla"


class Cloud(MachinesDeclaration):
    name = "cloud"


class Jail(Declaration):
    name = "jail"


class Cell(Declaration):
    name = "cell"


@dataclass(frozen=True)
class Sort:
    """One sort of what declares itself.

    Attributes:
        own: the names of Tare's own.
        noun: what one of them is called.
        brought: a declaration that a package brings.
        of: the class of all.
        wants: what the class alone lacks.
        no_names: of which a part of other names could not be made, or would be read as another.
    """

    registry: Any
    own: tuple[str, ...]
    noun: str
    brought: type[Any]
    of: type[Any]
    wants: str
    no_names: tuple[str, ...]

    def named(self, name: str) -> Any:
        one = self.brought()
        one.name = name
        return one

    def unusable(self) -> Iterator[tuple[Callable[[], Any], str]]:
        """What a package brings in vain, and what is said of it."""
        for taken in self.own:
            yield lambda taken=taken: self.named(taken), f"there is a {self.noun} {taken} already"
        gone = "no_such_module"
        yield lambda: importlib.import_module(gone), f"No module named '{gone}'"
        yield lambda: "a name", f"it is no {self.of.__module__}.{self.of.__name__}"
        yield self.of, self.wants
        for name in self.no_names:
            yield lambda name=name: self.named(name), f"its name is {name!r}"


GVISOR = ("gvisor", "gvisor-systrap", "gvisor-kvm", "gvisor-ptrace")
PODMAN = ("podman", "podman-crun", "podman-runc")
SORTS = [
    Sort(
        databases, ("cassandra", "mongodb"), "database", Scylla, DatabaseDeclaration,
        "beside_data", ("", "scylla@1", "Scylla", "a scylla", "scylla-"),
    ),
    Sort(
        machines, ("local", "ssh", "kvm", "vmware"), "kind of machines", Cloud, MachinesDeclaration,
        "its name is None",
        ("", "cloud@1", "Cloud", "a cloud", "cloud-", "vm", "physical", "clients"),
    ),
    Sort(
        runtimes, ("native", "docker", *PODMAN, *GVISOR, "lxc", "kubernetes", "swarm"), "runtime",
        Jail, Declaration, "its name is None",
        ("", "jail@vmware", "ssh-jail", "ssh", "jail.bridge", "Jail", "a jail", "jail-", "8"),
    ),
]  # fmt: skip
each = pytest.mark.parametrize("of", SORTS, ids=lambda of: of.noun)


@each
def test_tare_s_own_are_found_first_and_then_what_packages_bring(
    monkeypatch: pytest.MonkeyPatch, of: Sort
) -> None:
    assert found(monkeypatch, of.registry) == list(of.own)
    brought = Point("brought", of.brought)
    assert found(monkeypatch, of.registry, brought) == [*of.own, of.brought.name]


def test_one_module_may_have_several(monkeypatch: pytest.MonkeyPatch) -> None:
    own = runtimes.names()
    both = Point("two", lambda: (Jail(), Cell()))
    assert found(monkeypatch, runtimes, both) == [*own, "jail", "cell"]


@pytest.mark.parametrize(
    ("of", "load", "why"), [(of, load, why) for of in SORTS for load, why in of.unusable()]
)
def test_what_a_package_brings_and_cannot_be_used_is_told_with_the_package(
    monkeypatch: pytest.MonkeyPatch, of: Sort, load: Callable[[], Any], why: str
) -> None:
    with pytest.raises(RuntimeUnavailableError) as refused:
        found(monkeypatch, of.registry, Point("brought", load))
    assert of.noun in refused.value.what
    assert refused.value.where == "tare_brought:DECLARED"
    assert why in refused.value.why
    assert "pip uninstall tare-brought" in refused.value.remedy


@each
def test_what_is_not_there_is_told_with_those_that_are(of: Sort) -> None:
    name = of.brought.name
    with pytest.raises(RuntimeUnavailableError, match=f"no {of.noun} {name} here") as refused:
        of.registry.declared(name)
    assert ", ".join(of.own) in refused.value.why


@each
def test_each_is_asked_by_its_name(of: Sort) -> None:
    assert of.registry.names() == of.own
    assert [of.registry.declared(name).name for name in of.own] == list(of.own)


OF_ENGINES = "tare.runtimes.docker_family"
"""what the declarations of engines of this machine have in common"""
LIGHT = {"tare.errors", "tare.runtimes.declaration", "tare.runtimes.obstacle", OF_ENGINES}


@pytest.mark.parametrize(
    ("name", "light"),
    [
        *((name, {"tare.databases.declaration"}) for name in databases.OWN),
        *((name, {"tare.machines.declaration"}) for name in machines.OWN),
        *((name, LIGHT) for name in (*runtimes.OWN, OF_ENGINES)),
    ],
)
def test_a_declaration_imports_nothing_that_takes_long(name: str, light: Collection[str]) -> None:
    """Every command that reads a study imports it."""
    tree = ast.parse(Path(str(importlib.import_module(name).__file__)).read_text("utf-8"))
    at_once = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    own = {one for one in at_once if one and one.startswith("tare")}
    assert own <= set(light)
    assert at_once - own <= set(sys.stdlib_module_names)
