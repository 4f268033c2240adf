"""Which Swarm the settings name, and the errors for files and contexts that cannot be used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.named import ask_swarm, swarm_fault
from tare.runtimes.swarm.settings import connect_engine, swarm_settings


def test_where_nothing_is_named_docker_chooses() -> None:
    settings = swarm_settings({})
    assert (settings.manager, settings.engines, settings.local) == ("", {}, False)


def test_a_file_names_the_manager_and_the_nodes_engines(tmp_path: Path) -> None:
    file = tmp_path / "swarm.yaml"
    file.write_text("manager: unix:///m.sock\nengines: {n1: unix:///m.sock, n2: unix:///n.sock}\n")
    settings = swarm_settings({"TARE_SWARM": str(file)})
    assert settings.engines["n2"] == "unix:///n.sock"
    assert settings.where == "unix:///m.sock"
    assert settings.local


def test_engines_elsewhere_share_no_kernel_with_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "swarm.yaml"
    file.write_text("manager: unix:///m.sock\nengines: {n2: 'ssh://n2'}\n")
    assert not swarm_settings({"TARE_SWARM": str(file)}).local


@pytest.mark.parametrize("text", ["managr: x", "[", "engines: [a]"])
def test_a_file_that_cannot_be_used_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "swarm.yaml"
    file.write_text(text)
    with pytest.raises(RuntimeUnavailableError) as caught:
        swarm_settings({"TARE_SWARM": str(file)})
    assert caught.value.where == str(file)


def test_a_context_that_there_is_not_is_said() -> None:
    with pytest.raises(RuntimeUnavailableError, match="no docker context nowhere") as caught:
        connect_engine("nowhere")
    assert caught.value.remedy == "docker context ls"


def test_a_context_is_found_without_dockers_own_settings_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`docker context create` writes meta.json, but no config.json."""
    own = tmp_path / "contexts" / "meta" / hashlib.sha256(b"rig").hexdigest()
    own.mkdir(parents=True)
    host = f"unix://{tmp_path}/none.sock"
    meta = {"Name": "rig", "Metadata": {}, "Endpoints": {"docker": {"Host": host}}}
    (own / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(RuntimeUnavailableError, match="no Docker engine answers") as caught:
        connect_engine("rig")
    assert "none.sock" in caught.value.why or "No such file" in caught.value.why


def test_an_engine_that_does_not_answer_is_said_with_its_address(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError, match="no Docker engine answers") as caught:
        connect_engine(f"unix://{tmp_path}/none.sock")
    assert caught.value.where.endswith("none.sock")


def test_a_swarm_that_is_named_and_silent_is_a_fault_and_no_lack_of_one(tmp_path: Path) -> None:
    file = tmp_path / "swarm.yaml"
    file.write_text(f"manager: unix://{tmp_path}/none.sock\n")
    environment = {"TARE_SWARM": str(file)}
    assert isinstance(ask_swarm(environment), RuntimeUnavailableError)
    assert "no Docker engine answers" in (swarm_fault(environment) or "")


def test_an_engine_that_nobody_named_as_a_swarm_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert ask_swarm({}) is None
    assert "manages no Swarm" in (swarm_fault({}) or "")


def test_an_engine_behind_ssh_is_refused_with_another_way() -> None:
    with pytest.raises(RuntimeUnavailableError, match="ssh://") as caught:
        connect_engine("ssh://admin@swarm-1")
    assert "ssh -L" in caught.value.remedy
