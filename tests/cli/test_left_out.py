"""`tare plan` of a study that this version can run only in part, or not at all."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

from tare.cli.console import Terminal
from tare.cli.plan_text import left_out_lines, show
from tare.runtimes.availability import obstacle
from tare.study.plan import make_plan
from tare.study.schema import Study
from tests.cli.in_process import Ended, tare

STUDY = """\
study: partly
load: {records: 1000}
factors:
  platform:
    native: {}
    native-again: {}
    vmware: {platform.machines: vmware}
    swarm: {platform: {runtime: swarm, storage: volume}}
baseline: {platform: native}
design: {deployments: 1, blocks: 2, warm: {at_least: 1s, at_most: 4s, window: 1s}}
"""


def tare_in(where: Path, *words: str) -> Ended:
    (where / "study.yaml").write_text(STUDY)
    # no engine answers there, so no Swarm is named
    named = {k: v for k, v in os.environ.items() if k != "TARE_SWARM"}
    return tare(*words, cwd=where, environment={**named, "DOCKER_HOST": f"unix://{where}/no.sock"})


def test_the_plan_says_what_is_left_out_and_plans_the_rest(tmp_path: Path) -> None:
    done = tare_in(tmp_path, "plan", "study.yaml")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "left out, 2 of 4 conditions:" in text
    assert "vmware: this version makes no VMware machines try: " in text
    assert "swarm: no Docker Swarm is named here try: " in text
    assert "not compared: 2 of 3 pairs of conditions" in text
    assert "2 conditions = 4 trials" in text
    assert "with what is left out, could it be run: about" in text


def test_json_holds_what_is_left_out(tmp_path: Path) -> None:
    plan = json.loads(tare_in(tmp_path, "plan", "study.yaml", "--json").stdout)
    assert [one["condition"]["name"] for one in plan["left_out"]] == ["vmware", "swarm"]
    assert [one["name"] for one in plan["conditions"]] == ["native", "native-again"]


def test_a_study_that_cannot_run_at_all_is_refused_and_nothing_else_is_said(
    tmp_path: Path,
) -> None:
    done = tare_in(tmp_path, "plan", "study.yaml", "--set", "platform.machines=vmware")
    assert done.returncode == 2
    assert "nothing can be run: this version makes no VMware machines" in done.stderr
    assert done.stdout == ""


def test_the_levels_that_are_missing_are_named_and_that_nothing_is_compared() -> None:
    many = {f"vmware{n}": {"platform.machines": "vmware"} for n in range(30)}
    study = Study.model_validate(
        {
            "study": "x",
            "factors": {"platform": {"native": {}, **many}},
            "baseline": {"platform": "native"},
        }
    )
    lines = left_out_lines(make_plan(study, obstacle))
    assert lines[1].startswith("  platform vmware0, vmware1, ")
    assert " and 22 more (30 conditions): this version makes no VMware machines" in lines[1]
    assert lines[-1].startswith("  nothing is compared")


def test_a_study_that_runs_wholly_says_nothing_of_it() -> None:
    plan = make_plan(Study(study="x"), obstacle)
    out = io.StringIO()
    show(plan, Terminal(file=out, width=120))
    assert left_out_lines(plan) == []
    assert "left out" not in out.getvalue()
