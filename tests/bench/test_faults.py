"""The judge of the fault campaign finds each promise that is broken on purpose.

Of hosts over SSH it needs a name, a disk, and what runs there: `Host` is one that is a directory.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from bench.faults import __main__ as campaigns
from bench.faults import hosts, ours
from bench.faults.decoys import Decoys
from bench.faults.invariants import Invariants
from bench.faults.ours import Seen
from bench.faults.scene import Command, Engine, Scene
from bench.faults.strikes import Strike

from tare.records.hlog import read_hlog
from tests.synthetic_run import write_run

KILLED = Strike("kill", "native java", 0.0)
LOST = Strike("connection lost", "link down", 0.0, hides=ours.ON_HOSTS)
UNIT = "0a1b2c3d4e.r1/d1-native-1-k1-n1"
"""Files of a run of this machine on a host, below the host's directory of runs."""


@dataclass
class Host:
    """A host as the campaign sees it; its commands are run here."""

    files: Path
    name: str = "db1"
    inside: tuple[str, ...] = ()
    running: list[psutil.Process] = field(default_factory=list)

    def processes(self) -> list[psutil.Process]:
        return self.running


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else uses this machine: what another run or test has meanwhile is not seen."""
    everywhere = ours.processes

    def processes(variable: str = "TARE_RUN") -> dict[str, int]:
        own = {child.pid for child in psutil.Process().children()}
        return {name: pid for name, pid in everywhere(variable).items() if pid in own}

    monkeypatch.setattr(ours, "processes", processes)
    for kind in ("addresses", "rules", "mounts"):
        monkeypatch.setattr(ours, kind, set)
    monkeypatch.setattr(ours, "engine_items", dict)
    monkeypatch.setattr(ours, "TEMPORARY", ())
    monkeypatch.setattr(ours, "GROUPS", tmp_path / "groups")


@pytest.fixture
def invariants(tmp_path: Path) -> Iterator[Invariants]:
    """A run with finished trials, seen once, among the things of others."""
    yield from judged(Scene(tmp_path, engine=Engine()))


@pytest.fixture
def with_host(tmp_path: Path) -> Iterator[Invariants]:
    """The same with nodes on a host that others use too."""
    scene = Scene(tmp_path, engine=Engine())
    scene.hosts.append(Host(tmp_path / "db1"))  # type: ignore[arg-type] - all that is asked of one
    yield from judged(scene)


def judged(scene: Scene) -> Iterator[Invariants]:
    write_run(scene.runs / "r1", deployments=1, blocks=1)
    others = Decoys(scene.runs, engine=False, hosts=scene.hosts, cluster=scene.cluster)
    with others.standing() as decoys:
        judge = Invariants(scene, decoys, scene.ours())
        assert judge.after(ended(scene, "true"), [KILLED], Seen()) == []
        yield judge


def ended(scene: Scene, script: str) -> Command:
    """A command that has ended, as one of Tare's would have."""
    output = scene.root / "said.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(["sh", "-c", script], stdout=file, stderr=file)
        process.wait()
    return Command(process, output, "r1")


def found(judge: Invariants, script: str = "true") -> str:
    return "\n".join(judge.after(ended(judge.scene, script), [KILLED], Seen()))


