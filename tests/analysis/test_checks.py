"""What makes a result doubtful or invalid, seen through whole runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.records.manifest import HIDDEN
from tests.analysis.checked import check
from tests.synthetic_run import QUICKSTART, docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis

TWO = {"native": Truth(), "docker": QUICKSTART["docker-bridge"]}


def run(tmp_path: Path, **scene: Any) -> Path:
    small: dict[str, Any] = {"effects": TWO, "blocks": 2, "measure_s": 2, "seed": 3}
    return write_run(tmp_path / "r", **(small | scene))


def test_a_clean_run_has_nothing_to_complain_of(quickstart: Analysis) -> None:
    assert {c.status for c in quickstart.checks} == {"ok"}
    assert quickstart.valid


def test_the_gravest_come_first(tmp_path: Path) -> None:
    analysis = analyse(
        run(tmp_path, flat=False, errors={"D1-B01-native": 5000}, notes={"D1-B01-docker": "x"})
    )
    statuses = [c.status for c in analysis.checks]
    assert statuses == sorted(statuses, key=["invalid", "warning", "ok"].index)
    assert statuses[0] == "invalid"
    assert not analysis.valid


@pytest.mark.parametrize(("errors", "status"), [(1, "ok"), (30, "warning"), (500, "invalid")])
def test_failed_operations(tmp_path: Path, errors: int, status: str) -> None:
    found = check(analyse(run(tmp_path, errors={"D1-B01-native": errors})), "errors")
    assert found.status == status
    assert any("D1-B01-native" in line for line in found.details)
    assert f"timeout: {errors} in all" in found.details


def test_a_failed_trial_is_named_with_its_reason(tmp_path: Path) -> None:
    analysis = analyse(run(tmp_path, failed=["D2-B01-native"]))
    found = check(analysis, "trials")
    assert (found.status, analysis.valid) == ("warning", True)
    assert found.summary == "1 of 12 planned trials without a result"
    assert found.details == ["D2-B01-native: the cluster did not answer within 60 s"]
    (base, _) = analysis.conditions
    assert (base.trials, base.failed) == (5, 1)


def test_a_trial_without_record_is_missed(tmp_path: Path) -> None:
    root = run(tmp_path)
    (root / "trials" / "D2-B01-native").rename(root / "D2-B01-native")
    found = check(analyse(root), "trials")
    assert found.details == ["native, round 2, block 1: no record"]


def test_a_stand_in_makes_the_run_invalid_and_is_named(tmp_path: Path) -> None:
    root = run(tmp_path)
    for path in (root / "trials").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        manifest["database"]["stand_in"] = "FerretDB (a functional stand-in)"
        path.write_text(json.dumps(manifest))
    analysis = analyse(root)
    assert not analysis.valid
    found = check(analysis, "stand-in")
    assert found.status == "invalid"
    assert found.summary.startswith("FerretDB (a functional stand-in) was measured")


def test_a_comparison_without_result_makes_the_run_invalid(tmp_path: Path) -> None:
    analysis = analyse(run(tmp_path, deployments=1, blocks=1))
    assert not analysis.valid
    assert analysis.effects == []
    assert "docker against native" in check(analysis, "trials").details[0]


def test_a_run_without_any_result_says_only_that(tmp_path: Path) -> None:
    names = [f"D1-B01-{name}" for name in TWO]
    analysis = analyse(run(tmp_path, deployments=1, blocks=1, failed=names))
    assert [(c.name, c.status) for c in analysis.checks] == [
        ("trials", "invalid"),
        ("records", "ok"),
    ]
    assert analysis.checks[0].summary == "no trial gave a result"


def test_damaged_records_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    root = run(tmp_path)
    trials = root / "trials"
    (trials / "D1-B01-native" / "manifest.json").write_text("{")
    hlog = trials / "D1-B02-native" / "latency-c1.hlog"
    hlog.write_text("\n".join(hlog.read_text().splitlines()[:6]))
    (trials / "D1-B02-docker" / "samples.parquet").unlink()
    analysis = analyse(root)
    found = check(analysis, "records")
    assert found.status == "warning"
    assert found.summary == "3 trials with damaged records"
    text = "\n".join(found.details)
    assert "D1-B01-native: manifest.json: Invalid JSON" in text
    assert "D1-B02-native: the histograms hold" in text
    assert "D1-B02-docker: a record is damaged: samples.parquet is missing" in text
    (cut,) = (t for t in analysis.trials if t.trial == "D1-B02-native")
    assert "throughput" in cut.values
    assert "all.p99" not in cut.values


def test_the_client_as_the_limit(tmp_path: Path) -> None:
    some = check(analyse(run(tmp_path / "a", saturated=["D1-B01-native"])), "client")
    assert some.status == "warning"
    assert some.details == ["D1-B01-native, c1: a worker thread used 99% of a core"]
    names = [f"D{r}-B0{b}-native" for r in (1, 2, 3) for b in (1, 2)]
    assert check(analyse(run(tmp_path / "b", saturated=names)), "client").status == "invalid"


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("send_lateness_p99_us", 900.0, "ok"),
        ("send_lateness_p99_us", 4_000.0, "warning"),
        ("send_lateness_p99_us", 80_000.0, "invalid"),
        ("rate_error", -0.1, "warning"),
    ],
)
def test_operations_sent_late(tmp_path: Path, field: str, value: float, status: str) -> None:
    root = run(tmp_path, rate=4000.0)
    change(root, "D1-B01-native", lambda record: record["clients"][0].update({field: value}))
    assert check(analyse(root), "open loop").status == status


def test_closed_loop_has_no_open_loop_check(tmp_path: Path) -> None:
    assert "open loop" not in {c.name for c in analyse(run(tmp_path)).checks}


def test_a_warm_up_that_never_became_flat(tmp_path: Path) -> None:
    found = check(analyse(run(tmp_path, flat=False)), "warm-up")
    assert found.status == "warning"
    assert "D1-native: still changing by 49% after 60 s" in found.details


def test_a_gentle_warm_up_alone_is_told_and_has_nothing_to_be_flat(tmp_path: Path) -> None:
    root = run(tmp_path)
    for place in sorted((root / "trials").iterdir()):
        change(root, place.name, lambda record: record["warm_up"].update(flat=None, windows=[]))
    analysis = analyse(root)
    found = check(analysis, "warm-up")
    assert found.status == "ok"
    assert "warmed up under a gentle load only" in found.summary
    assert {trial.warm for trial in analysis.trials} == {None}


def test_deployments_that_drift_over_their_blocks(tmp_path: Path) -> None:
    analysis = analyse(run(tmp_path, blocks=5, drift=0.05, within=0.01))
    found = check(analysis, "steady")
    assert found.status == "warning"
    assert found.details[0].startswith("native: throughput changes by 2")


def test_a_change_that_all_conditions_share_is_seen_where_none_alone_has_blocks_enough(
    tmp_path: Path,
) -> None:
    names = {name: Truth() for name in ("native", "docker", "bridge", "layer")}
    drifting = check(analyse(run(tmp_path / "a", effects=names, blocks=3, drift=0.2)), "steady")
    assert drifting.status == "warning"
    assert "all conditions together still changing over the blocks" in drifting.summary
    assert drifting.details[0].startswith("all conditions together: throughput changes by ")
    flat = check(analyse(run(tmp_path / "b", effects=names, blocks=3)), "steady")
    assert flat.status == "ok"


def test_a_round_served_by_two_lives_of_a_cluster(tmp_path: Path) -> None:
    root = run(tmp_path)
    change(root, "D2-B02-docker", lambda record: record.update(deployment="D2-docker-2"))
    found = check(analyse(root), "rounds")
    assert found.status == "warning"
    assert found.details == ["round 2, docker: D2-docker, D2-docker-2"]


@pytest.mark.parametrize(("deployments", "status"), [(1, "warning"), (2, "warning"), (3, "ok")])
def test_few_deployments(tmp_path: Path, deployments: int, status: str) -> None:
    analysis = analyse(run(tmp_path, deployments=deployments))
    assert check(analysis, "deployments").status == status


def test_one_metric_of_one_deployment_is_named_and_the_others_are_not(tmp_path: Path) -> None:
    """As when a run is resumed where the server's CPU time can no longer be read."""
    root = run(tmp_path, deployments=3)
    for trial in (root / "trials").iterdir():
        if not trial.name.startswith("D1-"):
            change(root, trial.name, lambda record: record.update(server_cpu_s=0.0))
    analysis = analyse(root)
    conditional = {effect.metric for effect in analysis.effects if effect.conditional}
    assert conditional == {"cpu.server_per_op"}
    said = check(analysis, "deployments").summary
    named, _, consequence = said.partition(": ")
    assert named == "one deployment per condition in cpu.server_per_op"
    assert "no verdict" in consequence


