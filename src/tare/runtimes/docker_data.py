"""The data directory of a container before its start: made for its user, and filled."""

from __future__ import annotations

import io
import tarfile
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docker import APIClient

    from tare.artifacts.snapshot import NodeSnapshot


def make_directory(
    api: APIClient, container: str, directory: str, owner: int, *, exists: bool
) -> None:
    """Give a directory of a container that has not started to its user.

    Args:
        api: the engine.
        container: its id.
        directory: within the container.
        owner: number of the user and of the group.
        exists: a volume is mounted there; else the image may have no such directory.

    Raises:
        DockerException: the engine could not do it.
    """
    place, name = (directory, ".") if exists else ("/", directory.strip("/"))
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o755, owner, owner
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as into:
        into.addfile(entry)
    api.put_archive(container, place, archive.getvalue())


def put_snapshot(
    api: APIClient, container: str, snapshot: NodeSnapshot, directory: str, owner: int
) -> None:
    """Put a snapshot into a volume or the writable layer of a container that has not started.

    Args:
        api: the engine.
        container: its id.
        snapshot: what the directory is to hold, and nothing else.
        directory: within the container; it exists.
        owner: number of the files' user and group.

    Raises:
        ArtifactError: it then held something else.
        DockerException: the engine could not do it.
    """
    with tempfile.TemporaryFile() as archive:
        snapshot.write_archive(archive, owner)
        archive.seek(0)
        api.put_archive(container, directory, archive)
    with tempfile.TemporaryFile() as archive:
        stream, _ = api.get_archive(container, directory)
        for part in stream:
            archive.write(part)
        archive.seek(0)
        snapshot.compare_archive(archive, f"{directory} of {container[:12]}")
