"""A terminal of 80 columns: names can be copied whole, and lines wrap at their indentation."""

from __future__ import annotations

import io

import pytest

from tare.cli.console import Terminal, print_indented
from tare.cli.findings_text import groups
from tare.cli.plan_text import show
from tare.knowledge.library import load_library
from tare.study.plan import make_plan
from tare.study.schema import Study

COLUMNS = 80
DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}


@pytest.mark.parametrize("width", [COLUMNS, 170])
def test_the_id_of_every_finding_is_whole(width: int) -> None:
    out = io.StringIO()
    found = list(load_library([]).entries.values())
    groups(found, Terminal(file=out, width=width))
    lines = out.getvalue().splitlines()
    words = {word for line in lines for word in line.split()}
    assert {one.finding.id for one in found} <= words
    assert all(line == line.rstrip() and len(line) <= width for line in lines)


def test_a_plan_breaks_no_name_of_a_condition() -> None:
    levels = {"native": {}, "native-on-another-network": {}, "docker": DOCKER}
    study = {
        "study": "pair",
        "factors": {"platform": levels, "load": {"few": {}, "many": {"load.threads": 64}}},
        "baseline": {"platform": "native", "load": "few"},
    }
    plan = make_plan(Study.model_validate(study))
    out = io.StringIO()
    show(plan, Terminal(file=out, width=COLUMNS))
    table = out.getvalue().split("\n\n")[0]
    assert {one.name for one in plan.conditions} <= set(table.split())
    assert "(A/A of native.few)" in table


def test_a_line_is_continued_where_it_began() -> None:
    out = io.StringIO()
    print_indented(Terminal(file=out, width=12), ["  one two three", "", "four"])
    assert out.getvalue() == "  one two\n  three\n\nfour\n"
