"""Decodes HdrHistogram's V2 text encoding, fast where nothing is unusual."""

from __future__ import annotations

import binascii
import struct
import zlib
from functools import lru_cache

import numpy as np
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    decode,
    get_compression_cookie,
    get_encoding_cookie,
)
from hdrh.histogram import HdrHistogram

from tare.records.latencies import Latencies

DECODE_ERRORS = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    zlib.error,
    ValueError,
    TypeError,
    IndexError,
    OverflowError,
    MemoryError,
    AssertionError,
)

_COMPRESSED, _ENCODED = get_compression_cookie(), get_encoding_cookie()
_HEADER = struct.Struct(">II")
"""Cookie and length of the compressed payload (HdrHistogram V2, big endian)."""
_PAYLOAD = struct.Struct(">IIIIQQd")
"""Cookie, length, index offset, significant figures, lowest and highest value, ratio."""


@lru_cache(maxsize=64)
def _resolution(lowest: int, highest: int, figures: int) -> tuple[int, int, int]:
    """(unit, half, number of counts) of a histogram with these settings."""
    shape = HdrHistogram(lowest, highest, figures)
    return shape.unit_magnitude, shape.sub_bucket_half_count_magnitude, shape.counts_len


class Decoder:
    """Decodes the histograms of one log, one after the other.

    It does the package's own decoding, without an empty histogram for each. Anything unusual is
    left to the package, and so is the error.
    """

    def __init__(self) -> None:
        self._text = ""
        self._latencies = Latencies()
        self._make_room(0)

    def _make_room(self, size: int) -> None:
        self._counts = np.zeros(size, np.int64)
        self._address = self._counts.ctypes.data

    def latencies(self, text: str) -> Latencies:
        """The histogram of a line. In closed loop, the lines of service and of response time are
        the same, and then they share one object."""
        if text != self._text:
            found = self._quickly(text)
            self._latencies = Latencies.of(HdrHistogram.decode(text)) if found is None else found
            self._text = text
        return self._latencies

    def _quickly(self, text: str) -> Latencies | None:
        try:
            packed = binascii.a2b_base64(text)
            cookie, length = _HEADER.unpack_from(packed)
            if cookie != _COMPRESSED or length != len(packed) - _HEADER.size:
                return None
            payload = zlib.decompress(packed[_HEADER.size :])
            cookie, _, _, figures, lowest, highest, _ = _PAYLOAD.unpack_from(payload)
            if cookie != _ENCODED:
                return None
            unit, half, size = _resolution(lowest, highest, figures)
            if size > self._counts.size:
                self._make_room(size)
            seen = decode(payload, _PAYLOAD.size, self._address, size, 8)
        except (*DECODE_ERRORS, struct.error):
            self._make_room(0)  # the array may have been written to
            return None
        if not seen["total"]:
            return None
        first, last = seen["min_nonzero_index"], seen["max_nonzero_index"]
        written = self._counts[first : last + 1]
        found = Latencies(written.copy(), unit, half, first=first)
        written[:] = 0
        return found
