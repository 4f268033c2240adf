"""Images made from the artifact tree and from tare-load, without any registry."""

from __future__ import annotations

import re
import shlex
import tempfile
from typing import TYPE_CHECKING, Literal

from docker.errors import APIError, BuildError, ImageNotFound
from docker.utils import parse_repository_tag
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from tare.artifacts.digest import combined, digests_of, file_digest
from tare.artifacts.host_libraries import libraries_of, libraries_of_tree
from tare.artifacts.image_context import write_context
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import docker
    from docker.models.images import Image

    from tare.artifacts.tree import Tree

# Where things are inside the images.
TREE = "/opt/tare"
LIB = f"{TREE}/cassandra/lib"
JAVA = f"{TREE}/jre/bin/java"
LOAD = f"{TREE}/bin/tare-load"
POD = f"{TREE}/bin/tare-pod"
STUB = f"{TREE}/bin/tare-stub"
MONGOD = f"{TREE}/bin/mongod"
MICRO = f"{TREE}/bin/tare-micro"
Program = Literal["load", "pod", "stub", "micro", "mongod"]
_PROGRAMS: dict[Program, str] = {
    "load": LOAD, "pod": POD, "stub": STUB, "micro": MICRO, "mongod": MONGOD,
}  # fmt: skip

# Labels: the digest of the tree (or of tare-load), and the digest of the host's libraries.
BITS_LABEL = "tare.bits"
HOST_LABEL = "tare.host-libraries"


def build_image(
    client: docker.DockerClient, tree: Tree, say: Callable[[str], None] = lambda line: None
) -> str:
    """The image of a tree: its jars and Java below /opt/tare, and the host's own libraries.

    Tagged tare/cassandra:VERSION-DIGEST12. It is reused until the tree or the host's libraries
    change: native processes use the host's libraries, so the image does too.

    Returns:
        The image's id (sha256:...).

    Raises:
        ArtifactError: the engine could not build it.
        RuntimeUnavailableError: no ldd.
    """
    files = {f"{TREE}/{name}": path for name, path in tree.files()}
    version = re.sub(r"[^A-Za-z0-9_.-]", "_", tree.version)
    tag = f"tare/cassandra:{version}-{tree.digest[:12]}"
    return _build(client, tag, tree.digest, files, libraries_of_tree(tree), say)


def build_program_image(
    client: docker.DockerClient,
    name: Program,
    binary: Path,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """The image of one program, and the host's libraries that it needs.

    Tagged tare/NAME:DIGEST12 by the SHA-256 of the program.

    Args:
        name: load, the load client; pod, which proves paths and hands files over inside an
            orchestrator; stub, the server without a database that `tare weigh` drives; micro,
            which times single operations for `tare weigh`; mongod, the user's server in one
            program, the same bits as the native server.

    Returns:
        The image's id (sha256:...).

    Raises:
        ArtifactError: the engine could not build it.
        RuntimeUnavailableError: no ldd.
    """
    digest = file_digest(binary)
    tag = f"tare/{name}:{digest[:12]}"
    return _build(client, tag, digest, {_PROGRAMS[name]: binary}, libraries_of([binary]), say)


def named_image(
    client: docker.DockerClient, name: str, pull: str = "docker pull"
) -> tuple[str, str]:
    """An image that the user names: the local one, else pulled.

    Args:
        pull: the command that gives the engine an image, for the remedy.

    Returns:
        Its id, and its repository digest (NAME@sha256:...; empty for an image that was
        never in a registry).

    Raises:
        ArtifactError: it is not here and cannot be pulled.
    """
    try:
        image = _local(client, name) or _pulled(client, name)
    except (APIError, RequestException, HTTPError) as error:
        raise ArtifactError(
            f"the image {name} is not here and cannot be pulled",
            where="database.image",
            why=_reason(error),
            remedy=f"{pull} {shlex.quote(name)}, or load a saved image into the engine, or leave "
            "database.image out: Tare then builds an image from the locked files of Cassandra, or "
            "from the mongod of database.home",
        ) from error
    digests = image.attrs.get("RepoDigests") or [""]
    return str(image.id), str(digests[0])


def _reason(error: Exception) -> str:
    """The engine's own explanation if it gave one, without the request's address."""
    return str(getattr(error, "explanation", None) or error)


def _pulled(client: docker.DockerClient, name: str) -> Image:
    """Pull an image.

    Raises:
        APIError: the engine gave up; a failure half-way shows only in its progress messages.
        RequestException, HTTPError: the engine went away.
    """
    repository, tag = parse_repository_tag(name)
    for told in client.api.pull(repository, tag=tag or "latest", stream=True, decode=True):
        if "error" in told:
            raise APIError(str(told["error"]))
    return client.images.get(name)


def _local(client: docker.DockerClient, name: str) -> Image | None:
    try:
        return client.images.get(name)
    except ImageNotFound:
        return None


def _build(
    client: docker.DockerClient,
    tag: str,
    digest: str,
    files: Mapping[str, Path],
    libraries: Mapping[str, Path],
    say: Callable[[str], None],
) -> str:
    labels = {BITS_LABEL: digest, HOST_LABEL: combined(digests_of(libraries.items()))}
    try:
        existing = _local(client, tag)
        if existing is not None and labels.items() <= existing.labels.items():
            return str(existing.id)
        say(f"building the image {tag}")
        with tempfile.TemporaryFile() as context:
            write_context(context, {**libraries, **files}, f"{TREE}/jre/bin:{TREE}/bin")
            context.seek(0)
            # nocache: a layer that the engine has cached for this context may be from a build
            # that was killed; two seconds buy certainty.
            image, _ = client.images.build(
                fileobj=context, custom_context=True, tag=tag, labels=labels, rm=True, nocache=True
            )
    except (APIError, BuildError, RequestException) as error:
        raise ArtifactError(
            f"the engine could not build the image {tag}",
            why=_reason(error),
            remedy="tare doctor; look at the free space where the engine keeps its data",
        ) from error
    return str(image.id)
