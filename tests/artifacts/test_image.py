"""Real images on a real engine: from the locked tree, from tare-load, and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import docker
import pytest

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.artifacts.digest import file_digest
from tare.artifacts.image import (
    build_image,
    build_program_image,
    named_image,
)
from tare.artifacts.tree import cassandra_tree
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.artifacts.tree import Tree

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture(scope="module")
def tree() -> Tree:
    return cassandra_tree("5.0.9", None)


def run(client: docker.DockerClient, name: str, *command: str) -> str:
    output = client.containers.run(
        name, list(command), network_mode="none", remove=True, stderr=True
    )
    return str(output.decode())


def test_the_image_carries_the_digest_of_the_tree(client: docker.DockerClient, tree: Tree) -> None:
    built = client.images.get(build_image(client, tree))

    assert built.labels[image.BITS_LABEL] == tree.digest
    assert f"tare/cassandra:5.0.9-{tree.digest[:12]}" in built.tags
    assert not built.attrs["Config"]["Volumes"]
    assert not built.attrs["Config"]["Entrypoint"]


def test_the_same_tree_gives_the_same_image_without_a_build(
    client: docker.DockerClient, tree: Tree
) -> None:
    first = build_image(client, tree)
    said: list[str] = []

    assert build_image(client, tree, said.append) == first
    assert said == []


def test_the_trees_java_and_cassandra_run_inside(client: docker.DockerClient, tree: Tree) -> None:
    output = run(
        client,
        build_image(client, tree),
        image.JAVA,
        "-cp",
        ":".join(f"{image.LIB}/{jar}" for jar in tree.jars),
        "org.apache.cassandra.tools.GetVersion",
    )

    assert output.splitlines()[-1] == "5.0.9"


def test_the_files_inside_are_the_trees_files(client: docker.DockerClient, tree: Tree) -> None:
    jar = tree.lib / "cassandra-all-5.0.9.jar"
    container = client.containers.create(build_image(client, tree), ["none"])
    try:
        chunks, status = container.get_archive(f"{image.LIB}/{jar.name}")
        assert status is not None and status["size"] == jar.stat().st_size
        assert jar.read_bytes() in b"".join(chunks)
    finally:
        container.remove()


def test_a_server_of_the_user_s_runs_inside_an_image_of_its_own(
    client: docker.DockerClient,
) -> None:
    """Any program with libraries: tare-load in place of a mongod."""
    binary = find("tare-load")
    built = client.images.get(build_program_image(client, "mongod", binary))
    assert built.labels[image.BITS_LABEL] == file_digest(binary)
    assert run(client, str(built.id), image.MONGOD, "--version").startswith("tare-load")


def test_the_load_client_runs_inside_its_image(client: docker.DockerClient) -> None:
    binary = find("tare-load")
    built = client.images.get(build_program_image(client, "load", binary))

    assert built.labels[image.BITS_LABEL] == file_digest(binary)
    assert "tare-load" in run(client, str(built.id), image.LOAD, "--help")


def test_a_named_image_that_is_here_needs_no_registry(
    client: docker.DockerClient, tree: Tree
) -> None:
    built = build_image(client, tree)

    assert named_image(client, f"tare/cassandra:5.0.9-{tree.digest[:12]}") == (built, "")


@pytest.mark.parametrize("name", ["localhost:1/tare/none:1", "Not A Name"])
def test_a_named_image_that_cannot_be_had_is_refused(
    client: docker.DockerClient, name: str
) -> None:
    with pytest.raises(ArtifactError) as caught:
        named_image(client, name)

    assert caught.value.where == "database.image"
    assert name in caught.value.what
