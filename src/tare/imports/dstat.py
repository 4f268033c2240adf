"""dstat's CSV (--output), and the same format of pcp-dstat and dool.

Groups of columns: total cpu usage (later versions: total usage), dsk/total, net/total, system.
Times: epoch (-T) is best; the time of day (-t) has no year.
"""

from __future__ import annotations

import csv
from itertools import pairwise
from typing import TYPE_CHECKING

from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.parsing import lines_of, number
from tare.imports.probe_names import as_samples, checked_cpus, cpu_samples
from tare.imports.recognise import not_ours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GROUPS = ("total cpu usage", "total usage")
CPU = {"usr": "user", "sys": "system", "idl": "idle", "wai": "iowait", "hiq": "irq",
       "siq": "soft", "stl": "steal"}  # fmt: skip
OTHERS = {
    ("dsk/total", "read"): "disk_read_bytes_per_s", ("dsk/total", "writ"): "disk_write_bytes_per_s",
    ("io/total", "read"): "disk_reads_per_s", ("io/total", "writ"): "disk_writes_per_s",
    ("net/total", "recv"): "net_rx_bytes_per_s", ("net/total", "send"): "net_tx_bytes_per_s",
    ("system", "int"): "intr_per_s", ("system", "csw"): "ctxt_per_s",
    ("load avg", "1m"): "load1",
}  # fmt: skip

Column = tuple[str, str]


def read(data: bytes, cpus: int | None, interval: float | None) -> list[FileReading]:
    """The series in a file.

    Args:
        cpus: of the machine; dstat prints shares of it and not their number.
        interval: seconds between rows, where the file has no epoch.

    Raises:
        UnreadableError: it is not dstat's, cut off, or lacks the times or the number of CPUs.
    """
    lines = lines_of(data)
    try:
        rows = [row for row in csv.reader(lines) if row]
    except csv.Error as error:
        raise UnreadableError(f"damaged CSV: {error}") from None
    columns, body = _split(rows, lines)
    has_cpu = any(group in GROUPS for group, _ in columns)
    known = checked_cpus(cpus, "give --cpus") if has_cpu else 1
    reading = FileReading(summary=False)
    reading.samples_absolute = any(name == "epoch" for _, name in columns)
    if not reading.samples_absolute and interval is None:
        raise UnreadableError("it has no epoch (dstat -T); give --interval")
    # as in vmstat and iostat, the first row is the mean since the machine started
    reading.notes.append("dstat's first row, the mean since the machine started, is left out")
    for place, cells in enumerate(body[1:], start=1):
        row = _row(columns, cells)
        t = row["epoch", "epoch"] if reading.samples_absolute else place * (interval or 0.0)
        shares = {CPU[name]: v for (g, name), v in row.items() if g in GROUPS and name in CPU}
        reading.samples += list(cpu_samples(t, shares, known))
        others = {OTHERS[key]: value for key, value in row.items() if key in OTHERS}
        reading.samples += as_samples(t, others)
    if not reading.samples:
        raise UnreadableError("no row of CPU, disks or network")
    return [reading]


def _split(
    rows: Sequence[Sequence[str]], lines: Sequence[str]
) -> tuple[list[Column], list[Sequence[str]]]:
    """The columns under their groups, and the rows below them."""
    for number_, (groups, names) in enumerate(pairwise(rows)):
        if len(groups) == len(names) and ("usr" in names or "read" in names or "recv" in names):
            columns: list[Column] = []
            group = ""
            for title, name in zip(groups, names, strict=True):
                group = title.strip() or group
                plain = "epoch" if name.strip().startswith("epoch") else name.strip()
                columns.append(("epoch" if plain == "epoch" else group, plain))
            return columns, list(rows[number_ + 2 :])
    raise UnreadableError(
        not_ours("dstat", "\n".join(lines), "no head of columns: not dstat's CSV")
    )


def _row(columns: Sequence[Column], cells: Sequence[str]) -> Mapping[Column, float]:
    if len(cells) != len(columns):
        raise UnreadableError(f"cut off or damaged: {','.join(cells)[:60]!r}")
    wanted = {
        key: cell
        for key, cell in zip(columns, cells, strict=True)
        if key in OTHERS or key[0] in (*GROUPS, "epoch")
    }
    return {key: number(cell, key[1]) for key, cell in wanted.items()}
