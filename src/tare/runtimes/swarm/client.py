"""A load client beside a Swarm's units: a container of the manager's engine, files handed over."""

from __future__ import annotations

import contextlib
import io
import tarfile
from typing import TYPE_CHECKING, Any

from docker.errors import DockerException
from requests.exceptions import RequestException

from tare.errors import RuntimeUnavailableError
from tare.runtimes.confinement import NO_RIGHTS
from tare.runtimes.docker import DockerRunning
from tare.runtimes.kept_log import LONGEST, plain_files
from tare.runtimes.open_files import open_files
from tare.runtimes.swarm.documents import CONF
from tare.runtimes.swarm.names import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import docker

    from tare.runtimes.unit import Unit

_LOG_SIZE = "64m"


class ClientRunning(DockerRunning):
    """A container whose files are given before it starts, and fetched once it has ended."""

    def lines(self) -> Iterator[str]:
        yield from super().lines()
        with contextlib.suppress(DockerException, RequestException, OSError, tarfile.TarError):
            stream, _ = self._container.get_archive(CONF)
            unpack(stream, self.unit.site.conf_on_host)

    def packet_path(self) -> str:
        return ""


def launch(client: docker.DockerClient, run: str, name: str, unit: Unit) -> ClientRunning:
    """Start a client on its site's network, in the engine that Tare uses.

    Raises:
        RuntimeUnavailableError: the engine refused it, or went away.
    """
    api: Any = client.api
    files = {file.name: file.read_bytes() for file in unit.site.conf_on_host.iterdir()}
    limit = open_files()
    settings = api.create_host_config(
        network_mode=unit.site.network or "host",
        ulimits=[{"Name": "nofile", "Soft": limit, "Hard": limit}],
        nano_cpus=round(unit.limits.cpus * 1e9) if unit.limits.cpus else None,
        cpuset_cpus=unit.limits.cpuset,
        mem_limit=unit.limits.memory,
        log_config={"Type": "json-file", "Config": {"max-size": _LOG_SIZE}},
        **NO_RIGHTS,
    )
    made = ""
    try:
        made = api.create_container(
            unit.bits.image,
            name=name,
            entrypoint=unit.command[:1],
            command=unit.command[1:],
            environment=dict(unit.environment),
            labels=labels_of(run, unit.site.name),
            host_config=settings,
        )["Id"]
        api.put_archive(made, "/", packed(files, CONF))
        api.start(made)
        return ClientRunning(unit, client.containers.get(made), client)
    except (DockerException, RequestException, OSError) as error:
        if made:
            with contextlib.suppress(DockerException, RequestException, OSError):
                api.remove_container(made, force=True)
        raise RuntimeUnavailableError(
            "a load client could not be started in the manager's engine",
            where=unit.site.name, why=str(error), remedy="docker info; tare doctor",
        ) from error  # fmt: skip


def packed(files: dict[str, bytes], directory: str) -> bytes:
    """An archive of files in a directory that is made with them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for parent in (directory.strip("/").rpartition("/")[0], directory.strip("/")):
            made = tarfile.TarInfo(parent)
            made.type, made.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(made)
        for name, content in files.items():
            member = tarfile.TarInfo(f"{directory.strip('/')}/{name}")
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def unpack(archive: Iterable[bytes], into: Path) -> None:
    """Plain files of a directory's archive, by their own names: anyone may have made it.

    Raises:
        TimeoutError, TarError, OSError: it does not arrive whole, or not in time.
    """
    for path, size, content in plain_files(archive):
        name = path.rpartition("/")[2]
        if name not in ("", ".", "..") and size <= LONGEST:
            (into / name).write_bytes(content.read())
