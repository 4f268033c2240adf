"""A plan's hint on reads and writes as separate questions, and how to ask them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from tare.cli.commands import COMMANDS, build
from tare.cli.console import Terminal
from tare.cli.plan_text import show
from tare.cli.separate import separate_lines
from tare.load.workloads import sides
from tare.study.plan import Plan, make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

FERRETDB = {"kind": "mongodb", "version": "7.0", "home": "/opt/ferretdb", "stand_in": True}
DOCKER = {"platform": {"runtime": "docker", "network": "bridge"}}
STATEMENTS = {
    "tables": ["CREATE TABLE IF NOT EXISTS t (id bigint PRIMARY KEY, v text)"],
    "operations": {
        "look": {"cql": "SELECT v FROM t WHERE id = ?", "values": {"id": {"uniform": "0..9"}}},
        "note": {
            "cql": "INSERT INTO t (id, v) VALUES (?, ?)",
            "values": {"id": {"uniform": "0..9"}, "v": {"text": "1..9"}},
        },
    },
}


def document(load: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "study": "x",
        "load": load or {"workload": "ycsb-a"},
        "factors": {"platform": {"native": {}, "docker": DOCKER}},
        "baseline": {"platform": "native"},
        "design": {"reset": "keep"},
        **more,
    }


def planned(tmp_path: Path, content: dict[str, Any], *only: str) -> Plan:
    file = tmp_path / "x.yaml"
    with file.open("w", encoding="utf-8") as out:
        YAML().dump(content, out)
    return make_plan(load_study(file, only=only))


def written(lines: list[str]) -> dict[str, Any]:
    """The YAML of the note."""
    found: dict[str, Any] = YAML(typ="safe").load("\n".join(line[2:] for line in lines[1:-1]))
    return found


@pytest.mark.parametrize(
    ("load", "reads", "writes"),
    [
        ({"workload": "ycsb-a"}, {"read"}, {"update"}),
        ({"workload": "ycsb-d"}, {"read"}, {"insert"}),
        ({"workload": "ycsb-e"}, {"scan"}, {"insert"}),
        ({"workload": "ycsb-f"}, {"read"}, {"readmodifywrite"}),
        ({"workload": "stress-mixed"}, {"read"}, {"write"}),
        ({"workload": "ycsb-a", "mix": {"read": 3, "scan": 1, "update": 2}}, {"read", "scan"},
         {"update"}),
        ({"statements": STATEMENTS}, {"look"}, {"note"}),
    ],
)  # fmt: skip
def test_what_the_note_writes_is_a_study_of_each_side_alone(
    tmp_path: Path, load: dict[str, Any], reads: set[str], writes: set[str]
) -> None:
    content = document(load)
    lines = separate_lines(planned(tmp_path, content))
    assert lines[0].startswith("note: the load reads and writes.")
    assert "by some 2% (sd)" in lines[0]
    assert "0 to 1.6%" in lines[0]
    assert lines[-1].endswith("tare run STUDY --only load=reads")
    more = written(lines)
    separate = content | {
        "factors": content["factors"] | more["factors"],
        "baseline": more["baseline"],
        "analysis": more["analysis"],
    }
    loads = {one.name: one.setup.load for one in planned(tmp_path, separate).conditions}
    assert sides(loads["native.mix"]) == sides(loads["docker.mix"])
    assert [set(side) for side in sides(loads["native.reads"])] == [reads, set()]
    assert [set(side) for side in sides(loads["native.writes"])] == [set(), writes]
    alone = planned(tmp_path, separate, "load=reads")
    assert [one.name for one in alone.conditions] == ["native.reads", "docker.reads"]
    assert separate_lines(alone) == []


def test_the_factor_has_a_name_that_the_study_has_not(tmp_path: Path) -> None:
    content = document()
    content["factors"]["load"] = {"few": {"load.threads": 4}, "many": {}}
    content["baseline"]["load"] = "many"
    content["analysis"] = {"by": ["load"]}
    more = written(separate_lines(planned(tmp_path, content)))
    assert list(more["factors"]) == ["operations"]
    assert more["baseline"] == {"platform": "native", "load": "many", "operations": "mix"}
    assert more["analysis"] == {"by": ["load", "operations"]}


@pytest.mark.parametrize(
    "change",
    [
        {"load": {"workload": "ycsb-c"}},
        {"load": {"workload": "ycsb-a", "mix": {"update": 1}}},
        {"design": {"reset": "keep", "slice": "off"}},
        {"design": {"reset": "truncate"}},
        {"design": {"reset": "keep", "data": "populate"}},
        {"database": FERRETDB},
        {"factors": {"platform": {"native": {}, "again": {"load.workload": "ycsb-c"}}}},
        {"factors": {"platform": {"native": {}, "again": {"platform.runtime": "native"}}}},
        {"factors": {"platform": {"native": {}, "more": {"load.threads": 64}}}},
    ],
)
def test_nothing_is_said_where_servers_do_not_decide_or_sides_are_apart(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    assert separate_lines(planned(tmp_path, document(**change))) == []


def test_the_plan_ends_with_the_note(tmp_path: Path) -> None:
    plan = planned(tmp_path, document())
    out = io.StringIO()
    show(plan, Terminal(file=out, width=400))
    assert out.getvalue().rstrip().splitlines()[-len(separate_lines(plan)) :] == [
        line.rstrip() for line in separate_lines(plan)
    ]
    assert f"measured {plan.slicing.words}" in out.getvalue()


def test_the_command_keeps_what_was_asked_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    levels = {"native": {}, "larger": {"database.heap": "600MiB"}, "docker": DOCKER}
    planned(tmp_path, document(factors={"heap": levels}, baseline={"heap": "native"}))
    asked = ["x.yaml", "--set", "load.threads=4", "--only", "heap=native,larger"]
    told = CliRunner().invoke(build(COMMANDS), ["plan", *asked]).stdout
    assert f"tare run {' '.join(asked)} --only load=reads" in " ".join(told.split())


def test_a_study_that_asks_each_side_already_is_not_told_to_by_a_part_of_it(
    tmp_path: Path,
) -> None:
    content = document()
    content["factors"]["side"] = {"mix": {}, "reads": {"load.workload": "ycsb-c"}}
    content["baseline"]["side"] = "mix"
    content["analysis"] = {"by": ["side"]}
    assert separate_lines(planned(tmp_path, content, "side=mix")) == []
