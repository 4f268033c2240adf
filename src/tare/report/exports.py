"""Trials and effects as tables for other programs: Parquet and CSV, one row each."""

from __future__ import annotations

import io
import math
import re
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from tare.analysis.model import Effect
from tare.report.escaping import no_formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Analysis, TrialSummary

LEVELS = "levels."
"""Prefix of a factor's name in a column's; no other column begins so."""
METRIC = "metric."
"""Prefix of a metric of imported files if another column already has its name."""

_IDENTITY: Mapping[str, Any] = {
    "study": pa.string(),
    "run": pa.string(),
    "trial": pa.string(),
    "condition": pa.string(),
}
_PLACE: Mapping[str, Any] = {
    "round": pa.int64(),
    "block": pa.int64(),
    "position": pa.int64(),
    "deployment": pa.string(),
    "status": pa.string(),
    "reason": pa.string(),
}
_FLAGS: Mapping[str, Any] = {
    "errors": pa.float64(),
    "saturated": pa.bool_(),
    "warm": pa.bool_(),
    "steady": pa.bool_(),
    "outlier": pa.bool_(),
}
_ENDS = ("_low", "_high")
_SPECIAL = ',"\n\r'
"""A text with one of these, or an empty text, stands in quotes."""


def trials_table(analysis: Analysis) -> pa.Table:
    """One row per trial: identity, levels, place in the design, metrics, validity flags.

    A metric that a trial does not have is null. The units of the metrics are in `analysis.metrics`.
    """
    levels = {c.condition: c.levels for c in analysis.conditions}
    factors = list(dict.fromkeys(f for of in levels.values() for f in of))
    schema: dict[str, Any] = {
        **_IDENTITY,
        **{LEVELS + factor: pa.string() for factor in factors},
        **_PLACE,
    }
    metrics = {}
    for name in dict.fromkeys(m.name for m in analysis.metrics if m.name != "errors"):
        taken = name in schema or name in _FLAGS or name.startswith(LEVELS)
        metrics[name] = METRIC + name if taken else name
    schema |= {**dict.fromkeys(metrics.values(), pa.float64()), **_FLAGS}
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
            row["saturated"] = None  # no other tool reports whether its client was the limit
        rows.append(row | {"errors": _errors(trial)})
    return pa.Table.from_pylist(rows, schema=pa.schema(schema))


def _numbered(name: str) -> list[tuple[int, str]]:
    """Sorts names by the numbers in them: 5 before 10."""
    parts = re.split(r"(\d+)", name)
    return [(int(one), "") if i % 2 else (-1, one) for i, one in enumerate(parts)]


def _errors(trial: TrialSummary) -> float:
    """Failed operations; an imported trial has their number among its values."""
    return trial.values.get("errors", float(trial.errors))


def effects_table(analysis: Analysis) -> pa.Table:
    """One row per effect: the fields of the JSON except parts; an interval is two columns."""
    units = {metric.name: metric.unit for metric in analysis.metrics}
    factors = list(dict.fromkeys(f for e in analysis.effects for f in e.levels))
    if not analysis.effects:
        fields = (column for name in _flat_fields() for column in _columns(name, None))
        return pa.table(dict.fromkeys(["metric", "unit", *fields], pa.array([])))
    return pa.Table.from_pylist([_effect(effect, factors, units) for effect in analysis.effects])


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


def parquet(table: pa.Table) -> bytes:
    """The table as a Parquet file."""
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def csv(table: pa.Table) -> str:
    """The table as CSV (RFC 4180, UTF-8) in which no text cell can be taken for a formula."""
    columns = [[name, *table[name].to_pylist()] for name in table.column_names]
    return "".join(",".join(map(_cell, row)) + "\n" for row in zip(*columns, strict=True))


def _cell(value: Any) -> str:
    """A cell of a CSV file: an unknown value is empty, an empty text has quotes."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "NaN" if math.isnan(value) else str(value)
    text = no_formula(value)
    special = not text or any(one in text for one in _SPECIAL)
    return '"{}"'.format(text.replace('"', '""')) if special else text


def files(analysis: Analysis) -> Iterable[tuple[str, str | bytes]]:
    """(file name, content) of all tables of a run."""
    trials = trials_table(analysis)
    yield "trials.parquet", parquet(trials)
    yield "trials.csv", csv(trials)
    yield "effects.csv", csv(effects_table(analysis))
