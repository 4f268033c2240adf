"""Two commands that chose the same run: the second one to measure it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import UsageError
from tare.lab.directory import choose
from tare.lab.extension import choose_extended
from tare.lab.progress import Silent
from tare.lab.run import Lab
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.lab.scripted_lab import TEXT, measured, without_resources

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tare.lab.directory import RunDirectory
    from tare.study.plan import Round


class Scripted(Lab):
    """Finishes the trials of a round at once; interrupted after round `until`."""

    until = 0

    def _round(self, turn: Round, resources: Any) -> None:
        for trial in self._pending(turn):
            self._finish(trial, measured(self._plan, trial), self._begin_record(trial))
        if turn.index == self.until:
            raise KeyboardInterrupt


class Scene:
    """Commands that measure a study."""

    def __init__(self, tmp_path: Path) -> None:
        self.runs = tmp_path / "runs"
        self.source = tmp_path / "small.yaml"
        self.source.write_text(TEXT)

    def chosen(self, rounds: int, find: Callable[..., RunDirectory] = choose) -> Scripted:
        """A command that has chosen its run, and is about to measure."""
        study = load_study(self.source, [f"design.deployments={rounds}"])
        return Scripted(make_plan(study), find(self.runs, study, None), self.source, Silent())

    def content(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.runs.rglob("*") if path.is_file()}

    def refused(self, command: Scripted) -> None:
        before = self.content()
        with pytest.raises(UsageError, match="another command has begun it") as refused:
            command.run()
        assert "same command again" in refused.value.remedy
        assert self.content() == before


def interrupted(command: Scripted, *, after: int) -> None:
    """The command measures until this round."""
    command.until = after
    with pytest.raises(KeyboardInterrupt):
        command.run()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    without_resources(monkeypatch)
    return Scene(tmp_path)


def test_a_run_that_another_command_has_finished_meanwhile_is_left_as_it_is(scene: Scene) -> None:
    first, second = scene.chosen(2), scene.chosen(2)
    assert first.run().done == 4
    scene.refused(second)


def test_a_resumed_run_that_another_command_went_on_with_is_left_as_it_is(scene: Scene) -> None:
    interrupted(scene.chosen(3), after=1)
    first, second, third = (scene.chosen(3) for _ in range(3))
    interrupted(first, after=2)
    scene.refused(second)
    assert scene.chosen(3).run().done == 6
    scene.refused(third)


def test_a_run_that_another_command_has_extended_is_left_as_it_is(scene: Scene) -> None:
    scene.chosen(2).run()
    first, second = (scene.chosen(4, choose_extended) for _ in range(2))
    assert first.run().done == 8
    scene.refused(second)


def test_a_place_that_somebody_has_taken_meanwhile_is_theirs(scene: Scene) -> None:
    command = scene.chosen(2)
    (scene.runs / "small").mkdir(parents=True)
    (scene.runs / "small" / "thesis.tex").write_text("years of work")
    scene.refused(command)


def test_a_run_that_another_command_only_looked_at_goes_on(scene: Scene) -> None:
    interrupted(scene.chosen(2), after=1)
    first = scene.chosen(2)
    scene.chosen(2)
    assert first.run().done == 4
