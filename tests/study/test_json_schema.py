"""The JSON Schema for editors agrees with what Tare reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tare.study.document import read_document
from tare.study.json_schema import DIALECT, schema

STUDIES = Path(__file__).parents[2] / "studies"
VALIDATOR = Draft202012Validator(schema())


def level(patch: object) -> dict[str, Any]:
    """A study's part with this level."""
    return {"factors": {"f": {"a": patch}}, "baseline": {"f": "a"}}


def test_it_is_a_valid_schema_of_its_dialect() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["$schema"] == DIALECT


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_studies_that_come_with_tare_conform(path: Path) -> None:
    VALIDATOR.validate(read_document(path).data)


@pytest.mark.parametrize(
    "document",
    [
        {"load": {"threads": 8, "measure": "10s", "rate": None}},
        {"database": {"heap": "1GiB", "compaction": {"strategy": "LCS"}, "settings": {"a": [1]}}},
        level(None),
        level({"load.threads": 3}),
        level({"load": {"threads": 3}}),
        level({"load.statements.operations.read.weight": 0, "database.settings.a.b": [1]}),
        level({"platform.placement.node_selector.kubernetes.io/arch": "amd64"}),
        level({"platform.limits": {"memory": "2GiB"}, "client.limits.cpus": 1.5, "clusters": 2}),
        {"baseline": {"rf": 3}, "exclude": [{"rf": [1, 3]}, {"rf": 1}]},
        {"margins": {"p99": "10%", "mean": 0.05, "read.p99": "99.5%"}},
        {"platform": {"limits": {"cpuset": 0, "memory": "2GiB"}}},
        {"scale": "small", "scales": {"full": None, "small": {"load.records": 5, "design": {}}}},
        {"scales": {"small": {"factors": {"f": {"a": {"load.threads": 3}}}, "margins.p99": 0.1}}},
        {"scales": {"small": {"factors.f.a": {"load.threads": 3}}}},
        {"only": {"rf": [1, 3], "f": "a"}},
        {"database": {"consistency": "QUORUM"}},
        {"database": {"consistency": {"write": "ANY"}}},
        level({"database.consistency": "ONE"}),
        level({"database": {"consistency": "ONE"}}),
    ],
)
def test_what_tare_reads_conforms(document: dict[str, Any]) -> None:
    VALIDATOR.validate({"study": "x", **document})


@pytest.mark.parametrize(
    "document",
    [
        {"lode": {}},
        {"load": {"thread": 8}},
        {"load": {"threads": "8"}},
        {"load": {"measure": "ten seconds"}},
        {"database": {"heap": "512m"}},
        {"database": {"nodes": 0}},
        {"platform": {"runtime": "jail"}},
        level({"design": {"blocks": 3}}),
        level({"load": {"thread": 3}}),
        level({"lode.threads": 3}),
        {"database": {"consistency": "ANY"}},
        level({"database.consistency": "QORUM"}),
        level({"load.thread": 3}),
        level({"load.threads": "many"}),
        level({"load.threads.more": 3}),
        level({"platform.limits.memory": "2 GB of it"}),
        level({"load.statements.operations.read.wait": 0}),
        {"factors": {"f": {"a": {}}}},
        {"factors": {"f": {}}, "baseline": {"f": "a"}},
        {"baseline": "a"},
        {"margins": {"p99": 10}},
        {"margins": {"p99": "100%"}},
        {"margins": {"p99": "0%"}},
        {"scales": {"small": {"load.records": "many"}}},
        {"scales": {"small": {"margins.p99": 10}}},
        {"factors": {"a.b": {}}},
        {"margins": {"p98": "5%"}},
        {"scales": {"small": {"baseline": {"f": "a"}}}},
        {"scales": {"small": {"load": {"thread": 3}}}},
        {"scales": {"small": {"lode.threads": 3}}},
        {"only": ["a"]},
        {"study": "Not a slug"},
    ],
)
def test_what_tare_refuses_does_not_conform(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({"study": "x", **document})


def test_a_study_has_a_name() -> None:
    assert not VALIDATOR.is_valid({})


def test_every_field_is_described() -> None:
    document = schema()
    for part in [document, *document["$defs"].values()]:
        for name, field in part["properties"].items():
            assert field.get("description"), name
