"""Histograms that count microseconds, as ones that count nanoseconds."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

LARGEST_NS = 3_600_000_000_000
"""An hour; nothing that a client waits for takes longer."""
_DIGITS = 3


def in_nanoseconds(line: str) -> str | None:
    """A histogram log's line of whole microseconds, with or without tag, as one of nanoseconds.

    A count in a bucket of microseconds, which were cut off at the decimal point, goes to the
    middle of the bucket: neither end is more likely. None for a line that holds nothing.
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
