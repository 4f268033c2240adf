"""Tare detects and names other load on the machine before it measures."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tare.monitor.background_load import others, sample

BUSY = "import time; end = time.time() + 60\nwhile time.time() < end: pass"


def test_what_others_took_is_in_cores_and_the_busiest_are_named() -> None:
    before = {1: ("init", 5.0), 2: ("make", 1.0)}
    after = {1: ("init", 5.0), 2: ("make", 2.5), 3: ("cc1", 0.25)}
    found = others(before, after, 2.0, 0.03)
    assert found.cores == pytest.approx(0.875)
    assert found.busiest == ("make (2): 0.8", "cc1 (3): 0.1")
    assert found.disturb
    assert str(found).startswith("other programs use 0.9 cores (make (2): 0.8")
    assert "hypervisor takes 3%" in str(found)


def test_this_process_is_none_of_the_others() -> None:
    found = others({}, {os.getpid(): ("tare", 3.0)}, 1.0, 0.0)
    assert (found.cores, found.busiest, found.disturb) == (0.0, (), False)


def test_a_busy_program_is_seen() -> None:
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        found = sample(1.0)
    finally:
        process.kill()
        process.wait()
    assert found.disturb
    assert any(f"({process.pid})" in one for one in found.busiest)
