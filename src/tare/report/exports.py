"""Trials and effects as tables for other programs: Parquet and CSV, one row each."""

from __future__ import annotations

import io
import re
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import polars as pl
from pydantic import BaseModel

from tare.analysis.model import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Analysis, TrialSummary

LEVELS = "levels."
"""Before a factor's name in a column's; no other column begins so."""
METRIC = "metric."
"""Before the name of a metric of imported files that another column already has."""

_IDENTITY: Mapping[str, Any] = {
    "study": pl.String,
    "run": pl.String,
    "trial": pl.String,
    "condition": pl.String,
}
_PLACE: Mapping[str, Any] = {
    "round": pl.Int64,
    "block": pl.Int64,
    "position": pl.Int64,
    "deployment": pl.String,
    "status": pl.String,
    "reason": pl.String,
}
_FLAGS: Mapping[str, Any] = {
    "errors": pl.Float64,
    "saturated": pl.Boolean,
    "warm": pl.Boolean,
    "steady": pl.Boolean,
    "outlier": pl.Boolean,
}
_ENDS = ("_low", "_high")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def trials_frame(analysis: Analysis) -> pl.DataFrame:
    """One row per trial: identity, levels, place in the design, metrics, validity flags.

    A metric that a trial does not have is null. The units of the metrics are in `analysis.metrics`.
    """
    levels = {c.condition: c.levels for c in analysis.conditions}
    factors = list(dict.fromkeys(f for of in levels.values() for f in of))
    schema: dict[str, Any] = {
        **_IDENTITY,
        **{LEVELS + factor: pl.String for factor in factors},
        **_PLACE,
    }
    metrics = {}
    for name in dict.fromkeys(m.name for m in analysis.metrics if m.name != "errors"):
        taken = name in schema or name in _FLAGS or name.startswith(LEVELS)
        metrics[name] = METRIC + name if taken else name
    schema |= {**dict.fromkeys(metrics.values(), pl.Float64), **_FLAGS}
    rows = []
    trials = analysis.trials
    if any(trial.sources for trial in trials):  # Tare's own are in the order of their execution
        trials = sorted(trials, key=lambda one: _numbered(one.trial))
    for trial in trials:
        row: dict[str, Any] = {"study": analysis.study, "run": analysis.run}
        row |= {LEVELS + f: level for f, level in levels.get(trial.condition, {}).items()}
        row |= trial.model_dump(include={"trial", "condition", *_PLACE, *_FLAGS} - {"errors"})
        row |= {column: trial.values.get(name) for name, column in metrics.items()}
        if trial.sources:
            row["saturated"] = None  # no other tool tells whether its client was the limit
        rows.append(row | {"errors": _errors(trial)})
    return pl.DataFrame(rows, schema=schema, orient="row")


def _numbered(name: str) -> list[tuple[int, str]]:
    """Sorts names by the numbers in them: 5 before 10."""
    parts = re.split(r"(\d+)", name)
    return [(int(one), "") if i % 2 else (-1, one) for i, one in enumerate(parts)]


def _errors(trial: TrialSummary) -> float:
    """Failed operations; an imported trial has them among its values."""
    return trial.values.get("errors", float(trial.errors))


def effects_frame(analysis: Analysis) -> pl.DataFrame:
    """One row per effect: the fields of the JSON but those of parts; an interval is two columns."""
    units = {metric.name: metric.unit for metric in analysis.metrics}
    factors = list(dict.fromkeys(f for e in analysis.effects for f in e.levels))
    rows = [_effect(effect, factors, units) for effect in analysis.effects]
    return pl.DataFrame(rows, infer_schema_length=None, orient="row")


def _effect(effect: Effect, factors: Sequence[str], units: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"metric": effect.metric, "unit": units.get(effect.metric, "")}
    row |= {LEVELS + factor: effect.levels.get(factor) for factor in factors}
    for name in _flat_fields():
        row |= _columns(name, getattr(effect, name))
    return row


@cache
def _flat_fields() -> list[str]:
    """The effect's fields that fit into a row; levels are apart, and pairs fit into none."""
    done = {"metric", "levels"}
    return [
        name
        for name, field in Effect.model_fields.items()
        if name not in done and not _holds_parts(field.annotation)
    ]


def _holds_parts(kind: Any) -> bool:
    if isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind)):
        return True
    return any(_holds_parts(inner) for inner in get_args(kind))


def _columns(name: str, value: Any) -> dict[str, Any]:
    """One field as columns: an interval has two, a list of names is one text."""
    if name.startswith("ci"):
        low, high = (None, None) if value is None else value
        return {name + _ENDS[0]: low, name + _ENDS[1]: high}
    if isinstance(value, list | tuple):
        return {name: "; ".join(str(one) for one in value)}
    return {name: value}


def parquet(frame: pl.DataFrame) -> bytes:
    """The table as a Parquet file."""
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def csv(frame: pl.DataFrame) -> str:
    """The table as CSV (RFC 4180, UTF-8) in which no text cell can be taken for a formula."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    safe = frame.with_columns(
        pl.Series(name, [_guarded(text) for text in frame[name]], dtype=pl.String) for name in texts
    )
    return safe.rename({name: _guarded(name) or name for name in frame.columns}).write_csv()


def _guarded(text: str | None) -> str | None:
    """The text, behind an apostrophe where a spreadsheet would compute it (CSV injection)."""
    if text is None or not text.lstrip(" ").startswith(_FORMULA):
        return text
    return "'" + text


def files(analysis: Analysis) -> Iterable[tuple[str, str | bytes]]:
    """(file name, content) of all tables of a run."""
    trials = trials_frame(analysis)
    yield "trials.parquet", parquet(trials)
    yield "trials.csv", csv(trials)
    yield "effects.csv", csv(effects_frame(analysis))
