"""A removed container, a silent engine and a paused container are told apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from docker.errors import APIError, NotFound

from tare.errors import RuntimeUnavailableError
from tare.runtimes.docker import DockerRunning
from tare.runtimes.docker_engine import remove

if TYPE_CHECKING:
    from collections.abc import Callable


class Engine:
    """An engine that fails every request with one error."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.api = self
        self.id = "c0ffee"

    def refuse(self, *arguments: Any, **more: Any) -> Any:
        raise self.error

    inspect_container = update = logs = refuse


def running(error: Exception) -> DockerRunning:
    unit: Any = SimpleNamespace(site=SimpleNamespace(name="native-n1"))
    engine: Any = Engine(error)
    return DockerRunning(unit, engine, engine)


@pytest.mark.parametrize(
    "ask", [lambda one: one.exited(), lambda one: one.confine("0"), lambda one: list(one.lines())]
)
def test_a_removed_container_is_called_so(ask: Callable[[DockerRunning], object]) -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        ask(running(NotFound("404 Client Error: Not Found (No such container: c0ffee)")))
    assert "has been removed" in caught.value.what
    assert "404" not in str(caught.value)
    assert "does not answer" not in str(caught.value)
    assert caught.value.remedy


def test_an_engine_that_is_silent_is_called_so() -> None:
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        running(APIError("500 Server Error")).exited()


@pytest.mark.parametrize("paused", [True, False])
def test_a_paused_container_of_a_dead_run_goes_on_before_it_is_removed(paused: bool) -> None:
    """A gVisor sandbox killed while paused takes longer to end than Tare waits for an engine."""
    asked: list[str] = []
    left: Any = SimpleNamespace(
        id="c0ffee",
        name="left",
        attrs={"State": {"Pid": 0, "Paused": paused}},
        unpause=lambda: asked.append("unpause"),
        remove=lambda **_: asked.append("remove"),
    )
    assert remove({"containers": [left]}) == []
    assert asked == ["unpause"] * paused + ["remove"]


@pytest.mark.parametrize("paused", [True, False])
def test_a_container_that_somebody_paused_stands_still_whatever_its_group_says(
    paused: bool,
) -> None:
    state = {"State": {"Pid": 0, "Paused": paused}}
    unit: Any = SimpleNamespace(site=SimpleNamespace(name="native-n1"))
    engine: Any = SimpleNamespace(api=SimpleNamespace(inspect_container=lambda _: state))
    container: Any = SimpleNamespace(id="c0ffee")
    found = DockerRunning(unit, container, engine).accounting().standing_still(frozen=False)
    assert ("paused" in found) is paused
