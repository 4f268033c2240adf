"""The compiled reader of histogram logs: crates/tare-hlog."""

from pathlib import Path

Counts = tuple[int, bytes]
Total = tuple[list[str], Counts]
Row = tuple[float, float, int, Counts]

def read(path: Path, percentile: float, /) -> tuple[float, list[Total], list[Row], int] | None: ...
