"""The sampler's series as arrays, from files that several programs write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tare.errors import RecordError
from tare.records.samples import Samples, read_samples, samples_schema, write_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = ["t", "scope", "metric", "value"]
ROWS = [
    (1.0, "n1", "cpu", 0.5),
    (1.0, "machine", "cpu_user", 1.0),
    (2.0, "n1", "cpu", 0.25),
    (2.0, "machine", "cpu_user", float("inf")),
    (2.0, "machine", "cpu", 2.0),
]
PARTS = [("n1", "cpu"), ("machine", "cpu_user"), ("machine", "cpu")]


def by_arrow(path: Path) -> None:
    table = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    pq.write_table(pa.Table.from_pylist(table), path)


def by_pandas(path: Path) -> None:
    pd.DataFrame(ROWS, columns=COLUMNS).to_parquet(path)


def in_row_groups(path: Path) -> None:
    table = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    pq.write_table(pa.Table.from_pylist(table), path, row_group_size=2)


@pytest.mark.parametrize("write", [by_arrow, by_pandas, in_row_groups])
def test_rows_keep_their_order_and_parts_the_order_of_appearance(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    write(tmp_path / "samples.parquet")
    for found in (read_samples(tmp_path / "samples.parquet"), Samples.of(ROWS)):
        assert found.parts == PARTS
        assert found.part.tolist() == [0, 1, 0, 1, 2]
        assert found.t.tolist() == [1.0, 1.0, 2.0, 2.0, 2.0]
        assert found.value.tolist() == [0.5, 1.0, 0.25, float("inf"), 2.0]


def test_what_is_not_there_is_nan_or_nameless(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    table = {"t": [1.0, None], "scope": [None, "n1"], "metric": ["cpu", "cpu"], "value": [None, 1]}
    pq.write_table(pa.table(table), path)
    found = read_samples(path)
    assert found.parts == [("", "cpu"), ("n1", "cpu")]
    assert np.isnan(found.t).tolist() == [False, True]
    assert np.isnan(found.value).tolist() == [True, False]


def test_a_file_without_rows_has_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    write_table(path, samples_schema().empty_table())
    found = read_samples(path)
    assert (found.parts, len(found.t)) == ([], 0)
    assert found.rows(found.of_machines()) == []


def test_rows_of_a_part_are_those_chosen() -> None:
    found = Samples.of(ROWS)
    chosen = found.rows(np.isfinite(found.value))
    assert [(part, rows.tolist()) for part, rows in chosen] == [
        (("n1", "cpu"), [0, 2]),
        (("machine", "cpu_user"), [1]),
        (("machine", "cpu"), [4]),
    ]
    assert [part for part, _ in found.rows(found.of_machines())] == PARTS[1:]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_damage(tmp_path: Path, column: str) -> None:
    path = tmp_path / "samples.parquet"
    pd.DataFrame(ROWS, columns=COLUMNS).drop(columns=column).to_parquet(path)
    with pytest.raises(RecordError, match="damaged"):
        read_samples(path)
