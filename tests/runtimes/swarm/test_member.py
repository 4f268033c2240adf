"""A database node in a task: its state and the reason for its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.member import MemberRunning
from tests.runtimes.swarm.test_runtime import Scene


class Life(Scene):
    """A cluster; `becomes` changes the status of its first task."""

    def __init__(self, work: Path) -> None:
        super().__init__(work)
        self.member: MemberRunning = self.cluster("host-port")[0]

    def becomes(self, **status: Any) -> None:
        task = next(iter(self.swarm.made["task"].values()))
        task["Status"] |= status
        self.clock.wait(5)

    def detail(self) -> str:
        end = self.member.exited()
        assert end is not None
        return end.detail


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_a_task_that_runs_has_not_ended(life: Life) -> None:
    assert life.member.exited() is None


def test_a_task_that_failed_tells_its_own_error(life: Life) -> None:
    life.becomes(State="failed", Err="task: non-zero exit (137)")
    assert life.detail() == "its task is failed: task: non-zero exit (137)"


def test_a_node_that_went_down_ends_what_it_runs(life: Life) -> None:
    life.swarm.nodes[0]["Status"] = {"State": "down", "Message": "heartbeat failure"}
    next(iter(life.swarm.made["task"].values()))["DesiredState"] = "shutdown"  # as Swarm does
    life.clock.wait(5)
    assert life.detail() == "its node cannot be used: it is down: heartbeat failure"


def test_a_service_that_somebody_removed_is_told(life: Life) -> None:
    life.swarm.remove("service", next(iter(life.swarm.made["service"])))
    life.clock.wait(5)
    assert "its service was removed" in life.detail()


def test_a_manager_that_went_away_is_no_dead_node(life: Life) -> None:
    life.swarm.lost = True
    life.clock.wait(5)
    with pytest.raises(RuntimeUnavailableError, match="manager does not answer"):
        life.member.exited()


def test_the_manager_is_not_asked_at_every_look(life: Life) -> None:
    assert life.member.exited() is None
    life.swarm.lost = True
    assert life.member.exited() is None


@pytest.mark.parametrize("what", ["pause", "confine"])
def test_a_task_on_another_machine_can_be_neither_paused_nor_confined(
    life: Life, what: str
) -> None:
    arguments = ["0"] if what == "confine" else []
    with pytest.raises(RuntimeUnavailableError, match="on another machine"):
        getattr(life.member, what)(*arguments)
    life.member.resume()  # no error: nothing was paused
    assert life.member.accounting().cpu_seconds() == 0


def test_its_output_and_its_tasks_status_are_kept(life: Life, tmp_path: Path) -> None:
    life.swarm.output = b"INFO started\n"
    life.member.collect_logs(tmp_path / "logs")
    assert (tmp_path / "logs" / "d1-k1-n1-stderr.log").read_bytes() == b"INFO started\n"
    status = json.loads((tmp_path / "logs" / "d1-k1-n1-task.json").read_text(encoding="utf-8"))
    assert status["State"] == "running"


def test_logs_of_a_lost_manager_are_left_out(life: Life, tmp_path: Path) -> None:
    life.swarm.lost = True
    life.member.collect_logs(tmp_path / "logs")
    assert list((tmp_path / "logs").iterdir()) == []