def test_noise_above_the_margin_is_said_first(tmp_path: Path) -> None:
    truths = {"native": Truth(), "native-again": Truth()}
    analysis = analyse(run(tmp_path, effects=truths, within=0.1))
    assert analysis.checks[0].name == "noise floor"
    assert analysis.checks[0].status == "warning"
    assert "identical setups differed in" in analysis.checks[0].summary
    assert "99th percentile latency" in analysis.checks[0].summary


def test_identical_conditions_that_differ_are_told(tmp_path: Path) -> None:
    truths = {"native": Truth(), "native-again": Truth(throughput=0.7), "docker": TWO["docker"]}
    analysis = analyse(run(tmp_path, effects=truths, within=0.005, between=0.005))
    assert check(analysis, "identical conditions").status == "invalid"
    assert not analysis.valid


def test_differences_that_the_study_varies_are_expected(tmp_path: Path) -> None:
    layer = Truth(patch=docker("host", "layer"))
    analysis = analyse(run(tmp_path, effects={"native": Truth(), "layer": layer}))
    (difference,) = analysis.parity
    assert (difference.fact, difference.expected) == ("file system", True)
    assert difference.values == {"ext4": ["native"], "overlay": ["layer"]}
    assert check(analysis, "parity").status == "ok"


def test_differences_that_nobody_asked_for(tmp_path: Path) -> None:
    odd = replace(TWO["docker"], parity={"open files": "1024", "heap": "1024 MiB"})
    analysis = analyse(run(tmp_path, effects={"native": Truth(), "docker": odd}))
    assert {d.fact: d.expected for d in analysis.parity} == {"open files": False, "heap": False}
    found = check(analysis, "parity")
    assert found.status == "warning"
    assert "open files (unexpected): 100000: native; 1024: docker" in found.details


