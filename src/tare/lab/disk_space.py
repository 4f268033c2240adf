"""Refuses a new cluster where its disk has no room for it."""

from __future__ import annotations

import shutil
from pathlib import Path

from tare.errors import DiskFullError
from tare.study.estimate import cluster_disk, in_engine_directory
from tare.study.quantities import MIB
from tare.study.schema import Setup


def refuse_full_disk(setup: Setup, work: Path, engine: Path | None) -> None:
    """Refuse a deployment of this setup whose clusters have no room.

    A database that runs out of disk dies, and so would each one after it. It is better to stop
    here and go on when there is room.

    Args:
        setup: what will be deployed.
        work: where native nodes keep their data.
        engine: where the Docker engine keeps its data; None: not known.

    Raises:
        DiskFullError: there is less than the plan's estimate for one deployment.
    """
    if setup.platform.source.from_inventory:
        return  # its nodes write to hosts' disks, which `tare doctor --machines` looks at
    place = engine if in_engine_directory(setup) and engine is not None else work
    need, free = cluster_disk(setup), shutil.disk_usage(place).free
    if free < need:
        raise DiskFullError(
            "No space left on device for the next cluster",
            where=str(place),
            why=f"{need // MIB} MiB may be needed, {free // MIB} MiB are free",
            remedy="free the disk; the same command goes on from here",
        )
