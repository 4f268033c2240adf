"""The server of a directory of the user's is found, and nothing else passes for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.databases.mongodb.installation import (
    STAND_IN,
    installed,
    refuse_several,
    refuse_stand_in,
    stand_in,
)
from tare.errors import ArtifactError, StudyError


@pytest.mark.parametrize("place", ["bin/mongod", "mongod"])
def test_a_release_is_found_by_its_directory(tmp_path: Path, place: str) -> None:
    program = tmp_path / place
    program.parent.mkdir(exist_ok=True)
    program.write_bytes(b"server")
    found = installed(tmp_path)
    assert (found.program, found.kind, found.stands_in) == (str(program), "mongod", False)
    assert len(found.bits.digest) == 64


def test_ferretdb_is_known_for_what_it_is(tmp_path: Path) -> None:
    program = tmp_path / "ferretdb"
    program.write_bytes(b"other server")
    assert installed(tmp_path).stands_in
    assert installed(program).stands_in


def test_a_directory_without_a_server_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no mongod here") as raised:
        installed(tmp_path)
    assert "set database.home" in raised.value.remedy


def test_a_server_that_says_that_it_is_another_program_is_called_by_its_name() -> None:
    nature = "(a functional stand-in and not MongoDB)"
    first = {"version": "7.0.42", "ferretdbVersion": "v1.24.0", "ferretdbFeatures": {}}
    assert stand_in(first) == f"FerretDB v1.24.0 {nature}"
    second = {"version": "7.0.77", "ferretdb": {"version": "v2.5.0"}}
    assert stand_in(second) == f"FerretDB v2.5.0 {nature}"
    assert stand_in({"version": "7.0.14", "modules": []}) is None


def test_a_stand_in_is_no_target_of_a_benchmark_unless_forced() -> None:
    with pytest.raises(StudyError, match="cannot be the target of a benchmark"):
        refuse_stand_in(STAND_IN, forced=False)
    refuse_stand_in(STAND_IN, forced=True)
    refuse_stand_in(None, forced=False)


def test_several_stand_ins_are_no_replica_set() -> None:
    with pytest.raises(StudyError, match="3 of them would be 3 databases"):
        refuse_several(3)
    refuse_several(1)
