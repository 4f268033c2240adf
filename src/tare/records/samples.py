"""The sampler's series of a trial: reads samples.parquet into arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

SeriesKey = tuple[str, str]
"""(scope, metric), such as machine and cpu_user; empty where the file has none."""

NAMES, NUMBERS = ("scope", "metric"), ("t", "value")


@dataclass(frozen=True)
class Samples:
    """One row per sampled value, in the order of the file.

    Attributes:
        parts: the sampled parts, in the order in which they first appear.
        part: the part of each row, shape (rows,).
        t: Unix s, shape (rows,); NaN where the file has none.
        value: shape (rows,); NaN where the file has none.
    """

    parts: list[SeriesKey]
    part: NDArray[np.intp]
    t: NDArray[np.float64]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Iterable[tuple[float, str, str, float]]) -> Samples:
        """From rows of t, scope, metric, value."""
        listed = list(rows)
        places: dict[SeriesKey, int] = {}
        part = [places.setdefault(row[1:3], len(places)) for row in listed]
        return cls(
            list(places),
            np.array(part, dtype=np.intp),
            np.array([row[0] for row in listed], dtype=np.float64),
            np.array([row[3] for row in listed], dtype=np.float64),
        )

    def rows(self, chosen: NDArray[np.bool_]) -> list[tuple[SeriesKey, NDArray[np.intp]]]:
        """Each part with its chosen rows, ascending; parts without chosen rows are left out."""
        own = np.flatnonzero(chosen)
        own = own[np.argsort(self.part[own], kind="stable")]
        ends = np.searchsorted(self.part[own], np.arange(len(self.parts)), side="right")
        groups = np.split(own, ends[:-1]) if self.parts else []
        return [(p, group) for p, group in zip(self.parts, groups, strict=True) if group.size]

    def of_machines(self) -> NDArray[np.bool_]:
        """Whether a row is of a whole machine, this one or a host, shape (rows,)."""
        return np.array([is_machine(part[0]) for part in self.parts], dtype=np.bool_)[self.part]


def is_machine(scope: str) -> bool:
    """Whether a scope is a whole machine: `machine`, or `machine@HOST` of an inventory."""
    return scope == "machine" or scope.startswith("machine@")


def read_samples(path: Path) -> Samples:
    """Read a trial's samples.

    Raises:
        RecordError: the file is missing or not what it should be.
    """
    import pyarrow as pa  # trials in slices have no samples, and need not wait for it
    import pyarrow.parquet as pq

    try:
        # names repeat in every row: read as numbers into a dictionary
        with pq.ParquetFile(path, read_dictionary=list(NAMES)) as file:
            table = file.read(columns=[*NUMBERS, *NAMES], use_threads=False)
        t, value = (_numbers(table.column(name)) for name in NUMBERS)
        (scopes, scope), (metrics, metric) = (_names(table.column(name)) for name in NAMES)
    except FileNotFoundError as error:
        raise damaged(path, "samples.parquet is missing") from error
    except (OSError, pa.ArrowException, KeyError) as error:
        raise damaged(path, f"samples.parquet is unreadable: {error}") from error
    pairs, first, part = np.unique(
        scope * len(metrics) + metric, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    named = [divmod(int(pair), len(metrics)) for pair in pairs[order]]
    return Samples([(scopes[s], metrics[m]) for s, m in named], rank[part], t, value)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """The numbers, with NaN for missing ones."""
    found: NDArray[np.float64] = column.cast("float64").to_numpy()
    return found


def _names(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct names, and the name's number per row; a missing name is the empty name."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    names = [name or "" for name in whole.dictionary.cast(pa.string()).to_pylist()]
    codes = whole.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
    return [*names, ""], codes.astype(np.int64)


def samples_schema() -> pa.Schema:
    """The columns of samples.parquet."""
    import pyarrow as pa

    kinds = {"t": pa.float64(), "scope": pa.string(), "metric": pa.string(), "value": pa.float64()}
    return pa.schema(kinds)


def write_table(path: Path, samples: pa.Table) -> None:
    """Write a trial's samples, with the columns of `samples_schema`."""
    import pyarrow.parquet as pq

    pq.write_table(samples, path, compression="zstd")


def damaged(path: Path, why: str) -> RecordError:
    return RecordError("a record is damaged", where=str(path), why=why)
