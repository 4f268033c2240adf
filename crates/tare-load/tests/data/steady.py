"""Writes steady.json: series, and what `tare.analysis.steady` says of them.

Run from the top of the source tree: python crates/tare-load/tests/data/steady.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tare.analysis.steady import change_points, mser5


def series() -> dict[str, np.ndarray]:
    """Flat, rising, stepping, drifting, stalling and autocorrelated series of several lengths."""
    rng = np.random.default_rng(20)
    made: dict[str, np.ndarray] = {"short": rng.normal(100, 5, 54), "constant": np.full(60, 7.0)}
    for length in (55, 58, 60, 119, 300):
        noise = rng.normal(0, 4, length)
        at = np.arange(length)
        made[f"flat {length}"] = 100 + noise
        made[f"start-up {length}"] = np.minimum(100, 100 * at / (length / 5)) + noise
        made[f"late step {length}"] = np.where(at < 0.7 * length, 100, 60) + noise
        made[f"early step {length}"] = np.where(at < 0.3 * length, 60, 100) + noise
        made[f"drift {length}"] = 100 + at * (30 / length) + noise
        made[f"stall {length}"] = np.where(abs(at - length / 2) < 4, 5, 100) + noise
        walk = np.zeros(length)
        for i in range(1, length):
            walk[i] = 0.7 * walk[i - 1] + noise[i]
        made[f"autocorrelated {length}"] = 100 + walk
    return made


def main() -> None:
    vectors = []
    for name, values in series().items():
        rounded = [round(float(value), 3) for value in values]
        found = mser5(rounded)
        vectors.append(
            {
                "name": name,
                "series": rounded,
                "cut": found.intervals if found else None,
                "steady": found.steady if found else None,
                "changes": change_points(rounded),
            }
        )
    text = ",\n".join(json.dumps(vector) for vector in vectors)
    Path(__file__).with_suffix(".json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
