"""Every kind of machines declares itself, and others can bring theirs."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines import registry
from tare.machines.declaration import MachinesDeclaration
from tests.brought import Point, found

NAMES = ["local", "ssh", "kvm", "vmware"]


class Cloud(MachinesDeclaration):
    name = "cloud"


class Again(MachinesDeclaration):
    name = "kvm"


def named(name: str) -> MachinesDeclaration:
    found = Cloud()
    found.name = name
    return found


def test_tare_s_own_are_found_first_and_then_what_packages_bring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert found(monkeypatch, registry) == NAMES
    assert found(monkeypatch, registry, Point("cloud", Cloud)) == [*NAMES, "cloud"]


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (Again, "there is a kind of machines kvm already"),
        (lambda: importlib.import_module("no_such_cloud"), "No module named 'no_such_cloud'"),
        (lambda: "cloud", "it is no tare.machines.declaration.MachinesDeclaration"),
        (MachinesDeclaration, "its name is None"),
        *(
            (lambda name=name: named(name), f"its name is {name!r}")
            for name in ("", "cloud@1", "Cloud", "a cloud", "cloud-", "vm", "physical", "clients")
        ),
    ],
)
def test_what_a_package_brings_and_cannot_be_used_is_told_with_the_package(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[], Any], why: str
) -> None:
    with pytest.raises(RuntimeUnavailableError) as refused:
        found(monkeypatch, registry, Point("cloud", load))
    assert refused.value.where == "tare_cloud:DECLARED"
    assert why in refused.value.why
    assert "pip uninstall tare-cloud" in refused.value.remedy


def test_a_kind_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(RuntimeUnavailableError, match="no kind of machines cloud") as refused:
        registry.declared("cloud")
    assert ", ".join(NAMES) in refused.value.why


@pytest.mark.parametrize("name", registry.names())
def test_what_a_declaration_says_agrees_with_itself(name: str) -> None:
    own = registry.declared(name)
    assert own.name == name
    assert [own.here, own.from_inventory, own.made].count(True) <= 1
    assert own.made == (type(own).make is not MachinesDeclaration.make)
    assert own.in_words
    assert bool(own.no_proposal) == own.guest
    assert own.recorded({}) is False


def test_a_maker_s_name_tells_one_kind() -> None:
    makers = [maker for one in registry.registered().values() for maker in one.makers]
    assert len(makers) == len(set(makers))


def test_what_is_not_installed_here_is_of_no_kind_and_records_of_it_are_read() -> None:
    assert registry.of_record({"platform": {"machines": "cloud"}}) is None
    assert registry.of_record({}) is registry.declared(registry.HERE)
    assert registry.emulated({"cloud": 1}) is False
    assert registry.made_in_words({"cloud": 1}) == "by what is not installed here"


def test_who_makes_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError, match="local makes no machines"):
        registry.declared("local").make("run", [], print)


@pytest.mark.parametrize("name", registry.OWN)
def test_a_declaration_imports_nothing_that_takes_long(name: str) -> None:
    """It is imported by every command that reads a study."""
    tree = ast.parse(Path(str(importlib.import_module(name).__file__)).read_text("utf-8"))
    at_once = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    own = {one for one in at_once if one and one.startswith("tare")}
    assert own <= {"tare.machines.declaration"}
    assert at_once - own <= set(sys.stdlib_module_names)
