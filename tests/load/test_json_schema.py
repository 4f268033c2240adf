"""tare-load's specification follows its published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from tare.load.json_schema import schema
from tare.load.specification import specification
from tare.study.load import Workload
from tare.study.schema import Setup

from .test_workloads import STATEMENTS

DOCS = Path(__file__).parents[2] / "docs" / "load.md"
PHASES = [{"for": 5, "rate": 9.0}, {"for": 5, "rate": 9.0, "to": 20.0, "mix": {"put": 1}}]


def told(load: dict[str, Any], phase: Any) -> dict[str, Any]:
    setup = Setup.model_validate({"load": load})
    return specification(
        setup, name="t", client="c1", targets=["127.0.0.1:9042"], phase=phase, seed=1, longest_s=5.0
    )


@pytest.mark.parametrize("phase", ["populate", "warm", "measure"])
@pytest.mark.parametrize(
    "load",
    [
        *({"workload": name} for name in get_args(Workload)),
        {"statements": STATEMENTS},
        {"statements": STATEMENTS, "phases": PHASES},
        {"workload": "ycsb-a", "rate": 500.0, "mix": {"scan": 1}},
        {"workload": "stress-read", "threads": "66% of max"},
    ],
    ids=str,
)
def test_every_specification_conforms(load: dict[str, Any], phase: str) -> None:
    jsonschema.validate(told(load, phase), schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "change",
    [
        {"threads": 0},
        {"targets": []},
        {"phase": "warm"},
        {"surprise": 1},
        {"workload": {"kind": "ycsb", "read": 1}},
        {"workload": {"kind": "statements", "operations": []}},
        {"mixes": [{"at_s": 0, "weights": {"put": -1}}]},
    ],
    ids=str,
)
def test_what_tare_load_refuses_does_not_conform(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told({}, "measure") | change, schema())


def test_the_example_of_the_documentation_conforms() -> None:
    text = DOCS.read_text(encoding="utf-8")
    example = text.split("```json\n")[1].split("```")[0]
    jsonschema.validate(json.loads(example), schema(), jsonschema.Draft202012Validator)
