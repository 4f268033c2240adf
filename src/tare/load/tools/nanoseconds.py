"""Converts histograms of microseconds into histograms of nanoseconds."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

LARGEST_NS = 3_600_000_000_000
"""An hour; no client waits longer."""
_DIGITS = 3


def in_nanoseconds(line: str) -> str | None:
    """Convert a histogram log's line, with or without tag, from whole microseconds to nanoseconds.

    Microseconds were cut off at the decimal point. So a count goes to the middle of its bucket:
    neither end is more likely. None for an empty histogram.
    """
    plain = line.partition(",")[2] if line.startswith("Tag=") else line
    head, _, text = plain.rpartition(",")
    found = HdrHistogram.decode(text)
    if not found.get_total_count():
        return None
    scaled = HdrHistogram(1, LARGEST_NS, _DIGITS)
    for item in found.get_recorded_iterator():
        low = found.get_lowest_equivalent_value(item.value_iterated_to)
        width = found.get_highest_equivalent_value(low) - low + 1
        scaled.record_value(
            min(low * 1000 + width * 500, LARGEST_NS), item.count_at_value_iterated_to
        )
    encoded = scaled.encode()
    return f"{head},{encoded.decode() if isinstance(encoded, bytes) else encoded}"
