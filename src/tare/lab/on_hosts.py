"""What hosts that SSH reaches are given before the first trial: files, or images made there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.databases.cassandra.cluster import Installation
from tare.databases.mongodb import installation as mongodb
from tare.errors import RuntimeUnavailableError
from tare.load.client import ClientInstallation
from tare.machines.inventory.host import Inventory
from tare.machines.inventory.read import named_inventory
from tare.runtimes.key import declaration_of, runtime_and_group
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.ssh.transfer import bring
from tare.runtimes.unit import Bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import PurePosixPath

    from tare.artifacts.binaries import Binary
    from tare.artifacts.tree import Tree
    from tare.databases.mongodb.installation import Installation as MongoInstallation
    from tare.machines.declaration import MadeMachines
    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.study.schema import Setup

_PROGRAMS: Mapping[str, tuple[Binary, str]] = {
    "load": ("tare-load", image.LOAD),
    "stub": ("tare-stub", image.STUB),
}


def hosts_for(run: str, setups: Sequence[Setup], made: MadeMachines | None = None) -> Hosts | None:
    """The inventory's hosts for a run, and virtual machines made for it; None where no setup needs
    any.

    Args:
        made: for the run, none of which needs to run yet.

    Raises:
        RuntimeUnavailableError: a setup needs hosts, and no inventory is named.
    """
    named = any(part.source.from_inventory for one in setups for part in (one.platform, one.client))
    inventory = named_inventory() if named else None
    if named and inventory is None:
        raise RuntimeUnavailableError(
            "no inventory of hosts is named here",
            remedy="name one with TARE_INVENTORY (docs/machines.md)",
        )
    if made is not None:
        own = tuple(one.host for one in made.machines.values())
        inventory = replace(inventory or Inventory(made.directory, ()), made=own)
    if inventory is None:
        return None
    hosts = Hosts(inventory, run, made=made)
    hosts.use(
        dict.fromkeys(one.platform.group for one in setups if one.platform.over_ssh),
        clients=any(one.client.source.from_inventory for one in setups),
    )
    return hosts


def server(
    hosts: Hosts, tree: Tree, jamm: str, runtime: str, say: Callable[[str], None]
) -> Installation:
    """Cassandra and its Java on all hosts for nodes of the runtime's group.

    Raises:
        RuntimeUnavailableError: a host cannot have them.
    """
    jars = tuple(tree.jars)
    _, group = runtime_and_group(runtime)
    if not declaration_of(runtime).in_place:
        tags = {
            _tag(one, image.build_image(one.engine(), tree, _about(one.name, say)))
            for one in hosts.nodes_of(group)
        }
        return Installation(image.JAVA, image.LIB, jamm, jars, Bits(tree.digest, _one(tags)))
    held: set[PurePosixPath] = set()
    for machine in hosts.nodes_of(group):
        what = f"Cassandra {tree.version} and its Java"
        root = bring(machine.connection, tree.files(), machine.files, what, say)
        done = machine.connection.run(root / "jre" / "bin" / "java", "-version")
        if done.status != 0:
            raise machine.connection.failed("java", done)
        held.add(root)
    root = _one_place(held)
    java, lib = root / "jre" / "bin" / "java", root / "cassandra" / "lib"
    return Installation(str(java), str(lib), jamm, jars, Bits(tree.digest))


def mongodb_server(
    hosts: Hosts,
    server: MongoInstallation,
    version: str,
    runtime: str,
    say: Callable[[str], None],
) -> MongoInstallation:
    """A MongoDB server, which is one program, on all hosts for nodes of the runtime's group.

    Args:
        version: the study's release, which it must be; processes are asked for theirs where they
            run, as this machine may not run the program.

    Raises:
        RuntimeUnavailableError: a host cannot have it, or it does not run there.
        ArtifactError: it is no mongod.
        StudyError: it is of another release.
    """
    _, group = runtime_and_group(runtime)
    program = Path(server.program)
    if not declaration_of(runtime).in_place:
        tags = {
            _tag(one, image.build_server_image(one.engine(), program, _about(one.name, say)))
            for one in hosts.nodes_of(group)
        }
        bits = replace(server.bits, image=_one(tags))
        return replace(server, program=image.MONGOD, bits=bits)
    held: set[PurePosixPath] = set()
    for machine in hosts.nodes_of(group):
        files = [(program.name, program)]
        root = bring(machine.connection, files, machine.files, program.name, say)
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
            told = mongodb.release_in(done.text, server.program)
            mongodb.refuse_other_release(version, {"version": told})
        held.add(root)
    return replace(server, program=str(_one_place(held) / program.name))


def client(
    hosts: Hosts, digest: str, runtime: str, say: Callable[[str], None]
) -> ClientInstallation:
    """The load generator on all hosts for clients.

    Raises:
        RuntimeUnavailableError: a host cannot have it.
    """
    path, tag = program(hosts.clients, "load", runtime, say)
    return ClientInstallation(path, Bits(digest, tag))


def program(
    machines: Iterable[HostMachine],
    name: Literal["load", "stub"],
    runtime: str,
    say: Callable[[str], None],
) -> tuple[str, str]:
    """One of Tare's programs on some hosts: its path where the runtime shows it to units, and the
    name of its image; empty: there is none, as units are made of files where they lie.

    Raises:
        RuntimeUnavailableError: a host cannot have it.
    """
    binary, shown = _PROGRAMS[name]
    if declaration_of(runtime).in_place:
        return str(_one_place({one.provide(binary, say) for one in machines})), ""
    tags = {
        _tag(
            one,
            image.build_program_image(one.engine(), name, find(binary), _about(one.name, say)),
        )
        for one in machines
    }
    return shown, _one(tags)


def _about(host: str, say: Callable[[str], None]) -> Callable[[str], None]:
    return lambda line: say(f"{host}: {line}")


def _one_place(held: set[PurePosixPath]) -> PurePosixPath:
    """Where all hosts hold the same files: their directories must have one name."""
    if len(held) == 1:
        return held.pop()
    raise RuntimeUnavailableError(
        "the hosts keep Tare's files in different directories",
        why=", ".join(sorted(map(str, held))),
        remedy="give all hosts of the inventory the same directory",
    )


def _tag(machine: HostMachine, built: str) -> str:
    """The image's name, which holds its digest: engines give the same files different ids."""
    return str(machine.engine().images.get(built).tags[0])


def _one(tags: set[str]) -> str:
    """The name that the image has on every host."""
    (tag,) = tags
    return tag
