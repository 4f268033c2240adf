"""Each database has a consistent declaration."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tare.databases import registry
from tare.databases.declaration import NewCluster
from tare.errors import TareError
from tare.study.schema import Setup


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
    wanted = NewCluster("k1", setup, setup.platform, nothing, nothing, 0)
    with pytest.raises(TareError, match="without the files of") as refused:
        registry.declared(name).cluster(wanted)
    assert refused.value.where == "k1"


@pytest.mark.parametrize(
    ("database", "words"),
    [
        ({"consistency": "QUORUM"}, "QUORUM"),
        ({"consistency": {"read": "ONE", "write": "ALL"}}, "reads ONE, writes ALL"),
        ({"kind": "mongodb"}, ""),
        ({"kind": "mongodb", "write_concern": 1}, "writes acknowledged by 1 member"),
        (
            {"kind": "mongodb", "write_concern": "majority", "read_preference": "nearest"},
            "writes acknowledged by majority, read preference nearest",
        ),
        ({"kind": "mongodb", "journal": True}, "journalled"),
    ],
)
def test_how_many_copies_answer_is_said_as_far_as_a_study_decides_it(
    database: dict[str, Any], words: str
) -> None:
    setup = Setup.model_validate({"database": database}).database
    assert registry.declared(setup.kind).acknowledged(setup) == words