def test_what_a_sandbox_hides_is_told_and_is_no_difference(tmp_path: Path) -> None:
    hidden = replace(TWO["docker"], parity={"open files": HIDDEN})
    analysis = analyse(run(tmp_path, effects={"native": Truth(), "docker": hidden}))
    assert {d.fact: d.expected for d in analysis.parity} == {"open files": True}
    found = check(analysis, "parity")
    assert found.status == "ok"
    assert any(HIDDEN in line for line in found.details)


def test_other_bits_are_another_database(tmp_path: Path) -> None:
    other = replace(TWO["docker"], bits="sha256:" + "00" * 32)
    found = check(
        analyse(run(tmp_path, effects={"native": Truth(), "docker": other})), "same files"
    )
    assert found.status == "warning"
    assert any("docker: image sha256:cdcd" in line for line in found.details)


def test_what_the_lab_noted_is_passed_on(tmp_path: Path) -> None:
    note = "no control group: CPU counted by process"
    found = check(analyse(run(tmp_path, notes={"D1-B01-docker": note})), "notes")
    assert found.details == [f"{note} (D1-B01-docker)"]


def test_a_heavy_observer(tmp_path: Path) -> None:
    root = run(tmp_path)
    change(root, "D1-B01-native", lambda record: record.update(probe_cpu_s=1.0))
    found = check(analyse(root), "observer")
    assert (found.status, found.summary) == ("warning", "the sampler used up to 50% of a core")


