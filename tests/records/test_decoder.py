"""The quick histogram decoder gives the same results as the package's decoder."""

from __future__ import annotations

import numpy as np
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tare.records.decoder import Decoder
from tare.records.latencies import Latencies

HIGHEST = 60_000_000_000
VALUES = st.lists(st.integers(1, HIGHEST), max_size=30)


def encoded(values: list[int], figures: int) -> str:
    histogram = HdrHistogram(1, HIGHEST, figures)
    for value in values:
        histogram.record_value(value)
    return str(histogram.encode().decode())


@given(st.lists(st.tuples(VALUES, st.integers(2, 4)), max_size=4))
def test_one_decoder_reads_one_histogram_after_the_other(
    logs: list[tuple[list[int], int]],
) -> None:
    decoder = Decoder()
    for values, figures in logs:
        text = encoded(values, figures)
        found, expected = decoder.latencies(text), Latencies.of(HdrHistogram.decode(text))
        assert np.array_equal(found.counts, expected.counts)
        assert (found.first, found.unit, found.half) == (
            expected.first,
            expected.unit,
            expected.half,
        )


def test_the_same_text_twice_is_the_same_histogram() -> None:
    decoder, text = Decoder(), encoded([1_000, 2_000], 3)
    assert decoder.latencies(text) is decoder.latencies(text)
