"""The server in the user's directory is found; anything else is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tare.databases.mongodb.installation import (
    STAND_IN,
    installed,
    named_kind,
    refuse_other_release,
    refuse_stand_in,
    release_of,
    stand_in,
    unfit,
)
from tare.errors import ArtifactError, StudyError
from tare.runtimes.obstacle import Obstacle
from tare.study.schema import Database
from tests.databases.mongodb.scripted import COMMIT


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


def test_the_stub_is_known_for_what_it_is_and_knows_sets(tmp_path: Path) -> None:
    program = tmp_path / "tare-stub"
    program.write_bytes(b"no server")
    found = installed(program)
    assert (found.kind, found.stands_in, found.knows_sets) == ("tare-stub", True, True)
    build = {"version": "7.0.0", "tareStub": "0.1.0"}
    assert stand_in(build) == "tare-stub 0.1.0 (a server that keeps nothing, and not MongoDB)"


def test_a_directory_without_a_server_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no mongod here") as raised:
        installed(tmp_path)
    assert "set database.home" in raised.value.remedy


def program(directory: Path, script: str) -> str:
    made = directory / "mongod"
    made.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    made.chmod(0o755)
    return str(made)


def test_a_mongod_says_its_release(tmp_path: Path) -> None:
    mongod = program(tmp_path, "echo 'db version v7.0.14'; echo 'Build Info: {'")
    assert release_of(mongod) == "7.0.14"


@pytest.mark.parametrize(
    ("script", "why"),
    [("echo 'unknown flag --version' >&2; exit 80", "unknown flag"), ("exit 1", "exit status 1")],
)
def test_another_program_is_no_mongod(tmp_path: Path, script: str, why: str) -> None:
    with pytest.raises(ArtifactError, match="this is no mongod") as raised:
        release_of(program(tmp_path, script))
    assert why in raised.value.why


def test_a_file_that_cannot_be_run_is_no_mongod(tmp_path: Path) -> None:
    (tmp_path / "mongod").write_bytes(b"server")
    with pytest.raises(ArtifactError, match="this is no mongod"):
        release_of(str(tmp_path / "mongod"))


@pytest.mark.parametrize(
    ("version", "refused"), [("3.4.24", 1), ("3.6", 0), ("4.4", 0), ("8.0", 0)]
)
def test_releases_that_do_not_speak_op_msg_are_refused(
    tmp_path: Path, version: str, refused: int
) -> None:
    program(tmp_path, "exit 0")
    native = Database(kind="mongodb", version=version, home=str(tmp_path))
    image = Database(kind="mongodb", version=version, image="mongo:x")
    for found in (unfit(native, "native"), unfit(image, "docker")):
        assert [one.field for one in found] == [("database", "version")] * refused


def test_a_program_of_another_release_is_refused_before_anything_starts(tmp_path: Path) -> None:
    program(tmp_path, "echo db version v3.6.8")
    (other,) = unfit(Database(kind="mongodb", version="7.0", home=str(tmp_path)), "native")
    assert other.field == ("database", "version")
    assert 'set database.version to "3.6.8"' in other.remedy
    assert unfit(Database(kind="mongodb", version="3.6", home=str(tmp_path)), "native") == []


REFUSES = """\
case $1 in
  --version) echo db version v7.0.14 ;;
  --config) grep -q cacheSizeMB "$2" || exit 0; echo Unrecognized option: cacheSizeMB; exit 2 ;;
