"""The line that a run shows while it works."""

from __future__ import annotations

import io
from datetime import datetime

import pytest

from tare.cli.console import Terminal
from tare.cli.live import LiveView, line
from tare.lab.progress import Progress


def test_it_tells_trial_phase_rate_tail_and_errors() -> None:
    progress = Progress(
        "measuring", "D1-B01-native", done=3, total=60, ops_per_s=12_345.6, p99_us=4_321.0, errors=2
    )
    assert line(progress) == (
        "[3/60]  measuring  D1-B01-native  12,346 ops/s  p99 4.3 ms  2 errors"
    )


@pytest.mark.parametrize(
    ("done", "seconds", "words"),
    [
        (3, 600.0, "about 10 min left"),
        (59, 20.0, "less than a minute left"),
        (3, 0.0, "slower than planned"),
        (60, 0.0, "less than a minute left"),
    ],
)
def test_the_time_that_is_left_is_never_a_promise_it_cannot_keep(
    done: int, seconds: float, words: str
) -> None:
    assert line(Progress("warming", done=done, total=60, seconds_left=seconds)).endswith(words)


def test_in_a_pipe_each_line_begins_with_the_time_of_day() -> None:
    out = io.StringIO()
    at = datetime(2026, 1, 2, 3, 4, 5)
    with LiveView(Terminal(file=out, width=80), now=lambda: at) as view:
        view.update(Progress("deploying", "native", total=4))
        view.update(Progress("measuring", "D1-B01-native", total=4, ops_per_s=5.0))
        view.say("D1-B01-native: 5 ops/s")
    assert out.getvalue().splitlines() == [
        "03:04:05  [0/4]  deploying  native",
        "03:04:05  D1-B01-native: 5 ops/s",
    ]
