"""A machine's series of another tool, as samples.parquet beside the trial's manifest."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from tare.imports.file_content import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from tare.imports.file_content import FileReading
    from tare.records.manifest import TrialManifest

SERIES = ("sar", "iostat", "dstat")
"""Tools whose files add series to trials that are there."""
SAMPLE_COLUMNS = pl.Schema(
    {"t": pl.Float64, "scope": pl.String, "metric": pl.String, "value": pl.Float64}
)
SLACK_S = 2.0
"""A tool's clock may be so far from the client's."""


def append_samples(path: Path, manifest: TrialManifest, reading: FileReading, scope: str) -> None:
    """Add the reading's samples to the file, beside other metrics and those of other scopes.

    The same metric of the same scope is replaced, and noted if another file gave it.

    Where the trial's own time is not known, the series' first interval is taken as its start,
    and the manifest notes it.

    Raises:
        UnreadableError: no sample lies within the trial.
        OSError: the file cannot be written.
    """
    frame = _aligned(manifest, reading, scope)
    if path.is_file():
        try:
            before = pl.read_parquet(path).cast(SAMPLE_COLUMNS)
        except (OSError, pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise UnreadableError(f"the trial's samples.parquet is damaged: {error}") from error
        given = frame["metric"].unique().to_list()
        again = (pl.col("scope") == scope) & pl.col("metric").is_in(given)
        replaced = before.filter(again)["metric"].unique().sort().to_list()
        known = manifest.source.files if manifest.source is not None else []
        if replaced and any(scope in one.scope.split() for one in known):
            names = ", ".join(replaced)
            reading.notes.append(f"{names} of {scope}: from the later of two files")
        frame = pl.concat([before.filter(~again), frame])
    aside = path.with_name(f".{path.name}")
    frame.write_parquet(aside)
    aside.rename(path)


def _aligned(manifest: TrialManifest, reading: FileReading, scope: str) -> pl.DataFrame:
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
    frame = pl.DataFrame(
        {
            "t": [sample.t + shift for sample in reading.samples],
            "scope": scope,
            "metric": [sample.metric for sample in reading.samples],
            "value": [sample.value for sample in reading.samples],
        },
        schema=SAMPLE_COLUMNS,
    )
    end = max(manifest.measure_end, manifest.measure_start)
    inside = frame.filter(pl.col("t").is_between(manifest.measure_start - SLACK_S, end + SLACK_S))
    if not inside.height:
        raise UnreadableError(
            f"it covers {_clock(times[0] + shift)} to {_clock(times[-1] + shift)}, the trial ran "
            f"from {_clock(manifest.measure_start)} to {_clock(end)}"
        )
    return frame


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
