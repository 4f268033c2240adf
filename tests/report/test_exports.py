"""Tables for other programs: complete, typed, and harmless in a spreadsheet."""

from __future__ import annotations

import csv as reader
import io

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.model import Effect
from tare.report.exports import csv, effects_frame, files, parquet, trials_frame

from .sample import CONDITIONS, sample_analysis


def test_every_trial_is_a_row_with_identity_levels_metrics_and_flags() -> None:
    analysis = sample_analysis()
    frame = trials_frame(analysis)
    assert frame.height == len(analysis.trials)
    first = analysis.trials[0]
    row = frame.row(0, named=True)
    assert row["trial"] == first.trial
    assert row["study"] == analysis.study
    assert row["levels.platform"] == first.condition
    assert row["throughput"] == first.values["throughput"]
    assert row["outlier"] is first.outlier
    assert set(frame["levels.platform"]) == set(CONDITIONS)
    assert {m.name for m in analysis.metrics} <= set(frame.columns)


def test_a_metric_that_a_trial_lacks_is_null_and_not_zero() -> None:
    analysis = sample_analysis()
    before = trials_frame(analysis)["all.p99"].null_count()
    del analysis.trials[0].values["all.p99"]
    after = trials_frame(analysis)["all.p99"]
    assert after[0] is None
    assert after.null_count() == before + 1


def test_failed_operations_of_an_imported_trial_are_its_reported_ones() -> None:
    analysis = sample_analysis()
    analysis.trials[0].values["errors"] = 12.0
    assert trials_frame(analysis)["errors"][0] == 12.0


def test_an_imported_metric_cannot_take_the_place_of_another_column() -> None:
    analysis = sample_analysis()
    odd = analysis.metrics[0].model_copy(update={"name": "block"})
    analysis.metrics.append(odd)
    for trial in analysis.trials:
        trial.values["block"] = 0.5
    frame = trials_frame(analysis)
    assert frame["block"].to_list() == [t.block for t in analysis.trials]
    assert set(frame["metric.block"]) == {0.5}


def test_parquet_gives_back_the_same_table() -> None:
    frame = trials_frame(sample_analysis())
    assert pl.read_parquet(io.BytesIO(parquet(frame))).equals(frame)


def test_every_effect_is_a_row_with_all_its_fields() -> None:
    analysis = sample_analysis()
    frame = effects_frame(analysis)
    assert frame.height == len(analysis.effects)
    first, row = analysis.effects[0], frame.row(0, named=True)
    assert (row["ci_low"], row["ci_high"]) == first.ci
    assert row["unit"] == "us/operation"
    assert row["verdict"] == first.verdict
    made_of_parts = {"pairs", "crosschecks", "others"}
    for name in set(Effect.model_fields) - {"levels"}:
        found = {name, f"{name}_low"} & set(frame.columns)
        assert bool(found) == (name not in made_of_parts), name


def test_no_effects_and_no_trials_are_empty_tables() -> None:
    analysis = sample_analysis()
    analysis.effects, analysis.trials = [], []
    names = dict(files(analysis))
    assert pl.read_parquet(io.BytesIO(bytes(names["trials.parquet"]))).height == 0  # type: ignore[arg-type]
    assert str(names["trials.csv"]).startswith("study,run,trial,condition,levels.platform")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_no_text_in_a_csv_file_can_be_taken_for_a_formula(text: str) -> None:
    frame = pl.DataFrame({"name": [text, "plain"], "value": [-1.5, 2.0]})
    rows = list(reader.reader(io.StringIO(csv(frame), newline="")))
    assert rows[0] == ["name", "value"]
    cell = rows[1][0]
    assert cell in (text, "'" + text)
    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@"))
    assert rows[1][1] == "-1.5", "numbers stay numbers"


def test_a_hostile_reason_is_guarded_in_the_file() -> None:
    analysis = sample_analysis()
    analysis.trials[0].reason = '=HYPERLINK("http://evil.invalid","click")'
    text = str(dict(files(analysis))["trials.csv"])
    assert "'=HYPERLINK" in text
    assert ",=HYPERLINK" not in text
