"""What a plan says about deployments' rows, and about conditions that share them."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from tare.cli.plan_text import show
from tare.cli.starts import start_lines
from tare.runtimes.availability import obstacle
from tare.study.plan import Plan, make_plan
from tare.study.schema import Study


def planned(**fields: Any) -> Plan:
    return make_plan(Study.model_validate({"study": "x", **fields}), obstacle)


DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}
IMAGE = {**DOCKER, "database": {"image": "cassandra:5"}}
KEEP = {"reset": "keep", "fresh": "deployment"}


def test_three_nodes_start_from_a_snapshot_and_hand_nothing_on() -> None:
    plan = planned(design=KEEP, database={"nodes": 3, "replication_factor": 3})
    out = io.StringIO()
    show(plan, Console(file=out, width=200))
    said = "every deployment: starts from a snapshot of the data; what one wrote is not handed on"
    assert start_lines(plan) == [said]
    assert said in out.getvalue()


def test_a_design_that_empties_the_table_says_why_there_is_no_snapshot() -> None:
    (line,) = start_lines(planned(design={"reset": "truncate"}))
    assert line.startswith("every deployment: fills its own table; design.reset: truncate")


def test_deployments_that_start_in_different_ways_are_named() -> None:
    factors = {"platform": {"native": {}, "theirs": IMAGE}}
    lines = start_lines(planned(design=KEEP, factors=factors, baseline={"platform": "native"}))
    assert lines[0].startswith("deployments of native: starts from a snapshot")
    assert lines[1] == "deployments of theirs: fills its own table; it runs another's image"


def test_conditions_of_one_deployment_find_what_the_others_wrote() -> None:
    factors = {"threads": {"one": {"load.threads": 1}, "two": {"load.threads": 2}}}
    baseline = {"threads": "one"}
    lines = start_lines(planned(design=KEEP, factors=factors, baseline=baseline))
    assert lines[1].startswith("one, two: share a deployment and its rows")
    emptied = {**KEEP, "reset": "truncate"}
    turns = start_lines(planned(design=emptied, factors=factors, baseline=baseline))
    assert turns[1].endswith("each finds what the others wrote since their block began")
    apart = {**emptied, "slice": "off"}
    assert len(start_lines(planned(design=apart, factors=factors, baseline=baseline))) == 1
    alone = {**KEEP, "fresh": "trial"}
    assert len(start_lines(planned(design=alone, factors=factors, baseline=baseline))) == 1
