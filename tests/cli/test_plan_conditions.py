"""A plan of many conditions lists levels, and every condition on request."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from tare.cli.console import Terminal
from tare.cli.plan_conditions import MOST_ROWS
from tare.cli.plan_text import show
from tare.study.plan import make_plan
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.study.plan import Plan


def planned(threads: int) -> Plan:
    study: dict[str, Any] = {
        "study": "many",
        "factors": {
            "platform": {"native": {}, "docker": {"platform.runtime": "docker"}},
            "threads": {f"t{n}": {"load.threads": n} for n in range(1, threads + 1)},
        },
        "baseline": {"platform": "native"},
        "analysis": {"by": ["threads"]},
    }
    return make_plan(Study.model_validate(study))


def told(plan: Plan, *, every: bool = False) -> list[str]:
    out = io.StringIO()
    show(plan, Terminal(file=out, width=80), every=every)
    return out.getvalue().splitlines()


def wide(study: dict[str, Any]) -> str:
    out = io.StringIO()
    show(make_plan(Study.model_validate(study)), Terminal(file=out, width=200))
    return out.getvalue()


def test_of_many_conditions_each_level_has_a_row() -> None:
    plan = planned(30)
    lines = told(plan)
    assert any(one.split() == ["platform", "native", "nothing", "30"] for one in lines)
    assert any("docker" in one and "platform.runtime docker" in one for one in lines)
    assert any(one.startswith("60 conditions, on ") and "--all" in one for one in lines)
    assert not any("docker, host, directory" in one for one in lines)
    assert len(lines) < len(plan.conditions) + 30
    block = next(one for one in lines if "B01: 60: " in one)
    assert "and 57 more" in " ".join(lines[lines.index(block) :][:2])


def test_all_of_them_are_listed_where_that_is_asked_for() -> None:
    plan = planned(30)
    lines = told(plan, every=True)
    for one in plan.conditions:
        assert any(line.startswith(f"{one.name} ") for line in lines)


def test_few_conditions_are_listed_in_any_case() -> None:
    plan = planned(MOST_ROWS // 2)
    assert any(line.startswith("docker.t3 ") for line in told(plan))


def test_how_many_copies_answer_stands_beside_how_many_there_are() -> None:
    levels = {"quorum": {}, "one": {"database.consistency": "ONE"}}
    study = {
        "study": "levels",
        "database": {"nodes": 3, "replication_factor": 3},
        "factors": {"level": levels},
        "baseline": {"level": "quorum"},
    }
    assert "1 x 3, RF 3, QUORUM" in wide(study)
    assert "1 x 3, RF 3, ONE" in wide(study)


def test_rows_of_the_study_s_own_stand_with_its_load() -> None:
    sizes = {"small": {}, "large": {"load.field_length": 1000}}
    study = {"study": "sizes", "factors": {"size": sizes}, "baseline": {"size": "small"}}
    (small, large) = (one for one in wide(study).splitlines() if one.startswith(tuple(sizes)))
    assert "rows of" not in small
    assert "ycsb-a, rows of 10 x 1,000 B, " in large