def test_a_finished_trial_that_changes_by_one_byte(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    with (trial / "progress.jsonl").open("ab") as file:
        file.write(b" ")
    assert "is not as it was" in found(invariants)


def test_a_finished_trial_that_goes(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    trial.rename(trial.with_name(".gone"))
    assert "is not as it was: None" in found(invariants)


def test_operations_that_are_in_no_histogram(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["clients"][0]["ok"] += 1
    manifest["clients"][0]["operations"][0]["ok"] += 1
    more = trial.with_name("D9-B01-native")
    trial.rename(more)
    (more / "manifest.json").write_text(json.dumps(manifest))
    assert "latencies" in found(invariants)


@pytest.mark.parametrize(
    ("target", "share", "gap", "unseen"),
    [
        ("native java", 1.0, 0.0, False),
        ("native java", 2.0, 2.0, True),
        ("native tare-load", 2.0, 2.0, False),
        ("native tare-load", 2.0, 1.0, True),
    ],
)
def test_a_stop_inside_a_trial_is_in_its_longest_response_time(
    invariants: Invariants, target: str, share: float, gap: float, unseen: bool
) -> None:
    """Lengths are shares of the longest one in the record; a stopped client's gap shows it, too."""
    trial = invariants.scene.runs / next(n for n in invariants.trials if n.endswith("native"))
    manifest = json.loads((trial / "manifest.json").read_text())
    (client,) = manifest["clients"]
    log = read_hlog(trial / client["hlog"])
    logged = [part for tag, part in log.totals.items() if tag.endswith("-rt")]
    slowest_s = max(part.quantiles_us([100.0])[0] for part in logged) / 1e6
    client["longest_gap_s"] = gap * slowest_s
    (trial / "manifest.json").write_text(json.dumps(manifest))
    middle = (manifest["measure_start"] + manifest["measure_end"]) / 2
    stop = replace(KILLED, kind="stop", target=target, at=middle, seconds=share * slowest_s)
    invariants.trials.clear()
    said = invariants.after(ended(invariants.scene, "true"), [stop], Seen())
    assert ("stood still" in "\n".join(said)) == unseen
    assert invariants.stops_seen == 1


def test_a_journal_that_is_shorter(invariants: Invariants) -> None:
    journal = invariants.scene.runs / "r1" / "journal.jsonl"
    journal.write_text('{"event": "run begun"}\n')
    found(invariants)
    journal.write_text("")
    assert "the journal lost lines" in found(invariants)


def test_a_process_that_is_left(invariants: Invariants) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "TARE_RUN": "r1"}) as left:
        try:
            assert f"processes: sleep {left.pid}" in found(invariants)
        finally:
            left.kill()


def test_a_directory_that_is_left(invariants: Invariants) -> None:
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    assert "r1/work" in found(invariants)


def test_a_weighing_need_not_look_into_the_directories_of_runs(invariants: Invariants) -> None:
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    before = invariants.left()
    weighing = replace(ended(invariants.scene, "echo round 1 of 3: 7 ways"), name="")
    assert invariants.after(weighing, [], before) == []
    assert "r1/work" in "\n".join(invariants.after(weighing, [], Seen()))


def test_a_process_that_a_weighing_was_to_sweep_and_did_not(invariants: Invariants) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "TARE_RUN": "weigh"}) as left:
        try:
            before = invariants.left()
            killed = ended(invariants.scene, "echo round 1 of 3: 7 ways; kill -9 $$")
            strike = replace(KILLED, statuses=(-signal.SIGKILL,))
            said = invariants.after(replace(killed, name=""), [strike], before)
            assert f"not removed by this one: processes: sleep {left.pid}" in "\n".join(said)
            early = ended(invariants.scene, "kill -9 $$")
            assert invariants.after(replace(early, name=""), [strike], before) == []
        finally:
            left.kill()


