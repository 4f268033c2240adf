"""The data directory of a container before its start: the snapshot is put there and compared."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docker import APIClient

    from tare.artifacts.snapshot import NodeSnapshot


def put_snapshot(
    api: APIClient, container: str, snapshot: NodeSnapshot, directory: str, *, exists: bool
) -> None:
    """Put a snapshot into a volume or the writable layer of a container that has not started.

    Args:
        api: the engine.
        container: its id.
        snapshot: what the directory is to hold, and nothing else.
        directory: within the container.
        exists: a volume is mounted there; else the image has no such directory.

    Raises:
        ArtifactError: it then held something else.
        DockerException: the engine could not do it.
    """
    place, within = (directory, "") if exists else ("/", f"{directory.strip('/')}/")
    with tempfile.TemporaryFile() as archive:
        snapshot.write_archive(archive, within)
        archive.seek(0)
        api.put_archive(container, place, archive)
    with tempfile.TemporaryFile() as archive:
        stream, _ = api.get_archive(container, directory)
        for part in stream:
            archive.write(part)
        archive.seek(0)
        snapshot.compare_archive(archive, f"{directory} of {container[:12]}")
