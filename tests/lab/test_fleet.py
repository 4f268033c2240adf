"""Which deployments live, rest and end, as the study's `fresh` and `idle` declare it.

The deployments here are scripted: they note what is asked of them. Real ones are under
tests/integration.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import ClusterError, DiskFullError, TareError
from tare.lab.directory import choose
from tare.lab.fleet import Fleet
from tare.lab.journal import Journal
from tare.lab.progress import Silent
from tare.study.plan import Plan, PlannedTrial, make_plan
from tare.study.schema import Setup, Study

STUDY: dict[str, Any] = {
    "study": "fleet",
    "factors": {
        "platform": {"native": {}, "docker": {"platform": {"runtime": "docker"}}},
        "threads": {"few": {"load": {"threads": 4}}, "many": {"load": {"threads": 64}}},
    },
    "baseline": {"platform": "native"},
}


class Scripted:
    """Notes each call; fails where its name is in `failing`."""

    calls: list[str]
    kinds: dict[str, list[int]]
    started: list[str]
    failing: dict[str, Exception]

    def __init__(self, identity: str, kinds: Sequence[Setup], *_: Any, **__: Any) -> None:
        self.identity, self.description, self.warm_up = identity, {}, None
        self.kinds[identity] = [setup.load.threads for setup in kinds]

    def _note(self, what: str) -> None:
        call = f"{what} {self.identity}"
        self.calls.append(call)
        for known in (what, call):
            if known in self.failing:
                raise self.failing[known]

    def start_from(self, snapshot: str | None, why_not: str) -> None:
        """Nothing is started here, only noted."""
        self.started.append(f"{self.identity} from {snapshot or why_not}")

    def load_from(self, archive: str | None, why_not: str) -> None:
        self.started[-1] += f", {archive or why_not}"

    def begin(self) -> None:
        self._note("begin")

    def deploy(self) -> None:
        self._note("deploy")

    def populate(self, seed: int) -> None:
        self._note("populate")

    def warm(self, seed: int) -> None:
        self._note("warm")

    def pause(self) -> None:
        self._note("pause")

    def resume(self) -> None:
        self._note("resume")

    def collect_logs(self, into: Path) -> None:
        self._note("logs")

    def destroy(self) -> list[TareError]:
        self._note("destroy")
        return []


class Scene:
    """A fleet of scripted deployments over a plan."""

    def __init__(self, root: Path, levels: dict[str, Any] | None = None, **design: Any) -> None:
        document = {**STUDY, "design": {"blocks": 1, "deployments": 1, **design}}
        if levels is not None:
            document["factors"] = STUDY["factors"] | {"platform": levels}
        study = Study.model_validate(document)
        self.plan: Plan = make_plan(study)
        directory = choose(root, study, None)
        directory.files.trials.mkdir(parents=True)
        directory.work.mkdir()
        self.calls: list[str] = []
        self.failing: dict[str, Exception] = {}
        self.kinds: dict[str, list[int]] = {}
        self.started: list[str] = []
        scripted = {
            "calls": self.calls,
            "failing": self.failing,
            "kinds": self.kinds,
            "started": self.started,
        }
        script = type("Script", (Scripted,), scripted)
        self.fleet = Fleet(
            self.plan.rounds[0],
            self.plan,
            SimpleNamespace(engine_directory=None),  # all that it asks of the resources
            Journal(directory.files.journal),
            Silent(),
            directory,
            SimpleNamespace(of=lambda setup: ("the snapshot", "")),
            SimpleNamespace(of=lambda setup: ("the archive", "")),
            script,
        )

    def trial(self, condition: str) -> PlannedTrial:
        return next(t for t in self.plan.trials if t.condition == condition)

    def since(self) -> list[str]:
        """The requests since the last call."""
        told = list(self.calls)
        self.calls.clear()
        return told


def test_a_cluster_of_a_single_trial_is_made_for_that_trials_load(tmp_path: Path) -> None:
    scene = Scene(tmp_path, fresh="trial")
    scene.fleet.take(scene.trial("native.many"))
    assert scene.kinds == {"D1-native-1": [64]}


def test_a_cluster_of_several_trials_is_made_for_every_kind_of_their_loads(tmp_path: Path) -> None:
    scene = Scene(tmp_path, fresh="deployment")
    scene.fleet.take(scene.trial("native.many"))
    # few and many threads do the same operations: one kind
    assert scene.kinds == {"D1-native-1": [4]}


def test_a_deployment_is_made_when_a_trial_first_needs_it_and_serves_its_load_levels(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path)
    scene.fleet.take(scene.trial("native.few"))
    steps = ["begin", "deploy", "resume", "populate", "warm"]
    assert scene.since() == [f"{step} D1-native-1" for step in steps]
    scene.fleet.take(scene.trial("native.many"))
    assert scene.since() == []


def test_the_others_rest_while_one_is_measured(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.fleet.take(scene.trial("native.few"))
    scene.since()
    scene.fleet.take(scene.trial("docker.few"))
    assert scene.since()[0] == "pause D1-native-1"


def test_they_go_on_where_the_study_says_so(tmp_path: Path) -> None:
    scene = Scene(tmp_path, idle="run")
    scene.fleet.take(scene.trial("native.few"))
    scene.fleet.take(scene.trial("docker.few"))
    assert not [call for call in scene.since() if call.startswith("pause")]


@pytest.mark.parametrize(
    ("fresh", "more", "ended"),
    [
        ("trial", True, True),
        ("block", True, False),
        ("block", False, True),
        ("deployment", False, False),
    ],
)
def test_a_cluster_lives_as_long_as_declared(
    tmp_path: Path, fresh: str, more: bool, ended: bool
) -> None:
    scene = Scene(tmp_path, fresh=fresh)
    trial, next_one = scene.trial("native.few"), scene.trial("native.many")
    scene.fleet.take(trial)
    scene.since()
    scene.fleet.after_trial(trial, more=[next_one] if more else [])
    assert ("destroy D1-native-1" in scene.since()) is ended


def test_a_deployment_on_which_a_trial_failed_is_replaced(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    trial = scene.trial("native.few")
    scene.fleet.take(trial)
    scene.fleet.distrust(trial)
    assert scene.since()[-2:] == ["logs D1-native-1", "destroy D1-native-1"]
    scene.fleet.take(trial)
    assert scene.since()[0] == "begin D1-native-2"


def test_every_life_of_a_deployment_starts_from_snapshot_and_archive(tmp_path: Path) -> None:
    scene = Scene(tmp_path, fresh="block")
    trial = scene.trial("native.few")
    for _ in range(2):
        scene.fleet.take(trial)
        scene.fleet.after_trial(trial, more=[])
    how = "from the snapshot, the archive"
    assert scene.started == [f"D1-native-1 {how}", f"D1-native-2 {how}"]


@pytest.mark.parametrize("step", ["begin", "deploy", "populate", "warm"])
def test_one_that_cannot_be_made_leaves_nothing(tmp_path: Path, step: str) -> None:
    scene = Scene(tmp_path)
    scene.failing[step] = ClusterError("no")
    with pytest.raises(ClusterError):
        scene.fleet.take(scene.trial("native.few"))
    assert scene.since()[-1] == "destroy D1-native-1"


def test_the_round_goes_on_without_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.failing["warm"] = ClusterError("no")
    scene.fleet.raise_all(["native", "docker"])
    assert [c for c in scene.since() if c.startswith("destroy")] == [
        "destroy D1-native-1",
        "destroy D1-docker-1",
    ]


def test_servers_of_a_round_start_together_and_are_warmed_in_turn(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.fleet.raise_all(["docker", "native"])
    docker, native = "D1-docker-1", "D1-native-1"
    assert scene.since() == [
        *(f"begin {one}" for one in (docker, native)),
        *(f"{step} {one}" for one in (docker, native) for step in ("deploy", "pause")),
        *(
            f"{step} {one}"
            for one in (docker, native)
            for step in ("resume", "populate", "warm", "pause")
        ),
    ]


def test_servers_of_other_machines_start_one_after_another(tmp_path: Path) -> None:
    scene = Scene(tmp_path, levels={"native": {}, "hosts": {"platform": {"machines": "ssh"}}})
    scene.fleet.raise_all(["hosts", "native"])
    steps = [call for call in scene.since() if call.split()[0] in ("begin", "deploy", "warm")]
    assert steps == [
        "begin D1-native-1",
        "deploy D1-native-1",
        *(f"{step} D1-hosts-1" for step in ("begin", "deploy", "warm")),
        "warm D1-native-1",
    ]


@pytest.mark.parametrize("step", ["begin", "deploy"])
def test_one_that_does_not_start_is_not_warmed(tmp_path: Path, step: str) -> None:
    scene = Scene(tmp_path)
    scene.failing[f"{step} D1-native-1"] = ClusterError("no")
    scene.fleet.raise_all(["native", "docker"])
    told = scene.since()
    assert [call for call in told if call.startswith("warm")] == ["warm D1-docker-1"]
    assert "destroy D1-native-1" in told


def test_without_room_for_a_cluster_the_run_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path)

    def full(*_: object) -> None:
        raise DiskFullError("No space left on device for the next cluster")

    monkeypatch.setattr("tare.lab.fleet.refuse_full_disk", full)
    with pytest.raises(DiskFullError):
        scene.fleet.raise_all(["native", "docker"])
    assert scene.since() == []


def test_logs_that_cannot_be_written_keep_no_cluster_alive(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.fleet.take(scene.trial("native.few"))
    scene.failing["logs"] = OSError(28, "No space left on device")
    scene.fleet.lower_all()
    assert scene.since()[-1] == "destroy D1-native-1"
