"""Damaged files, which hypothesis makes from a sound one, and how many are tried."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hypothesis import strategies as st

LONG = int(os.environ.get("TARE_EXAMPLES", "0"))
"""Inputs for each test of damaged files, if many are requested (`make fuzz`); 0: few."""


def examples(few: int) -> int:
    """The number of inputs to try; this few suffice every day."""
    return LONG or few


SPICE = [
    *(b"\x00", b"\xff", b"NaN", b"-1", b"1e999", b"9" * 400, b",", b"\n", b"[", b"{", b'"'),
    *(b"Results:", b"END", b"[OVERALL], ", b"HIST", b"\xf0\x9f\x92\xa5", b"0", b"Infinity"),
    *(b"9" * 5000, b"1e-300"),
]


@st.composite
def mutations(draw: st.DrawFn, data: bytes, spice: Sequence[bytes] = SPICE) -> bytes:
    """The data, cut, spliced, spiced or reordered a few times."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.integers(0, 200)))
        kind = draw(st.sampled_from(["cut", "drop", "twice", "spice", "lines", "byte"]))
        if kind == "cut":
            data = data[:at]
        elif kind == "drop":
            data = data[:at] + data[to:]
        elif kind == "twice":
            data = data[:to] + data[at:]
        elif kind == "spice":
            data = data[:at] + draw(st.sampled_from(spice)) + data[to:]
        elif kind == "byte":
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        else:
            lines = data.split(b"\n")
            one, two = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            lines[one], lines[two] = lines[two], lines[one]
            data = b"\n".join(lines)
    return data
