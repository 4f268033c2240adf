"""Brings images that Tare builds to the nodes: directly to each, or through a registry."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING, Any

from docker.errors import DockerException
from requests.exceptions import RequestException

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import docker

    from tare.runtimes.kubernetes.settings import Images

_IMPORT_S = 300.0
_LAST_LINES = 5


def provide(
    settings: Images,
    engine: docker.DockerClient,
    image: str,
    known: Iterable[frozenset[str]],
    say: Callable[[str], None],
) -> tuple[str, bool]:
    """Give a local image to the nodes.

    Args:
        settings: how they get images.
        engine: the Docker engine that has it.
        image: its id.
        known: per node, the names of images that it has already.
        say: told what takes time.

    Returns:
        Its name for pods, and whether nodes may pull it.

    Raises:
        RuntimeUnavailableError: no way to the nodes is named, or it failed.
    """
    name = _tag(engine, image)
    if settings.registry:
        return _push(engine, name, settings.registry, say), True
    nodes = list(known)
    if nodes and all(f"docker.io/{name}" in names for names in nodes):
        return name, False
    if not settings.import_:
        raise RuntimeUnavailableError(
            "there is no way for an image into the nodes of the Kubernetes cluster",
            where=name,
            why="its nodes do not have it, and neither images.import nor images.registry is set",
            remedy="name one in a file and set TARE_KUBERNETES to it; see docs/kubernetes.md",
        )
    say(f"giving the image {name} to the nodes")
    with tempfile.TemporaryFile() as archive:
        _save(engine, name, archive)
        for command in settings.import_:
            archive.seek(0)
            _import(command, archive, name)
    return name, False


def _tag(engine: docker.DockerClient, image: str) -> str:
    """The name under which the engine knows an image."""
    try:
        tags = engine.images.get(image).tags
    except (DockerException, RequestException) as error:
        raise _failed(image, str(error)) from error
    if not tags:
        raise _failed(image, "it has no name, by which alone nodes can refer to it")
    return str(tags[0])


def _save(engine: docker.DockerClient, name: str, archive: IO[bytes]) -> None:
    try:
        for piece in engine.images.get(name).save(named=name):
            archive.write(piece)
    except (DockerException, RequestException, OSError) as error:
        raise _failed(name, str(error)) from error


def _import(command: Sequence[str], archive: IO[bytes], name: str) -> None:
    """Feed an archive to one of the user's commands; it is an argument list, and no shell runs."""
    try:
        done = subprocess.run(
            command, stdin=archive, capture_output=True, timeout=_IMPORT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(name, f"{' '.join(command)}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        why = "\n".join(
            [f"{' '.join(command)}: exit status {done.returncode}", *said[-_LAST_LINES:]]
        )
        raise _failed(name, why)


def _push(engine: docker.DockerClient, name: str, registry: str, say: Callable[[str], None]) -> str:
    repository, _, tag = name.rpartition(":")
    target = f"{registry.rstrip('/')}/{repository.rpartition('/')[2]}"
    say(f"pushing the image {target}:{tag}")
    try:
        engine.images.get(name).tag(target, tag)
        told: Any = engine.images.push(target, tag=tag, stream=True, decode=True)
        for line in told:
            if "error" in line:
                raise _failed(f"{target}:{tag}", str(line["error"]))
    except (DockerException, RequestException) as error:
        raise _failed(f"{target}:{tag}", str(error)) from error
    finally:
        # the registry's name was only for the push: this engine keeps Tare's own
        if f"{target}:{tag}" != name:
            with contextlib.suppress(DockerException, RequestException):
                engine.images.remove(f"{target}:{tag}")
    return f"{target}:{tag}"


def _failed(name: str, why: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(
        "an image could not be brought to the Kubernetes nodes",
        where=name,
        why=why,
        remedy="try the command of images.import, or docker push, by hand; see docs/kubernetes.md",
    )
