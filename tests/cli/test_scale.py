"""`--scale` and `--only`: one study at several sizes, and a part of it."""

from __future__ import annotations

import json

import pytest

from tests.cli.in_process import tare

GRAMBOW = "studies/grambow-2018.yaml"


def test_plan_says_the_scale_and_the_days_that_the_paper_took() -> None:
    text = " ".join(tare("plan", GRAMBOW).stdout.split())
    assert "grambow-2018 at scale paper" in text
    assert "720 trials" in text
    assert "h of this machine, 10." in text


def test_plan_of_a_part_at_another_scale() -> None:
    done = tare(
        "plan", GRAMBOW, "--scale", "laptop", "--only", "instance=m3-medium",
        "--only", "threads=10,50", "--only", "compaction=stcs", "--only", "key-cache=auto",
        "--set", "design.blocks=2", "--json",
    )  # fmt: skip
    plan = json.loads(done.stdout)
    assert plan["study"]["scale"] == "laptop"
    assert plan["study"]["only"]["threads"] == ["10", "50"]
    assert (len(plan["conditions"]), len(plan["rounds"][0]["blocks"])) == (8, 2)


def test_the_cost_is_shown_also_where_the_machine_is_too_small() -> None:
    done = tare("plan", "studies/quickstart.yaml", "--set", "database.heap=900GiB")
    assert done.returncode == 2
    assert "GiB of memory" in " ".join(done.stdout.split())
    assert "of memory needed" in done.stderr


@pytest.mark.parametrize("command", ["plan", "run", "advise"])
def test_every_command_that_reads_a_study_knows_its_scales(command: str) -> None:
    done = tare(command, GRAMBOW, "--scale", "latop")
    assert done.returncode == 2
    assert "did you mean laptop?" in done.stderr
