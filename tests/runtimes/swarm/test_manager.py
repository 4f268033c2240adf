"""The engine's errors become errors in the user's terms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import requests
from docker.errors import APIError

from tare.runtimes.swarm.manager import EngineManager, SwarmError, label_filter


def refused(status: int, why: str) -> APIError:
    response = requests.Response()
    response.status_code = status
    return APIError("refused", response=response, explanation=why)


def manager(**calls: Any) -> EngineManager:
    client: Any = SimpleNamespace(api=SimpleNamespace(**calls))
    return EngineManager(client, "tcp://m:2376")


def raising(error: Exception) -> Any:
    def call(*_: Any, **__: Any) -> None:
        raise error

    return call


def test_an_engine_that_went_away_is_a_manager_that_does_not_answer() -> None:
    with pytest.raises(SwarmError, match="manager does not answer") as caught:
        manager(info=raising(requests.ConnectionError("reset"))).info()
    assert caught.value.where == "tcp://m:2376"
    assert caught.value.status == 0


def test_a_swarm_that_lost_its_leader_is_told_with_how_to_get_one_back() -> None:
    why = "rpc error: The swarm does not have a leader"
    with pytest.raises(SwarmError, match="refused to list tasks") as caught:
        manager(tasks=raising(refused(500, why))).find("task", {})
    assert caught.value.why == why
    assert "docker swarm init --force-new-cluster" in caught.value.remedy


def test_what_is_gone_need_not_be_removed() -> None:
    manager(remove_service=raising(refused(404, "no such service"))).remove("service", "s")
    with pytest.raises(SwarmError, match="refused to remove service s"):
        manager(remove_service=raising(refused(500, "busy"))).remove("service", "s")


def test_labels_are_filtered_by_name_or_by_value() -> None:
    assert label_filter(["tare.run"]) == {"label": ["tare.run"]}
    assert label_filter({"tare.run": "a"}) == {"label": ["tare.run=a"]}
