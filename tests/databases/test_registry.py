"""Every database declares itself, and others can bring theirs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, cast

import pytest

from tare.databases import registry
from tare.databases.cassandra.declaration import CassandraDeclaration
from tare.databases.declaration import DatabaseDeclaration
from tare.databases.mongodb.declaration import MongoDeclaration
from tare.errors import RuntimeUnavailableError, TareError
from tare.study.schema import Setup
from tests.brought import Point, found

NAMES = ["cassandra", "mongodb"]


class Scylla(CassandraDeclaration):
    name = "scylla"


class Again(MongoDeclaration):
    pass


class Half(DatabaseDeclaration):
    name = "half"


def test_tare_s_own_are_found_first_and_then_what_packages_bring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert found(monkeypatch, registry) == NAMES
    assert found(monkeypatch, registry, Point("scylla", Scylla)) == [*NAMES, "scylla"]


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (Again, "there is a database mongodb already"),
        (lambda: importlib.import_module("no_such_database"), "No module named"),
        (lambda: "scylla", "it is no tare.databases.declaration.DatabaseDeclaration"),
        (Half, "beside_data"),
    ],
)
def test_what_a_package_brings_and_cannot_be_used_is_told_with_the_package(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[], Any], why: str
) -> None:
    with pytest.raises(RuntimeUnavailableError) as refused:
        found(monkeypatch, registry, Point("scylla", load))
    assert why in refused.value.why
    assert "pip uninstall tare-scylla" in refused.value.remedy


def test_a_database_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(RuntimeUnavailableError, match="no database scylla here") as refused:
        registry.declared("scylla")
    assert ", ".join(NAMES) in refused.value.why


@pytest.mark.parametrize("name", registry.names())
def test_what_a_declaration_says_agrees_with_itself(name: str) -> None:
    own = registry.declared(name)
    setup = Setup.model_validate({"database": {"kind": name, "version": "5.0"}})
    assert own.name == name
    assert own.kept_in_memory(setup, None) > 0
    assert own.beside_data(setup) > 0
    assert own.locked != bool(list(own.obstacles(setup))), "what is not fetched must be named"
    path, held, lower = own.memory_in_words(setup, "1GiB a node")
    assert "1GiB a node" in held
    assert f"lower {'.'.join(path)}" in lower or "database.settings" in lower


@pytest.mark.parametrize("name", registry.names())
def test_a_directory_is_judged_by_the_database_that_the_study_names(name: str) -> None:
    database = {"kind": name, "version": "5.0", "home": "/nowhere"}
    (fault,) = registry.declared(name).unfit(Setup.model_validate({"database": database}))
    assert fault.field == ("database", "home")
    assert ("Cassandra" in fault.why) == (name == "cassandra")
    assert ("mongod" in fault.why) == (name == "mongodb")


@pytest.mark.parametrize("name", registry.names())
def test_a_cluster_without_its_own_files_is_a_fault_of_tare_s(name: str) -> None:
    setup, nothing = Setup(), cast("Any", object())
    with pytest.raises(TareError, match="without the files of") as refused:
        registry.declared(name).cluster("k1", setup, setup.platform, nothing, nothing, 0)
    assert refused.value.where == "k1"
