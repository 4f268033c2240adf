"""The server of a directory of the user's is found, and nothing else passes for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.databases.mongodb.installation import installed
from tare.errors import ArtifactError


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
