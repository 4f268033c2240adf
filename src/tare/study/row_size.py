"""Size of a populated row on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.study.schema import Load

ROW_OVERHEAD_BYTES, COLUMN_OVERHEAD_BYTES = 80, 22
"""On disk per row and replica beyond the values: 1,300 bytes were seen of YCSB's 10 x 100, 350 of
cassandra-stress's 5 x 34 (whose tables are not compressed). A BSON document of the same row takes
as much: 1,150 bytes, its key twice more in the index of _id."""
OWN_ROW_BYTES = 1_000
"""A row of a workload of the study's own, whose tables are not known here."""


def row_bytes(load: Load) -> int:
    """Bytes on disk of one populated row on one replica."""
    if load.statements is not None:
        return OWN_ROW_BYTES if load.statements.populate is not None else 0
    return ROW_OVERHEAD_BYTES + load.columns * (load.column_bytes + COLUMN_OVERHEAD_BYTES)
