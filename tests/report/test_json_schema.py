"""The published schemas describe the files that Tare writes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tare.analysis.analyse import analyse
from tare.analysis.comparison.compare import compare
from tare.cli.schema import SchemaName, text
from tare.report.json_schema import schema
from tare.report.write import to_json
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

from .sample import sample_analysis

PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas"


def check(name: str, document: Any) -> None:
    jsonschema.validate(document, schema(name), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("document", SchemaName)
def test_the_published_copy_is_the_current_one(document: SchemaName) -> None:
    """To renew it after a change: `tare schema NAME > docs/schemas/NAME.schema.json`."""
    published = (PUBLISHED / f"{document}.schema.json").read_text(encoding="utf-8")
    assert published == text(document), f"renew it: tare schema {document}"


@pytest.mark.parametrize("document", SchemaName)
def test_every_schema_is_a_valid_one(document: SchemaName) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(text(document)))


def test_an_analysis_and_a_manifest_of_a_run_are_valid(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", effects={"native": Truth()}, blocks=2, measure_s=2)
    check("analysis", json.loads(to_json(analyse(run))))
    for manifest in (run / "trials").glob("*/manifest.json"):
        check("manifest", json.loads(manifest.read_text(encoding="utf-8")))


def test_a_comparison_is_valid() -> None:
    check("comparison", json.loads(to_json(compare(sample_analysis(), sample_analysis()))))


def test_a_number_that_is_not_finite_is_written_as_the_schema_says() -> None:
    analysis = sample_analysis()
    analysis.effects[0].ci = (0.0, math.inf)
    document = json.loads(to_json(analysis))
    assert document["effects"][0]["ci"] == [0.0, "Infinity"]
    check("analysis", document)


def test_fields_of_later_versions_are_no_error_and_missing_ones_are() -> None:
    document = json.loads(to_json(sample_analysis()))
    document["effects"][0]["later"] = 1
    check("analysis", document)
    del document["effects"][0]["verdict"]
    with pytest.raises(jsonschema.ValidationError, match="verdict"):
        check("analysis", document)


def test_the_promised_keys_are_in_the_schema() -> None:
    document = schema("analysis")
    assert {"study", "valid", "problems", "conditions", "effects"} <= set(document["required"])
    promised = {
        "ConditionSummary": {"levels", "trials", "metrics"},
        "Effect": {
            "metric", "levels", "over", "baseline", "treatment", "ratio", "ci", "p", "verdict",
            "blocks", "needed",
        },
    }  # fmt: skip
    for name, keys in promised.items():
        assert keys <= set(document["$defs"][name]["required"])
