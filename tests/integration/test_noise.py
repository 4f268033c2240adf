"""The pilot of `tare doctor --noise`: real servers without a database, driven in real slices."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tare.errors import LoadError
from tare.lab.pilot import pilot
from tare.machines import cgroups
from tare.machines.facts import local_facts
from tare.records.kept_measurements import kept_here
from tare.records.noise import Noise

from .conftest import TARE, leftovers, running

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.engine


def test_a_short_pilot_drives_its_servers_in_turn_and_leaves_nothing() -> None:
    found = pilot(6.0, (0, 1))
    passes = len(found.rows[0])
    assert len(found.rows) == 2
    assert len(found.rows[1]) == passes >= 5
    assert all(row.ops > 100 and row.seconds > 0.25 for rows in found.rows for row in rows)
    begun = [found.rows[server][place].unix for place, server in found.order]
    assert begun == sorted(begun), "the order is that in which they were driven"
    assert sorted(found.order) == [(place, one) for place in range(passes) for one in (0, 1)]
    can_freeze = os.geteuid() == 0 and cgroups.version() > 0
    assert found.frozen == can_freeze
    assert 0 <= found.steal < 1
    assert leftovers() == []


def test_what_a_killed_pilot_leaves_does_not_stop_the_next_one() -> None:
    doctor = subprocess.Popen([TARE, "doctor", "--noise"], stdout=subprocess.PIPE, text=True)
    try:
        while not running("tare-load"):
            assert doctor.poll() is None
            time.sleep(0.1)
        doctor.kill()
        doctor.wait()
    finally:
        doctor.kill()
    assert leftovers() != []
    pilot(6.0)
    assert leftovers() == []


def test_an_address_that_is_taken_is_refused_before_anything_starts() -> None:
    with socket.create_server(("127.190.0.1", 9042)), pytest.raises(LoadError) as refused:
        pilot(6.0)
    assert refused.value.where == "127.190.0.1:9042"
    assert "tare clean" in refused.value.remedy
    assert leftovers() == []


def test_doctor_measures_keeps_and_shows_the_noise(tmp_path: Path) -> None:
    def tare(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TARE, *words],
            cwd=tmp_path,
            env={**os.environ, "TARE_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = tare("doctor", "--noise", "--seconds", "15", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["schema_version"] == 1
    assert set(told["metrics"]) == {"service_demand", "throughput"}
    assert all(one["per_pass"] > 0 for one in told["metrics"].values())
    kept = kept_here(Noise, local_facts(), tmp_path / "cache")
    assert kept is not None
    assert json.loads(kept.model_dump_json()) == told
    shown = {one["what"]: one for one in json.loads(tare("doctor", "--json").stdout)}
    assert shown["noise"]["says"].startswith("measured just now: at least ±")
    refused = tare("doctor", "--noise", "--seconds", "5")
    assert refused.returncode == 2
    assert leftovers() == []
