"""Cassandra's files where units find them: in place, in an image, on hosts over SSH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.artifacts import image
from tare.artifacts.image_files import find_file
from tare.databases.cassandra.cluster import Installation
from tare.errors import ArtifactError
from tare.runtimes.key import declaration_of, runtime_and_group
from tare.runtimes.ssh.alike import one_image, one_place
from tare.runtimes.ssh.transfer import bring as transfer
from tare.runtimes.unit import Bits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from tare.artifacts.tree import Tree
    from tare.databases.destination import Destination
    from tare.runtimes.images import Images
    from tare.runtimes.ssh.hosts import Hosts
    from tare.study.database import Database


def bring(database: Database, to: Destination) -> Installation:
    """Cassandra and its Java where units of the destination's runtime find them.

    Raises:
        ArtifactError: files that are not available or not the locked ones.
        RuntimeUnavailableError: a host cannot have them.
    """
    if database.image and to.images is not None:
        return _of_image(to.images, database.image, to.say)
    tree = to.tree(database)
    jamm = next((jar for jar in tree.jars if jar.startswith("jamm-")), None)
    if jamm is None:
        raise ArtifactError(
            "no jamm jar beside Cassandra's", where=str(tree.lib), why="Cassandra needs it as agent"
        )
    jars = tuple(tree.jars)
    if to.hosts is not None:
        return _on_hosts(to.hosts, tree, jamm, to.runtime, to.say)
    if to.images is not None:
        made = to.images.bring(image.build_image(to.images.engine, tree, to.say), to.say)
        return Installation(image.JAVA, image.LIB, jamm, jars, Bits(tree.digest, made))
    return Installation(str(tree.java), str(tree.lib), jamm, jars, Bits(tree.digest))


def _of_image(images: Images, name: str, say: Callable[[str], None]) -> Installation:
    """An image that the study names; its environment tells where its files lie."""
    engine = images.engine
    identity, digest = image.named_image(engine, name, images.pull)
    settings = engine.images.get(identity).attrs["Config"].get("Env") or []
    environment = dict(entry.split("=", 1) for entry in settings)
    home = environment.get("CASSANDRA_HOME", "/opt/cassandra")
    java = environment.get("JAVA_HOME", "/opt/java/openjdk")
    lib = f"{home}/lib"
    jamm = find_file(engine, identity, lib, "jamm-", ".jar")
    own = images.fetch(name, identity, say)
    return Installation(
        f"{java}/bin/java", lib, jamm, (), Bits(digest or identity, own, named=name)
    )


def _on_hosts(
    hosts: Hosts, tree: Tree, jamm: str, runtime: str, say: Callable[[str], None]
) -> Installation:
    """Cassandra on all hosts for nodes of the runtime's group."""
    jars = tuple(tree.jars)
    machines = hosts.nodes_of(runtime_and_group(runtime)[1])
    if not declaration_of(runtime).in_place:
        tag = one_image(machines, lambda own, told: image.build_image(own, tree, told), say)
        return Installation(image.JAVA, image.LIB, jamm, jars, Bits(tree.digest, tag))
    held: set[PurePosixPath] = set()
    for machine in machines:
        what = f"Cassandra {tree.version} and its Java"
        root = transfer(machine.connection, tree.files(), machine.files, what, say)
        done = machine.connection.run(root / "jre" / "bin" / "java", "-version")
        if done.status != 0:
            raise machine.connection.failed("java", done)
        held.add(root)
    root = one_place(held)
    java, lib = root / "jre" / "bin" / "java", root / "cassandra" / "lib"
    return Installation(str(java), str(lib), jamm, jars, Bits(tree.digest))
