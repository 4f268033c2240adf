"""Gives all hosts of a run the same under one name: files in one directory, an image of one tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import PurePosixPath

    from tare.runtimes.ssh.host_machine import HostMachine


def one_place(held: set[PurePosixPath]) -> PurePosixPath:
    """Where all hosts hold the same files.

    Raises:
        RuntimeUnavailableError: their directories differ.
    """
    if len(held) == 1:
        return next(iter(held))
    raise RuntimeUnavailableError(
        "the hosts keep Tare's files in different directories",
        why=", ".join(sorted(map(str, held))),
        remedy="give all hosts of the inventory the same directory",
    )


def one_image(
    machines: Iterable[HostMachine],
    build: Callable[[Any, Callable[[str], None]], str],
    say: Callable[[str], None],
) -> str:
    """An image that every host makes for itself.

    Args:
        build: makes it by a host's engine, tells what takes long, and gives its id there.

    Returns:
        Its name, which holds the digest of its files and is the same on all hosts: engines give
        different ids for the same files.
    """
    (tag,) = {_tag(one, build(one.engine(), _about(one.name, say))) for one in machines}
    return tag


def _about(host: str, say: Callable[[str], None]) -> Callable[[str], None]:
    return lambda line: say(f"{host}: {line}")


def _tag(machine: HostMachine, built: str) -> str:
    return str(machine.engine().images.get(built).tags[0])
