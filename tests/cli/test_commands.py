"""Commands that start nothing: their output and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tare.commit import commit
from tests.cli.in_process import CHECKOUT, tare

TARE = str(Path(sys.executable).with_name("tare"))


def test_plan_shows_conditions_order_time_memory_and_disk() -> None:
    done = tare("plan", "studies/quickstart.yaml")
    assert done.returncode == 0, done.stderr
    for word in ("native-again", "docker.published", "D3 deploy", "B01", "min", "GiB of memory"):
        assert word in done.stdout


def test_plan_json_is_the_whole_plan() -> None:
    plan = json.loads(tare("plan", "studies/quickstart.yaml", "--json").stdout)
    assert len(plan["conditions"]) == 6
    assert plan["estimate"]["seconds"] > 0


def test_a_study_that_comes_with_tare_is_known_by_its_name() -> None:
    file = tare("plan", "studies/quickstart.yaml", "--json").stdout
    assert json.loads(tare("plan", "quickstart", "--json").stdout) == json.loads(file)


def test_a_bad_study_is_refused_with_file_line_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("study: bad\nload:\n  thread: 4\n")
    done = tare("run", "bad.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.yaml:3" in done.stderr
    assert "load.threads" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_name_that_leads_out_of_the_runs_directory_is_refused(tmp_path: Path) -> None:
    study = CHECKOUT / "studies/quickstart.yaml"
    done = tare("run", str(study), "--name", "../out", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "not a name of a run" in done.stderr
    assert "for example --name" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plan_names_a_mix_of_the_study_s_own() -> None:
    mix = "load.mix={read: 3, update: 1, scan: 0}"
    text = tare("plan", "studies/quickstart.yaml", "--set", mix).stdout
    assert "ycsb-c with 75% read and 25% update, 4 in flight" in " ".join(text.split())


def test_more_memory_than_there_is_is_refused_before_anything_starts() -> None:
    done = tare("plan", "studies/quickstart.yaml", "--set", "database.heap=900GiB")
    assert done.returncode == 2
    assert "of memory needed" in done.stderr


def test_an_unlocked_version_is_refused_with_the_locked_ones() -> None:
    done = tare("plan", "studies/quickstart.yaml", "--set", "database.version='4.0.1'")
    assert done.returncode == 2
    assert "5.0.9" in done.stderr


def test_a_stand_in_is_refused_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "ferretdb").write_bytes(b"no program at all: nobody starts it")
    (tmp_path / "set.yaml").write_text(
        'study: set\ndatabase: {kind: mongodb, version: "7.0", home: ferretdb}\n'
        "load: {threads: 4}\n"
    )
    for word in ("plan", "run"):
        done = tare(word, "set.yaml", cwd=tmp_path)
        assert done.returncode == 2
        assert "set.yaml:2" in done.stderr
        assert "database.home: FerretDB" in done.stderr
        assert "database.stand_in: true" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_missing_study_is_wrong_usage() -> None:
    assert tare("plan", "no/such.yaml").returncode == 2


def test_a_directory_that_is_no_run_cannot_be_reported(tmp_path: Path) -> None:
    done = tare("report", str(tmp_path))
    assert done.returncode == 1
    assert "no study.yaml" in done.stderr


def test_schema_prints_the_json_schema() -> None:
    assert "2020-12" in json.loads(tare("schema").stdout)["$schema"]


def test_doctor_says_what_can_run_here() -> None:
    found = {one["what"]: one for one in json.loads(tare("doctor", "--json").stdout)}
    assert found["native runtime"]["ok"]
    assert found["tare-load"]["ok"]
    assert all(one["remedy"] for one in found.values() if not one["ok"])


def test_doctor_answers_one_question_at_a_time() -> None:
    done = tare("doctor", "--database", "mongodb", "--noise")
    assert done.returncode == 2
    assert "--database and --noise are questions of their own" in done.stderr
    assert "tare doctor --database mongodb; tare doctor --noise" in " ".join(done.stderr.split())


def test_the_version_is_printed_with_its_commit() -> None:
    """Run by the installed program itself."""
    told = subprocess.run([TARE, "--version"], capture_output=True, text=True, check=True).stdout
    assert told.startswith("tare 0.")
    assert (commit() or "") in told


def test_plan_says_which_metrics_decide() -> None:
    text = tare("plan", "studies/quickstart.yaml").stdout
    decide = "service_demand (margin 3%), throughput (margin 5%), all.p99 (margin 10%)"
    assert f"primary, which decide: {decide}" in text
    text = tare("plan", "studies/one-node.yaml").stdout
    assert "those with a margin too: mean (margin 5%)" in " ".join(text.split())


def test_a_long_order_is_cut_in_the_text_and_whole_in_json() -> None:
    arguments = ("plan", "studies/quickstart.yaml", "--set", "design.deployments=9")
    text = tare(*arguments).stdout
    assert "D3 deploy" in text
    assert "D8 deploy" not in text
    assert "more lines of this order; --json has all of it" in text
    assert len(json.loads(tare(*arguments, "--json").stdout)["rounds"]) == 9


@pytest.mark.parametrize("name", ["kubernetes", "swarm"])
def test_an_orchestrator_that_is_not_there_is_refused_before_anything_is_shown(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("KUBECONFIG", "TARE_SWARM", "DOCKER_HOST"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    done = tare("plan", f"studies/{name}.yaml")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "nothing can be run" in done.stderr
