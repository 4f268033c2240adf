"""The data directory of a container before its start: made for its user, and filled."""

from __future__ import annotations

import io
import tarfile
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docker import APIClient
    from docker.types import Mount

    from tare.artifacts.snapshot import NodeSnapshot


def make_directory(api: APIClient, container: str, directory: str, owner: int) -> None:
    """Make a directory of a container that has not started, or give it to its user.

    Args:
        api: the engine.
        container: its id; its root file system can be written.
        directory: within the container, or where a volume of its own is mounted.
        owner: number of the user and of the group.

    Raises:
        DockerException: the engine could not do it.
    """
    entry = tarfile.TarInfo(directory.strip("/"))
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o755, owner, owner
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as into:
        into.addfile(entry)
    api.put_archive(container, "/", archive.getvalue())


def give_volume(
    api: APIClient, image: str, mount: Mount, owner: int, labels: dict[str, str]
) -> None:
    """Give a volume to its user, by a container that is never started.

    The engine changes no owner within a container whose root file system is read-only.

    Args:
        api: the engine.
        image: the image of the volume's unit.
        mount: the volume, and where.
        owner: number of the user and of the group.
        labels: of the run, in case this process dies meanwhile.

    Raises:
        DockerException: the engine could not do it.
    """
    settings = api.create_host_config(mounts=[mount])
    made = api.create_container(image, ["none"], host_config=settings, labels=labels)["Id"]
    try:
        make_directory(api, made, mount["Target"], owner)
    finally:
        api.remove_container(made, force=True)


def put_snapshot(
    api: APIClient, container: str, snapshot: NodeSnapshot, directory: str, owner: int
) -> None:
    """Put a snapshot into a volume or the writable layer of a container that has not started.

    Args:
        api: the engine.
        container: its id.
        snapshot: the only content that the directory is to hold.
        directory: within the container; it exists.
        owner: number of the files' user and group.

    Raises:
        ArtifactError: the directory then held something else.
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
