"""A cluster is not made if there is no disk space for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import DiskFullError
from tare.lab.disk_space import refuse_full_disk
from tare.study.schema import Load, Platform, Setup

HUGE = Load(records=10**12)
VOLUME = Platform(runtime="docker", storage="volume")


def test_a_small_cluster_has_room(tmp_path: Path) -> None:
    refuse_full_disk(Setup(load=Load(records=1)), tmp_path, None)


@pytest.mark.parametrize("platform", [Platform(), VOLUME])
def test_one_that_has_none_is_refused_with_the_place_and_the_numbers(
    tmp_path: Path, platform: Platform
) -> None:
    work, engine = tmp_path / "work", tmp_path / "engine"
    work.mkdir()
    engine.mkdir()
    with pytest.raises(DiskFullError, match="No space left on device") as refusal:
        refuse_full_disk(Setup(platform=platform, load=HUGE), work, engine)
    assert refusal.value.where == str(engine if platform is VOLUME else work)
    assert "MiB are free" in refusal.value.why
    assert "goes on from here" in refusal.value.remedy


def test_clusters_on_hosts_need_no_room_here(tmp_path: Path) -> None:
    refuse_full_disk(Setup(platform=Platform(machines="ssh"), load=HUGE), tmp_path, None)