def test_where_no_sampler_ran_it_is_said(tmp_path: Path) -> None:
    root = run(tmp_path)
    for trial in root.glob("trials/*"):
        change(root, trial.name, lambda record: record.update(probe_cpu_s=0.0))
    found = check(analyse(root), "observer")
    assert (found.status, found.summary) == ("ok", "no sampler ran while trials were measured")


def change(root: Path, trial: str, edit: Any) -> None:
    path = root / "trials" / trial / "manifest.json"
    record = json.loads(path.read_text())
    edit(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(("share", "status"), [(0.02, "ok"), (0.35, "warning")])
def test_servers_that_still_compile_while_measured(
    tmp_path: Path, share: float, status: str
) -> None:
    root = run(tmp_path)
    for path in (root / "trials").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        manifest["jit_cpu_s"] = share * manifest["server_cpu_s"]
        path.write_text(json.dumps(manifest))
    found = check(analyse(root), "compiler")
    assert found.status == status
    assert f"native: {share * 100:.3g}% of server CPU" in found.details


def with_client(root: Path, trial: str, **facts: Any) -> Path:
    """The run, with other facts of one trial's first client."""
    path = root / "trials" / trial / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["clients"][0] |= facts
    path.write_text(json.dumps(manifest))
    return root


@pytest.mark.parametrize(
    ("measure_s", "gap_s", "status"),
    [
        (30, 0.9, "ok"), (30, 1.5, "warning"), (30, 4.0, "invalid"), (3, 2.3, "invalid"),
        # a tenth of a short trial
        (3, 0.9, "invalid"), (3, 0.31, "invalid"), (3, 0.29, "ok"), (5, 0.6, "invalid"),
    ],
)  # fmt: skip
def test_seconds_without_an_answer_are_no_part_of_a_good_trial(
    tmp_path: Path, measure_s: int, gap_s: float, status: str
) -> None:
    root = run(tmp_path, measure_s=measure_s, blocks=1)
    found = check(
        analyse(with_client(root, "D1-B01-native", longest_gap_s=gap_s, measured_s=measure_s)),
        "answers",
    )
    assert found.status == status
    assert any("D1-B01-native, c1" in line for line in found.details) == (status != "ok")


def test_a_load_of_an_operation_now_and_then_has_long_times_without_an_answer(
    tmp_path: Path,
) -> None:
    root = with_client(run(tmp_path), "D1-B01-native", longest_gap_s=1.5, ok=3)
    assert check(analyse(root), "answers").status == "ok"


def test_results_of_before_gaps_were_told_are_read_and_not_judged_by_them(tmp_path: Path) -> None:
    root = run(tmp_path)
    for path in (root / "trials").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        for client in manifest["clients"]:
            del client["longest_gap_s"], client["under_way"]
        path.write_text(json.dumps(manifest))
    analysis = analyse(root)
    assert analysis.valid
    assert not any(c.name == "answers" for c in analysis.checks)


def test_ages_of_operations_under_way_are_no_damage_to_histograms(tmp_path: Path) -> None:
    root = run(tmp_path, blocks=1)
    path = root / "trials" / "D1-B01-native" / "manifest.json"
    client = json.loads(path.read_text())["clients"][0]
    moved = client["ok"] // 10  # of the histograms' operations, these had no answer
    with_client(root, "D1-B01-native", ok=client["ok"] - moved, under_way=moved)
    assert check(analyse(root), "records").status == "ok"
