"""What of an engine's things is this machine's to remove."""

from __future__ import annotations

import platform
from types import SimpleNamespace
from typing import Any

import pytest

from tare.runtimes import docker_engine


def thing(**attrs: Any) -> Any:
    return SimpleNamespace(attrs=attrs)


def test_what_another_machine_made_through_a_shared_engine_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"tare.run": "a", "tare.host": platform.node()}
    of_docker = thing(Config={"Labels": {"tare.run": "a"}})
    of_swarm = thing(Labels=own)
    elsewhere = thing(Labels=own | {"tare.host": "another"})
    listing = SimpleNamespace(list=lambda **_: [of_docker, of_swarm, elsewhere])
    engine = SimpleNamespace(containers=listing, networks=listing, volumes=listing)
    monkeypatch.setattr(docker_engine, "connect", lambda timeout_s: engine)
    for found in docker_engine.leftovers().values():
        assert found == [of_docker, of_swarm]
