"""The tools whose files can be read, and the options that some of them need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tare.errors import UsageError
from tare.imports import (
    cassandra_stress,
    csv_tables,
    dstat,
    histograms,
    iostat,
    latte,
    sar,
    ycsb,
)
from tare.imports.file_content import FileReading
from tare.imports.machine_series import SERIES
from tare.imports.tool_names import TOOLS

Unit = Literal["ns", "us", "ms"]
Read = Callable[[bytes, Mapping[str, str]], list[FileReading]]
"""From a file's content and the fields of its name to the trials in it."""

TICKS: Mapping[str, int] = {"ns": 1, "us": 1000, "ms": 1_000_000}
ADDING = (*SERIES, "hlog")
"""Tools whose files can be added to existing trials."""


@dataclass(frozen=True)
class Options:
    """Facts that some tools' files lack.

    Attributes:
        unit: of histogram logs' values.
        scope: name of the series' machine; `machine` is the database's.
        cpus: of that machine, where the tool does not print them.
        interval: seconds between reports, where the tool prints no times.
    """

    unit: Unit | None = None
    scope: str = "machine"
    cpus: int | None = None
    interval: float | None = None


def reader_of(tool: str, options: Options) -> Read:
    """The tool's reader.

    Raises:
        UsageError: there is no such tool.
    """
    tick = TICKS[options.unit] if options.unit is not None else None
    readers: dict[str, Read] = {
        "ycsb": lambda data, named: ycsb.read(data),
        "cassandra-stress": lambda data, named: cassandra_stress.read(data),
        "latte": lambda data, named: latte.read(data),
        "hlog": lambda data, named: histograms.read(data, tick, named.get("operation")),
        "sar": lambda data, named: sar.read(data),
        "iostat": lambda data, named: iostat.read(data, options.cpus, options.interval),
        "dstat": lambda data, named: dstat.read(data, options.cpus, options.interval),
        "csv": lambda data, named: csv_tables.read(data),
    }
    if tool not in readers:
        raise UsageError(
            f"unknown tool {tool}", why=f"tools: {', '.join(TOOLS)}", remedy="name one of these"
        )
    return readers[tool]