@pytest.mark.parametrize("kind", ["engine killed", "engine silent"])
def test_an_engine_that_is_gone_excuses_only_what_it_holds(
    invariants: Invariants, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine holds containers, networks and volumes, but no working directory and no address."""
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    held = {what: {"tare-r1"} for what in ("containers", "networks", "volumes")}
    monkeypatch.setattr("bench.faults.ours.engine_items", lambda: held)
    monkeypatch.setattr("bench.faults.ours.addresses", lambda: {"198.18.0.1 lo:tare"})
    strike = replace(KILLED, kind=kind, target="engine")
    (said,) = invariants.after(ended(invariants.scene, "true"), [strike], Seen())
    assert "r1/work" in said
    assert "198.18.0.1" in said
    assert not any(f"{what}: " in said for what in held)


def test_what_the_last_clean_of_a_campaign_leaves(
    invariants: Invariants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.faults.scene.TARE", "true")  # says that it has cleaned
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    striker: Any = None
    campaign = campaigns.Campaign(invariants, striker, random.Random(1))  # noqa: S311 - nothing is drawn
    campaigns._clean_up(invariants.scene, campaign)
    (found,) = campaign.findings
    assert "left behind by tare clean" in str(found["finding"])
    assert "r1/work" in str(found["finding"])


def test_a_temporary_directory_of_somebody_else_that_goes(invariants: Invariants) -> None:
    (notes,) = Path(tempfile.gettempdir()).glob(f"tare-weigh@mine.{os.getpid()}/notes")
    notes.unlink()
    assert "notes: was" in found(invariants)


def test_a_file_of_somebody_else_that_goes(invariants: Invariants) -> None:
    (invariants.scene.runs / "mine" / "work" / "thesis.tex").unlink()
    assert "thesis.tex: was" in found(invariants)


@pytest.mark.parametrize("script", ["exit 2", "exit 130", "kill -9 $$"])
def test_an_exit_status_that_nothing_explains(invariants: Invariants, script: str) -> None:
    assert "exit status" in found(invariants, script)


@pytest.mark.parametrize(("target", "explained"), [("native java", True), ("nothing", False)])
def test_a_failure_is_explained_by_a_fault_that_was_done_to_something(
    invariants: Invariants, target: str, explained: bool
) -> None:
    failed = ended(invariants.scene, "exit 1")
    said = "\n".join(invariants.after(failed, [replace(KILLED, target=target)], Seen()))
    assert ("exit status 1" not in said) == explained
    assert "exit status 1" in "\n".join(invariants.after(failed, [], Seen()))


def test_a_traceback(invariants: Invariants) -> None:
    assert "a traceback" in found(invariants, "echo 'Traceback (most recent call last):'")


def test_a_command_heeds_a_hangup_though_the_campaign_runs_under_nohup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.faults.scene.TARE", "sleep")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = Scene(tmp_path, engine=Engine()).start("60")
    finally:
        signal.signal(signal.SIGHUP, before)
    while not Path(f"/proc/{command.process.pid}/cmdline").read_bytes().startswith(b"sleep"):
        assert command.process.poll() is None, command.said()  # env still becomes it
    command.process.send_signal(signal.SIGHUP)
    assert command.process.wait(10) == -signal.SIGHUP


def on_host(judge: Invariants, *parts: str) -> Path:
    """A directory of Tare's on the host."""
    made = judge.scene.hosts[0].files.joinpath("tare", *parts)
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize("parts", [("runs", UNIT), ("files", ".programs.0a1b2c3d4e.partial")])
def test_files_that_are_left_on_a_host(with_host: Invariants, parts: tuple[str, ...]) -> None:
    assert f"host files: {on_host(with_host, *parts)}" in found(with_host)


def test_a_process_that_is_left_on_a_host(with_host: Invariants) -> None:
    with subprocess.Popen(["sleep", "60"], env={hosts.MARK: "0a1b2c3d4e.r1"}) as left:
        try:
            assert f"host processes: sleep {left.pid}" in found(with_host)
        finally:
            left.kill()


def test_a_control_group_that_is_left_on_a_host(
    with_host: Invariants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "cgroup" / "freezer" / "tare-ssh" / "db1" / UNIT
    group.mkdir(parents=True)
    monkeypatch.setattr(ours, "GROUPS", tmp_path / "cgroup")
    assert "tare-ssh/db1/0a1b2c3d4e.r1" in found(with_host)


def test_what_is_left_on_a_host_is_excused_by_a_lost_connection_that_is_told(
    with_host: Invariants,
) -> None:
    on_host(with_host, "runs", UNIT)
    told = "echo something was left: db1 is not reached over SSH"
    scene = with_host.scene
    assert with_host.after(ended(scene, told), [LOST], Seen()) == []
    assert "host files" in "".join(with_host.after(ended(scene, "true"), [LOST], Seen()))
    assert "host files" in "".join(with_host.after(ended(scene, told), [KILLED], Seen()))


def deployed(judge: Invariants, script: str) -> Command:
    """A command that ended so, and had swept: a deployment of its own was begun."""
    command = replace(ended(judge.scene, script), events_before=len(judge.scene.journal("r1")))
    with (judge.scene.runs / "r1" / "journal.jsonl").open("a") as file:
        file.write('{"event": "deployment begun"}\n')
    return command


def test_what_the_next_command_was_to_remove_from_a_host_and_did_not(
    with_host: Invariants,
) -> None:
    on_host(with_host, "runs", UNIT)
    before = with_host.left()
    assert with_host.after(ended(with_host.scene, "true"), [], before) == []
    assert "host files" in "".join(with_host.after(deployed(with_host, "true"), [], before))


def test_a_process_on_a_host_that_a_killed_command_was_to_sweep_and_did_not(
    with_host: Invariants,
) -> None:
    with subprocess.Popen(["sleep", "60"], env={hosts.MARK: "0a1b2c3d4e.r1"}) as left:
        try:
            before = with_host.left()
            strike = replace(KILLED, statuses=(-signal.SIGKILL,))
            said = with_host.after(deployed(with_host, "kill -9 $$"), [strike], before)
            assert f"not removed by this one: host processes: sleep {left.pid}" in "".join(said)
        finally:
            left.kill()


@pytest.mark.parametrize("strike", ["stop", "connection lost"])
def test_a_stand_still_on_a_host_inside_a_trial_that_its_record_does_not_show(
    with_host: Invariants, strike: str
) -> None:
    trial = with_host.scene.runs / next(n for n in with_host.trials if n.endswith("native"))
    manifest = json.loads((trial / "manifest.json").read_text())
    for unit in manifest["units"]:
        unit["machine"] = "db1"
    (trial / "manifest.json").write_text(json.dumps(manifest))
    middle = (manifest["measure_start"] + manifest["measure_end"]) / 2
    of_it = {"stop": manifest["deployment"].lower(), "connection lost": "db1"}[strike]

    def said(*subjects: str) -> str:
        done = Strike(strike, "", middle, 0.4, subjects=frozenset(subjects))
        with_host.trials.clear()
        return "".join(with_host.after(ended(with_host.scene, "true"), [done], Seen()))

    assert "stood still 0.4 s" in said(of_it)
    assert said("d9-native-9", "db9") == ""


def test_a_file_of_another_machine_on_a_host_that_goes(with_host: Invariants) -> None:
    (rows,) = with_host.scene.hosts[0].files.glob(f"tare/runs/{hosts.ANOTHERS}/*/data/rows")
    rows.unlink()
    assert "rows: was" in found(with_host)


def test_a_process_of_another_machine_on_a_host_that_is_killed(with_host: Invariants) -> None:
    (pid,) = [
        pid
        for pid in ours.processes(hosts.MARK).values()
        if psutil.Process(pid).ppid() == os.getpid()
    ]
    os.kill(pid, signal.SIGKILL)
    while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert "process sleep on db1: was runs, is zombie" in found(with_host)


def test_what_is_struck_on_a_host_is_of_the_run_and_never_of_another_machine(
    tmp_path: Path,
) -> None:
    marks = ("0a1b2c3d4e.r1", hosts.ANOTHERS)
    started = [subprocess.Popen(["sleep", "60"], env={hosts.MARK: mark}) for mark in marks]
    try:
        host = Host(tmp_path, running=[psutil.Process(one.pid) for one in started])
        assert hosts.of_run(host) == {"sleep on a host": [started[0].pid]}  # type: ignore[arg-type]
    finally:
        for one in started:
            one.kill()
            one.wait()


class Namespaces:
    """A cluster with these namespaces, by name to their uid."""

    def __init__(self) -> None:
        self.there: dict[str, str] = {}

    def make_decoys(self) -> None:
        self.there["tare-r0"] = "1"

    def remove_decoys(self) -> None:
        self.there.clear()

    def decoys(self) -> dict[str, str]:
        return {f"namespace {name}": uid for name, uid in self.there.items() if name == "tare-r0"}

    def namespaces(self) -> set[str]:
        return {f"{name} {uid}" for name, uid in self.there.items()}


def test_namespaces_that_are_left_in_a_cluster_and_of_others_that_go(tmp_path: Path) -> None:
    cluster = Namespaces()
    scene = Scene(tmp_path, engine=Engine(), cluster=cluster)  # type: ignore[arg-type]
    for judge in judged(scene):
        cluster.there["tare-r1"] = "2"
        assert "namespaces: tare-r1 2" in found(judge)
        told = ended(scene, "echo something was left: the cluster does not answer")
        silent = replace(LOST, kind="API server silent", hides=frozenset({"namespaces"}))
        assert judge.after(told, [silent], Seen()) == []
        del cluster.there["tare-r0"]
        assert "namespace tare-r0: was 1, is gone" in found(judge)
