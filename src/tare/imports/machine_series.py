"""A machine's series from another tool, as samples.parquet beside the trial's manifest."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tare.imports.file_content import UnreadableError
from tare.records.samples import samples_schema, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from tare.imports.file_content import FileReading
    from tare.records.manifest import TrialManifest

SERIES = ("sar", "iostat", "dstat")
"""Tools whose files add series to existing trials."""
SLACK_S = 2.0
"""Largest difference between a tool's clock and the client's."""


def append_samples(path: Path, manifest: TrialManifest, reading: FileReading, scope: str) -> None:
    """Add the reading's samples to the file, beside other metrics and other scopes' samples.

    A metric that the scope has already is replaced, which is noted if another file gave it.

    Where the trial's own time is not known, the series' first interval is taken as its start,
    and the manifest notes it.

    Raises:
        UnreadableError: no sample lies within the trial.
        OSError: the file cannot be written.
    """
    table = _aligned(manifest, reading, scope)
    if path.is_file():
        try:
            schema = samples_schema()
            before = pq.read_table(path).select(schema.names).cast(schema)
        except (OSError, KeyError, pa.ArrowException) as error:
            raise UnreadableError(f"the trial's samples.parquet is damaged: {error}") from error
        again = pc.and_(
            pc.equal(before["scope"], scope), pc.is_in(before["metric"], table["metric"].unique())
        )
        replaced = sorted(before.filter(again)["metric"].unique().to_pylist())
        known = manifest.source.files if manifest.source is not None else []
        if replaced and any(scope in one.scope.split() for one in known):
            names = ", ".join(replaced)
            reading.notes.append(f"{names} of {scope}: from the later of two files")
        table = pa.concat_tables([before.filter(pc.invert(again)), table])
    aside = path.with_name(f".{path.name}")
    write_table(aside, table)
    aside.rename(path)


def _aligned(manifest: TrialManifest, reading: FileReading, scope: str) -> pa.Table:
    times = sorted({sample.t for sample in reading.samples})
    if not times:
        raise UnreadableError("it holds no interval")
    step = times[1] - times[0] if len(times) > 1 else 0.0
    begin = times[0] - step
    shift = 0.0
    if not reading.samples_absolute:
        shift = manifest.measure_start - begin
        reading.notes.append("a series without time of day was laid from the trial's start on")
    elif not manifest.started:
        _adopt(manifest, begin, times[-1])
        reading.notes.append("the trial's own time is unknown: it was taken from its series")
    end = max(manifest.measure_end, manifest.measure_start)
    first, last = manifest.measure_start - SLACK_S, end + SLACK_S
    if not any(first <= time + shift <= last for time in times):
        raise UnreadableError(
            f"it covers {_clock(times[0] + shift)} to {_clock(times[-1] + shift)}, the trial ran "
            f"from {_clock(manifest.measure_start)} to {_clock(end)}"
        )
    rows = [
        {"t": one.t + shift, "scope": scope, "metric": one.metric, "value": one.value}
        for one in reading.samples
    ]
    return pa.Table.from_pylist(rows, schema=samples_schema())


def _adopt(manifest: TrialManifest, begin: float, end: float) -> None:
    """Give the trial the series' time; its length stays as it was printed, if it was."""
    seconds = manifest.measure_end - manifest.measure_start or end - begin
    manifest.measure_start, manifest.measure_end = begin, begin + seconds
    manifest.started, manifest.ended = iso(begin), iso(begin + seconds)


def iso(unix: float) -> str:
    """ISO 8601 in UTC."""
    return datetime.fromtimestamp(unix, UTC).isoformat(timespec="milliseconds")


def _clock(unix: float) -> str:
    return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d %H:%M:%S")
