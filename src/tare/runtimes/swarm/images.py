"""Brings images to a Swarm's nodes without a registry: one engine saves, the others load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.settings import connect_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import docker


def provide(
    source: docker.DockerClient,
    image: str,
    nodes: Sequence[str],
    engines: Mapping[str, str],
    say: Callable[[str], None],
    connect: Callable[[str], docker.DockerClient] = connect_engine,
) -> None:
    """Give an image of the manager's engine to every node whose engine is named.

    Args:
        source: the manager's engine.
        image: its id, by which tasks refer to it.
        nodes: host names of the nodes that units may run on.
        engines: host name to engine.
        say: told what takes time, and which nodes must already have the image.
        connect: makes a client of an engine.

    Raises:
        RuntimeUnavailableError: an engine does not answer or does not take it.
    """
    own = str(source.info().get("Name") or "")
    for node in nodes:
        if node == own:
            continue
        if node not in engines:
            say(
                f"node {node} is given no image, for its engine is not named in the file of "
                f"TARE_SWARM; unless it has {_name(source, image)}, its tasks will be rejected"
            )
            continue
        engine = connect(engines[node])
        try:
            if not _has(engine, image):
                name = _name(source, image)
                say(f"giving the image {name} to {node}")
                # as a stream: an image of a database is too large for memory
                api: Any = engine.api  # the stubs leave it untyped
                api.load_image(source.images.get(name).save(named=name))
        except (DockerException, RequestException, OSError) as error:
            raise RuntimeUnavailableError(
                "an image could not be brought to a node of the Swarm",
                where=node, why=str(error),
                remedy="docker save on the manager, docker load on the node, by hand",
            ) from error  # fmt: skip


def _has(engine: docker.DockerClient, image: str) -> bool:
    try:
        engine.images.get(image)
    except ImageNotFound:
        return False
    return True


def _name(source: docker.DockerClient, image: str) -> str:
    tags = source.images.get(image).tags
    return str(tags[0]) if tags else image
