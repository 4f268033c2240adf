"""A MongoDB server's program where units find it: in place, in an image, on hosts over SSH."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.databases.mongodb.installation import (
    UNPACK,
    Installation,
    installed,
    refuse_other_release,
    release_in,
    release_of,
    unfit,
)
from tare.errors import ArtifactError, RuntimeUnavailableError, StudyError
from tare.runtimes.key import declaration_of, runtime_and_group
from tare.runtimes.ssh.alike import one_image, one_place
from tare.runtimes.ssh.transfer import bring as transfer
from tare.runtimes.unit import Bits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from tare.databases.destination import Destination
    from tare.runtimes.images import Images
    from tare.runtimes.ssh.hosts import Hosts
    from tare.study.database import Database


def bring(database: Database, to: Destination) -> Installation:
    """The user's mongod, or its stand-in, where units of the runtime find it.

    Raises:
        ArtifactError: there is no server.
        RuntimeUnavailableError: a host cannot have it, or it does not run there.
        StudyError: the study names another server than it asks for.
    """
    for fault in unfit(database, declaration_of(to.runtime).name):
        raise StudyError(fault.why, where=".".join(fault.field), remedy=fault.remedy)
    images = to.images
    if images is not None and database.image:
        return _of_image(images, database.image, to.say)
    if database.home is None and not database.stubbed:
        raise ArtifactError(
            "no MongoDB server to run",
            where="database.image" if images else "database.home",
            why="no public package has a current server, so that Tare fetches none",
            remedy='set database.image to an image that you may use, such as "mongo:7"'
            if images
            else UNPACK,
        )
    server = installed(Path(database.home) if database.home else find("tare-stub"))
    if to.hosts is not None:
        return on_hosts(to.hosts, server, database.version, to.runtime, to.say)
    if not server.stands_in:
        refuse_other_release(database.version, {"version": release_of(server.program)})
    if images is None:
        return server
    program = Path(server.program)
    built = image.build_program_image(images.engine, "mongod", program, to.say)
    made = images.bring(built, to.say)
    return replace(server, program=image.MONGOD, bits=Bits(server.bits.digest, made))


def _of_image(images: Images, name: str, say: Callable[[str], None]) -> Installation:
    """An image that the study names, whose mongod is in its path."""
    identity, digest = image.named_image(images.engine, name, images.pull)
    own = images.fetch(name, identity, say)
    return Installation("mongod", Bits(digest or identity, own, named=name))


def on_hosts(
    hosts: Hosts, server: Installation, version: str, runtime: str, say: Callable[[str], None]
) -> Installation:
    """A server, which is one program, on all hosts for nodes of the runtime's group.

    Args:
        version: the study's release, which the server must have. Processes are asked for it where
            they run, as this machine may be unable to run the program.

    Raises:
        RuntimeUnavailableError: a host cannot have it, or it does not run there.
        ArtifactError: it is no mongod.
        StudyError: it is of another release.
    """
    machines = hosts.nodes_of(runtime_and_group(runtime)[1])
    program = Path(server.program)
    if not declaration_of(runtime).in_place:
        tag = one_image(
            machines,
            lambda own, told: image.build_program_image(own, "mongod", program, told),
            say,
        )
        return replace(server, program=image.MONGOD, bits=replace(server.bits, image=tag))
    held: set[PurePosixPath] = set()
    for machine in machines:
        files = [(program.name, program)]
        root = transfer(machine.connection, files, machine.files, program.name, say)
        done = machine.connection.run(root / program.name, "--version")
        if done.status != 0:
            raise RuntimeUnavailableError(
                f"{program.name} does not run there",
                where=str(machine.host),
                why=done.why,
                remedy="install there the libraries that it needs, or take the release that is "
                "made for that system",
            )
        if not server.stands_in:
            refuse_other_release(version, {"version": release_in(done.text, server.program)})
        held.add(root)
    return replace(server, program=str(one_place(held) / program.name))
