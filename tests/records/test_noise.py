"""The kept pilot is written whole, and is used only on the same machine and kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tare.errors import RecordError
from tare.machines.facts import local_facts
from tare.records.kept_measurements import keep, kept_at, kept_here
from tare.records.noise import Noise
from tests.kept_noise import keep_pilot, pilot

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_kept_is_found_again_and_the_latest_replaces_it(tmp_path: Path) -> None:
    cache = tmp_path / "made" / "on demand"
    assert kept_here(Noise, local_facts(), cache) is None
    keep_pilot(cache, per_pass=0.5)
    latest = keep_pilot(cache, per_pass=0.01)
    assert kept_here(Noise, local_facts(), cache) == latest
    assert [file.name for file in cache.iterdir()] == ["noise.json"]


@pytest.mark.parametrize(
    "other", [{"hostname": "elsewhere"}, {"cpus": 999}, {"kernel": "1.0"}, {"cpu_model": "Z80"}]
)
def test_another_machine_s_noise_is_nobody_s(tmp_path: Path, other: dict[str, object]) -> None:
    keep_pilot(tmp_path)
    assert kept_here(Noise, replace(local_facts(), **other), tmp_path) is None  # type: ignore[arg-type]


def test_a_file_of_another_schema_or_none_at_all_is_no_pilot(tmp_path: Path) -> None:
    keep_pilot(tmp_path)
    told = json.loads(kept_at(Noise, tmp_path).read_text())
    kept_at(Noise, tmp_path).write_text(json.dumps(told | {"schema_version": 2}))
    assert kept_here(Noise, local_facts(), tmp_path) is None
    kept_at(Noise, tmp_path).write_text("{")
    assert kept_here(Noise, local_facts(), tmp_path) is None


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="TARE_CACHE"):
        keep(pilot(), tmp_path / "file")
