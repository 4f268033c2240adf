"""Looks into an image without running it."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, cast

from docker.errors import DockerException

from tare import starter
from tare.errors import ArtifactError

if TYPE_CHECKING:
    import docker


LABEL = "tare.run"
"""label by which `tare clean` finds what a crash left, once the process that made it has ended"""


class Chunks:
    """The part of a file that tarfile's stream mode reads, over an iterator of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (chunk := next(self._chunks, b"")):
            self._rest += chunk
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def find_file(
    client: docker.DockerClient, image: str, directory: str, prefix: str, suffix: str
) -> str:
    """The name of the one file in an image's directory with this prefix and suffix.

    Raises:
        ArtifactError: the image has no such directory or file.
    """
    try:
        container = client.containers.create(
            image,
            command=["-"],
            entrypoint=["-"],
            labels={LABEL: "image", starter.LABEL: starter.label()},
        )
        try:
            stream, _ = container.get_archive(directory)
            reader = cast("IO[bytes]", Chunks(iter(stream)))
            with tarfile.open(fileobj=reader, mode="r|") as archive:
                # read to the end: the engine holds the container while an archive is half read
                names = [PurePosixPath(member.name).name for member in archive]
        finally:
            container.remove(force=True)
    except DockerException as error:
        raise ArtifactError(
            f"no {directory} in the image",
            where=image,
            why=str(error),
            remedy="name an image of Apache Cassandra, e.g. cassandra:5.0",
        ) from error
    for name in sorted(names):
        if name.startswith(prefix) and name.endswith(suffix):
            return name
    raise ArtifactError(f"no {prefix}*{suffix} in {directory} of the image", where=image)
