"""The judge of the campaign of faults: each promise that is broken on purpose is found."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.faults import __main__ as campaigns
from bench.faults import ours
from bench.faults.decoys import Decoys
from bench.faults.invariants import Invariants
from bench.faults.ours import Seen
from bench.faults.scene import Command, Engine, Scene
from bench.faults.strikes import Strike

from tare.records.hlog import read_hlog
from tests.synthetic_run import write_run

KILLED = Strike("kill", "native java", 0.0)


@pytest.fixture
def invariants(tmp_path: Path) -> Iterator[Invariants]:
    """A run with finished trials, seen once, among the things of others."""
    scene = Scene(tmp_path, engine=Engine())
    write_run(scene.runs / "r1", deployments=1, blocks=1)
    with Decoys(scene.runs, engine=False).standing() as decoys:
        judge = Invariants(scene, decoys, ours.see(scene.runs))
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
    """Its containers, networks and volumes; neither a working directory nor an address."""
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
