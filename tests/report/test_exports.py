"""Tables for other programs are complete, typed and safe in a spreadsheet."""

from __future__ import annotations

import csv as reader
import io
import math

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.model import Effect
from tare.report.exports import csv, effects_table, files, parquet, trials_table

from .sample import CONDITIONS, sample_analysis


def test_every_trial_is_a_row_with_identity_levels_metrics_and_flags() -> None:
    analysis = sample_analysis()
    table = trials_table(analysis)
    assert table.num_rows == len(analysis.trials)
    first = analysis.trials[0]
    row = table.to_pylist()[0]
    assert row["trial"] == first.trial
    assert row["study"] == analysis.study
    assert row["levels.platform"] == first.condition
    assert row["throughput"] == first.values["throughput"]
    assert row["outlier"] is first.outlier
    assert set(table["levels.platform"].to_pylist()) == set(CONDITIONS)
    assert {m.name for m in analysis.metrics} <= set(table.column_names)


def test_a_metric_that_a_trial_lacks_is_null_and_not_zero() -> None:
    analysis = sample_analysis()
    before = trials_table(analysis)["all.p99"].null_count
    del analysis.trials[0].values["all.p99"]
    after = trials_table(analysis)["all.p99"]
    assert after[0].as_py() is None
    assert after.null_count == before + 1


def test_failed_operations_of_an_imported_trial_are_its_reported_ones() -> None:
    analysis = sample_analysis()
    analysis.trials[0].values["errors"] = 12.0
    assert trials_table(analysis)["errors"][0].as_py() == 12.0


def test_an_imported_metric_cannot_take_the_place_of_another_column() -> None:
    analysis = sample_analysis()
    odd = analysis.metrics[0].model_copy(update={"name": "block"})
    analysis.metrics.append(odd)
    for trial in analysis.trials:
        trial.values["block"] = 0.5
    table = trials_table(analysis)
    assert table["block"].to_pylist() == [t.block for t in analysis.trials]
    assert set(table["metric.block"].to_pylist()) == {0.5}


def test_parquet_gives_back_the_same_table() -> None:
    table = trials_table(sample_analysis())
    assert pq.read_table(io.BytesIO(parquet(table))).equals(table)


def test_every_effect_is_a_row_with_all_its_fields() -> None:
    analysis = sample_analysis()
    table = effects_table(analysis)
    assert table.num_rows == len(analysis.effects)
    first, row = analysis.effects[0], table.to_pylist()[0]
    assert (row["ci_low"], row["ci_high"]) == first.ci
    assert row["unit"] == "us/operation"
    assert row["verdict"] == first.verdict
    made_of_parts = {"pairs", "crosschecks", "others"}
    for name in set(Effect.model_fields) - {"levels"}:
        found = {name, f"{name}_low"} & set(table.column_names)
        assert bool(found) == (name not in made_of_parts), name


def test_no_effects_and_no_trials_are_empty_tables() -> None:
    analysis = sample_analysis()
    analysis.effects, analysis.trials = [], []
    names = dict(files(analysis))
    content = names["trials.parquet"]
    assert isinstance(content, bytes)
    assert pq.read_table(io.BytesIO(content)).num_rows == 0
    assert str(names["trials.csv"]).startswith("study,run,trial,condition,levels.platform")
    assert str(names["effects.csv"]).startswith("metric,unit,baseline,treatment,")
    assert str(names["effects.csv"]).count("\n") == 1


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_no_text_in_a_csv_file_can_be_taken_for_a_formula(text: str) -> None:
    table = pa.table({"name": [text, "plain"], "value": [-1.5, 2.0]})
    rows = list(reader.reader(io.StringIO(csv(table), newline="")))
    assert rows[0] == ["name", "value"]
    cell = rows[1][0]
    assert cell in (text, "'" + text)
    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@"))
    assert rows[1][1] == "-1.5", "numbers stay numbers"


def test_what_is_not_known_is_empty_and_an_empty_text_is_quoted() -> None:
    columns = {"text": ["", None, 'a "b"', "c,d"], "number": [1e-7, None, 3.0, math.nan],
               "flag": [True, False, None, True]}  # fmt: skip
    text = csv(pa.table(columns))
    assert text == 'text,number,flag\n"",1e-07,true\n,,false\n"a ""b""",3.0,\n"c,d",NaN,true\n'


def test_a_hostile_reason_is_guarded_in_the_file() -> None:
    analysis = sample_analysis()
    analysis.trials[0].reason = '=HYPERLINK("http://evil.invalid","click")'
    text = str(dict(files(analysis))["trials.csv"])
    assert "'=HYPERLINK" in text
    assert ",=HYPERLINK" not in text
