"""A signal does not cut cleaning short: cleaning finishes, then the interruption comes."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tare.cli import signals
from tare.errors import TareError
from tare.lab import clean, run_resources
from tare.lab import run as lab_run
from tare.lab.directory import choose
from tare.lab.progress import Silent
from tare.lab.run import Lab
from tare.lab.run_resources import RunResources
from tare.lab.undisturbed import undisturbed
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.lab.scripted_lab import TEXT, NoResources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tare.lab.directory import RunDirectory
    from tare.study.plan import Round


class Closed(NoResources):
    """Ctrl-C comes while these are closed."""

    interrupts = True
    closed = False

    def close(self) -> list[Any]:
        if self.interrupts:
            signal.raise_signal(signal.SIGINT)
        self.closed = True
        return []


class Scene:
    """One session of a run whose rounds do nothing."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.resources = Closed()
        self.swept: list[str] = []
        self.source = tmp_path / "small.yaml"
        self.source.write_text(TEXT)
        self.plan = make_plan(load_study(self.source))
        self.directory: RunDirectory = choose(tmp_path / "runs", self.plan.study, None)
        monkeypatch.setattr(lab_run, "prepare", lambda *_: self.resources)
        monkeypatch.setattr(lab_run, "RunLock", lambda *_: memoryview(b""))
        monkeypatch.setattr(Lab, "_sweep", lambda lab, why: self.swept.append(why))
        monkeypatch.setattr(Lab, "_round", self._round)

    def _round(self, turn: Round, resources: Any) -> None:
        assert self.directory.work.exists()

    def run(self) -> None:
        Lab(self.plan, self.directory, self.source, Silent()).run()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)


SWEPT = ["removing what a dead run left", "removing what could not be stopped"]


def test_a_first_interruption_of_the_last_cleaning_comes_after_it(scene: Scene) -> None:
    with pytest.raises(KeyboardInterrupt):
        scene.run()
    assert scene.resources.closed
    assert not scene.directory.work.exists()
    assert scene.swept == SWEPT


def test_the_last_cleaning_goes_on_where_closing_fails_as_nobody_foresaw(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[Any]:
        raise ValueError("no JSON")

    monkeypatch.setattr(scene.resources, "close", broken)
    with pytest.raises(ValueError, match="no JSON"):
        scene.run()
    assert not scene.directory.work.exists()
    assert scene.swept == SWEPT


def test_what_was_prepared_is_closed_where_the_run_cannot_be_begun(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lab_run, "begin", full)
    scene.resources.interrupts = False
    with pytest.raises(OSError, match="No space left"):
        scene.run()
    assert scene.resources.closed
    assert scene.swept == SWEPT


def test_what_was_half_prepared_when_the_run_was_interrupted_is_swept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:  # as while Cassandra's files are brought to a host
        raise KeyboardInterrupt

    monkeypatch.setattr(lab_run, "prepare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scene.run()
    assert scene.swept == SWEPT


def test_what_could_not_be_prepared_is_closed_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unprepared(*_: Any) -> None:
        raise TareError("an image cannot be had")

    resources = Closed()
    monkeypatch.setattr(run_resources, "runtimes_for", lambda *_: {})
    monkeypatch.setattr(run_resources, "_provide", unprepared)
    monkeypatch.setattr(RunResources, "close", lambda _: resources.close())
    with pytest.raises(KeyboardInterrupt):
        run_resources.prepare("run", tmp_path / "work", [], print)
    assert resources.closed


def test_the_last_sweep_of_a_weighing_is_not_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def find(*_: Any, **__: Any) -> clean.Leftovers:
        if done:
            signal.raise_signal(signal.SIGINT)
        return clean.Leftovers()

    def remove(found: clean.Leftovers) -> list[TareError]:
        done.append("removed")
        return []

    monkeypatch.setattr(clean, "find", find)
    monkeypatch.setattr(clean, "remove", remove)
    with pytest.raises(KeyboardInterrupt), clean.swept(print):
        done.append("weighed")
    assert done == ["removed", "weighed", "removed"]


def test_removing_what_dead_runs_left_is_not_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "left"
    place.mkdir()
    monkeypatch.setattr(
        "tare.lab.clean.addresses.remove", lambda _: signal.raise_signal(signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):
        clean.remove(clean.Leftovers(temporary=[place]))
    assert not place.exists()


@pytest.fixture
def taken_over() -> Iterator[None]:
    """Signals are handled as in a command."""
    before = {number: signal.getsignal(number) for number in signals.ENDING}
    signals.take_over()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", signals.ENDING)
def test_a_command_s_handlers_do_all_else_at_once(
    taken_over: None, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    signal.signal(number, signals._first)  # a hangup may be ignored here, as under nohup
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), undisturbed():
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
        done.append("to the end")
    assert done == ["to the end"]
    assert "still stopping" in capfd.readouterr().err
    signal.raise_signal(number)  # interrupts no more


def test_without_a_signal_handlers_are_as_they_were(taken_over: None) -> None:
    before = {number: signal.getsignal(number) for number in signals.ENDING}
    with undisturbed():
        pass
    assert {number: signal.getsignal(number) for number in signals.ENDING} == before