esac"""


def test_settings_that_the_program_refuses_are_refused_before_anything_starts(
    tmp_path: Path,
) -> None:
    program(tmp_path, REFUSES)

    def found(setting: str) -> list[Obstacle]:
        settings = {"storage": {"wiredTiger": {"engineConfig": {setting: 512}}}}
        home = str(tmp_path)
        return unfit(
            Database(kind="mongodb", version="7.0", home=home, settings=settings), "native"
        )

    (misspelt,) = found("cacheSizeMB")
    assert misspelt.field == ("database", "settings")
    assert "Unrecognized option: cacheSizeMB" in misspelt.why
    assert found("cacheSizeGB") == []


def test_files_are_what_their_names_tell(tmp_path: Path) -> None:
    def named(**parts: Any) -> str:
        return named_kind(Database(kind="mongodb", version="7.0", **parts))

    (tmp_path / "ferretdb").touch()
    assert named(home=str(tmp_path), stand_in=True) == "ferretdb"
    assert named(home="/nowhere", stand_in=True) == named(image="mongo:7") == "mongod"
    assert named(stand_in=True) == "tare-stub"


def test_a_server_that_says_that_it_is_another_program_is_called_by_its_name() -> None:
    nature = "(a functional stand-in and not MongoDB)"
    first = {"version": "7.0.42", "ferretdbVersion": "v1.24.0", "ferretdbFeatures": {}}
    assert stand_in(first) == f"FerretDB v1.24.0 {nature}"
    second = {"version": "7.0.77", "ferretdb": {"version": "v2.5.0"}}
    assert stand_in(second) == f"FerretDB v2.5.0 {nature}"
    assert stand_in({"version": "7.0.14", "gitVersion": COMMIT, "modules": []}) is None
    java = {"version": "5.0.0", "maxBsonObjectSize": 16 << 20}
    assert stand_in(java) == f"a server without gitVersion {nature}"


def test_a_stand_in_is_no_target_of_a_benchmark_unless_forced() -> None:
    with pytest.raises(StudyError, match="cannot be the target of a benchmark"):
        refuse_stand_in(STAND_IN, forced=False)
    refuse_stand_in(STAND_IN, forced=True)
    refuse_stand_in(None, forced=False)


@pytest.mark.parametrize("declared", ["7.0", "7.0.14"])
def test_the_release_of_the_study_is_the_server_s(declared: str) -> None:
    refuse_other_release(declared, {"version": "7.0.14"})
    with pytest.raises(StudyError, match=f"and not {declared}") as raised:
        refuse_other_release(declared, {"version": "7.0.1"} if declared != "7.0" else {})
    assert raised.value.where == "database.version"


def faults(runtime: str = "native", **fields: Any) -> list[Obstacle]:
    database = Database.model_validate({"kind": "mongodb", "version": "7.0", **fields})
    return unfit(database, runtime)


@pytest.fixture
def ferretdb(tmp_path: Path) -> str:
    (tmp_path / "ferretdb").write_bytes(b"other server")
    return str(tmp_path)


def test_a_look_at_the_files_tells_a_stand_in_that_was_not_asked_for(ferretdb: str) -> None:
    (fault,) = faults(home=ferretdb)
    assert fault.field == ("database", "home")
    assert "FerretDB (a functional stand-in and not MongoDB) cannot be the target" in fault.why
    assert "database.stand_in: true" in fault.remedy
    assert faults(home=ferretdb, stand_in=True) == []


def test_several_stand_ins_are_no_replica_set(ferretdb: str) -> None:
    (fault,) = faults(home=ferretdb, stand_in=True, nodes=3)
    assert fault.field == ("database", "nodes")
    assert "3 of them would be 3 databases" in fault.why
    assert len(faults(home=ferretdb, nodes=3)) == 2


def test_the_stub_must_have_been_asked_for_and_may_be_several(tmp_path: Path) -> None:
    program = tmp_path / "tare-stub"
    program.write_bytes(b"no server")
    (fault,) = faults(home=str(program), nodes=3)
    assert fault.why.startswith("tare-stub (a server that keeps nothing, and not MongoDB) cannot")
    assert faults(home=str(program), nodes=3, stand_in=True) == []
    assert faults(nodes=3, stand_in=True) == []


def test_a_mongod_may_be_several_and_stand_in_for_itself(tmp_path: Path) -> None:
    (tmp_path / "mongod").write_bytes(b"server")
    assert faults(home=str(tmp_path), nodes=3) == []
    assert faults(home=str(tmp_path), stand_in=True) == []


def test_a_home_without_a_server_is_told(tmp_path: Path) -> None:
    (fault,) = faults(home=str(tmp_path / "nowhere"))
    assert "no mongod here" in fault.why
    assert "unpack a release" in fault.remedy


@pytest.mark.parametrize("name", ["ghcr.io/ferretdb/ferretdb:1.24", "FerretDB/all-in-one"])
def test_an_image_of_a_stand_in_has_no_mongod(name: str) -> None:
    (fault,) = faults("docker", image=name, stand_in=True)
    assert fault.field == ("database", "image")
    assert "there is no mongod in it" in fault.why
    assert faults("docker", image="mongo:7") == []


@pytest.mark.parametrize("runtime", ["docker", "swarm", "kubernetes"])
def test_an_image_of_the_user_s_directory_is_judged_by_the_directory(
    ferretdb: str, runtime: str
) -> None:
    (fault,) = faults(runtime, home=ferretdb)
    assert fault.field == ("database", "home")
    assert faults(runtime, home=ferretdb, stand_in=True) == []
    assert faults(runtime, home=ferretdb, image="mongo:7") == [], "the image is what runs"
