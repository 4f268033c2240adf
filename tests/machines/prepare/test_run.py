"""pyinfra lists the changes it would make, makes them, and lists what is left to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tare.artifacts.program import Ended
from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import DIRECTORY, Host
from tare.machines.prepare.run import USUAL, find_pyinfra, prepare

HOSTS = [
    Host("db1", "192.0.2.1", 2222, "tare", Path("/keys/id"), Path("/keys/known"), sudo=True),
    Host("db2", "192.0.2.2"),
]


@pytest.fixture(autouse=True)
def pyinfra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "pyinfra"
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("TARE_PYINFRA", str(program))
    return program


class Scripted:
    """A stand-in for pyinfra that has one directory to make on each host."""

    def __init__(self, reached: Sequence[str] = ("db1", "db2"), status: int = 0) -> None:
        self.reached, self.status = reached, status
        self.made = False
        self.words: list[list[str]] = []
        self.hosts: list[dict[str, object]] = []

    def __call__(
        self, words: Sequence[str], within_s: float, environment: Mapping[str, str], where: str
    ) -> Ended:
        self.words.append(list(words))
        self.hosts = json.loads(Path(environment["TARE_PREPARE_HOSTS"]).read_text(encoding="utf-8"))
        assert Path(where).is_dir()
        changes = [] if self.made else ["make /var/tmp/tare"]
        with Path(environment["TARE_PREPARE_TOLD"]).open("a", encoding="utf-8") as told:
            for name in self.reached:
                told.write(json.dumps({"host": name, "changes": changes, "notes": []}) + "\n")
        self.made = self.made or ("--dry" not in words and self.status == 0)
        return Ended(self.status, ("pyinfra's last words",))


def test_nothing_is_changed_unless_it_is_told_to() -> None:
    run = Scripted()
    outcome = prepare(HOSTS, USUAL, change=False, run=run)
    assert ["--dry" in words for words in run.words] == [True]
    assert [one.changes for one in outcome.hosts] == [("make /var/tmp/tare",)] * 2
    assert not outcome.done


def test_after_a_change_it_is_asked_what_is_left() -> None:
    run = Scripted()
    outcome = prepare(HOSTS, USUAL, change=True, run=run)
    assert ["--dry" in words for words in run.words] == [False, True]
    assert outcome.done
    assert outcome.said == ""


def test_a_change_that_failed_leaves_what_is_left_and_its_words() -> None:
    outcome = prepare(HOSTS, USUAL, change=True, run=Scripted(status=1))
    assert not outcome.done
    assert outcome.said == "pyinfra's last words"


def test_a_host_that_is_not_reached_is_told_beside_the_others() -> None:
    outcome = prepare(HOSTS, USUAL, change=False, run=Scripted(reached=["db2"]))
    assert [(one.host, one.reached) for one in outcome.hosts] == [("db1", False), ("db2", True)]
    with pytest.raises(RuntimeUnavailableError, match="none of the hosts") as caught:
        prepare(HOSTS, USUAL, change=False, run=Scripted(reached=[]))
    assert "last words" in caught.value.why


def test_hosts_are_given_with_keys_that_are_known_and_no_agent() -> None:
    run = Scripted()
    prepare(HOSTS, ["directory"], change=False, run=run)
    assert run.hosts[0] == {
        "name": "db1",
        "data": {
            "ssh_hostname": "192.0.2.1",
            "ssh_port": 2222,
            "ssh_user": "tare",
            "ssh_key": "/keys/id",
            "ssh_known_hosts_file": "/keys/known",
            "ssh_strict_host_key_checking": "yes",
            "ssh_forward_agent": False,
            "tare_directory": str(DIRECTORY),
            "tare_steps": ["directory"],
            "_sudo": True,
        },
    }


@pytest.mark.parametrize(
    "environment", [{"PATH": "/nowhere"}, {"PATH": "/nowhere", "TARE_PYINFRA": "/no/pyinfra"}]
)
def test_where_there_is_no_pyinfra_it_is_said_how_to_get_it(environment: dict[str, str]) -> None:
    with pytest.raises(RuntimeUnavailableError, match="is missing") as caught:
        find_pyinfra(environment)
    assert "pipx install pyinfra" in caught.value.remedy


def test_what_is_run_is_shipped() -> None:
    run: Callable[..., Ended] = Scripted()
    prepare(HOSTS, USUAL, change=False, run=run)
    assert isinstance(run, Scripted)
    assert all(Path(word).is_file() for word in run.words[0][3:])


def test_a_command_that_is_named_relatively_is_found_from_any_directory(
    pyinfra: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pyinfra.parent)
    assert find_pyinfra({"TARE_PYINFRA": "./pyinfra", "PATH": "/nowhere"}) == str(pyinfra)
