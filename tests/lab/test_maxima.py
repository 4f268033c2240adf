"""Maxima are searched once per run, on the condition that the study names, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tare.errors import LoadError
from tare.lab.journal import Journal
from tare.lab.maxima import Maxima
from tare.lab.progress import Silent
from tare.study.plan import Plan, make_plan
from tare.study.schema import Setup, Study
from tests.load.test_maximum import EVENT


def plan(of: str) -> Plan:
    return make_plan(
        Study.model_validate(
            {
                "study": "shares",
                "load": {"search": {"of": of}},
                "factors": {
                    "load": {"full": {"load.threads": "max"}, "66": {"load.threads": "66% of max"}},
                    "runs": {"native": {}, "docker": {"platform": {"runtime": "docker"}}},
                },
                "baseline": {"load": "full", "runs": "native"},
            }
        )
    )


class Scripted:
    """A deployment whose search answers at once; it notes the requests."""

    identity = "D1-native-1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.sent: list[Setup] = []

    def resume(self) -> None: ...
    def check_alive(self) -> None: ...
    def discard(self, clients: Any) -> None: ...

    def searcher(self, setup: Any, words: tuple[str, ...]) -> Any:
        self.asked.append(words)
        return object()

    def launch_search(self, client: Any, setup: Any, seed: int) -> None:
        self.sent.append(setup)


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    monkeypatch.setattr("tare.lab.maxima.search", lambda *_: EVENT)
    return Scripted()


def maxima(of: str, tmp_path: Path) -> Maxima:
    return Maxima(plan(of), tmp_path / "maxima.json", Journal(tmp_path / "journal.jsonl"), Silent())


def test_each_condition_has_a_maximum_of_its_own_unless_the_baselines_is_asked_for(
    tmp_path: Path,
) -> None:
    own, base = maxima("condition", tmp_path), maxima("baseline", tmp_path)
    condition = plan("condition").condition("66.docker")
    assert (found := own.missing(condition)) is not None
    assert found.name == "full.docker"  # which differs in its share alone
    condition = plan("baseline").condition("66.docker")
    assert (found := base.missing(condition)) is not None
    assert found.name == "full.native"


def test_what_was_found_becomes_the_trials_threads_with_a_note(
    tmp_path: Path, deployment: Scripted
) -> None:
    made = maxima("baseline", tmp_path)
    condition = plan("baseline").condition("66.docker")
    reference = made.missing(condition)
    assert reference is not None
    made.find(condition, reference, deployment)  # type: ignore[arg-type]  # scripted
    assert made.missing(condition) is None
    settled, note = made.settle(condition)
    assert settled.setup.load.threads == 21
    assert settled.setup.platform.runtime == "docker"
    assert note.startswith("load.threads: 66% of the maximum of full.native is 21 threads")
    assert deployment.asked[0][-4:] == ("--fraction", "0.66", "--fraction", "1")


def test_the_baselines_maximum_is_that_of_its_own_workload_whoever_asks_first(
    tmp_path: Path, deployment: Scripted
) -> None:
    made = make_plan(
        Study.model_validate(
            {
                "study": "shares",
                "load": {"search": {"of": "baseline"}, "threads": "max"},
                "factors": {
                    "workload": {
                        "write": {"load.workload": "stress-write"},
                        "mixed": {"load": {"workload": "stress-mixed", "mix": {"read": 3}}},
                    }
                },
                "baseline": {"workload": "write"},
            }
        )
    )
    found = Maxima(made, tmp_path / "m.json", Journal(tmp_path / "j.jsonl"), Silent())
    condition = made.condition("mixed")
    reference = found.missing(condition)
    assert reference is not None
    found.find(condition, reference, deployment)  # type: ignore[arg-type]  # scripted
    assert [one.load.workload for one in deployment.sent] == ["stress-write"]
    assert deployment.sent[0].load.threads == "max"


def test_a_resumed_run_has_the_same_loads(tmp_path: Path, deployment: Scripted) -> None:
    condition = plan("condition").condition("66.native")
    first = maxima("condition", tmp_path)
    reference = first.missing(condition)
    assert reference is not None
    first.find(condition, reference, deployment)  # type: ignore[arg-type]  # scripted
    again = maxima("condition", tmp_path)
    assert again.missing(condition) is None
    assert again.settle(condition) == first.settle(condition)


def test_a_load_that_is_a_number_is_left_as_it_is(tmp_path: Path) -> None:
    condition = make_plan(Study(study="plain")).conditions[0]
    made = maxima("condition", tmp_path)
    assert made.missing(condition) is None
    assert made.settle(condition) == (condition, "")


def test_a_share_of_what_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="has not been found"):
        maxima("condition", tmp_path).settle(plan("condition").condition("66.native"))


def test_a_search_that_failed_is_not_repeated_for_every_trial(
    tmp_path: Path, deployment: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = EVENT | {"verdict": "client_limit", "reasons": ["busy"]}
    monkeypatch.setattr("tare.lab.maxima.search", lambda *_: busy)
    made = maxima("baseline", tmp_path)
    condition = plan("baseline").condition("66.docker")
    reference = made.missing(condition)
    assert reference is not None
    with pytest.raises(LoadError, match="client was the limit"):
        made.find(condition, reference, deployment)  # type: ignore[arg-type]  # scripted
    assert made.missing(condition) is None
    with pytest.raises(LoadError, match="client was the limit"):
        made.settle(condition)
