"""The data directory of a node on a host before its start: filled from a snapshot, and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.artifacts.digest import parse_listing
from tare.artifacts.snapshot import not_empty
from tare.runtimes.ssh.transfer import bring

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.artifacts.snapshot import NodeSnapshot
    from tare.runtimes.ssh.host_machine import HostMachine

_NOT_EMPTY = 3
_FILL = """
cd "$2" || exit
left=$(find . ! -type d | head -n 1)
if [ -n "$left" ]; then printf '%s\\n' "$left"; exit 3; fi
cp -R "$1/." . && exec rm SHA256SUMS
"""
_LISTING = """
cd "$1" || exit
find . ! -type d ! -type f -exec printf 'a link or a device  %s\\n' {} \\;
exec find . -type f -exec sha256sum {} +
"""


def fill(
    machine: HostMachine, snapshot: NodeSnapshot, directory: str, say: Callable[[str], None]
) -> None:
    """Copy a snapshot into an empty data directory of a host, to which it is brought once.

    Args:
        machine: the host.
        snapshot: the only content that the directory is to hold.
        directory: on the host; it exists.
        say: told that it is brought, which may take long.

    Raises:
        ArtifactError: there are files already, or the copy is not the snapshot.
        HostError: it could not be brought or copied.
    """
    connection, where = machine.connection, f"{machine.host}: {directory}"
    what, folders = "the snapshot of the data", snapshot.folders()
    held = bring(connection, snapshot.files(), machine.files, what, say, folders)
    copied = connection.long("/bin/sh", "-c", _FILL, "sh", str(held), directory)
    if copied.status == _NOT_EMPTY:
        raise not_empty(f"{where}/{copied.text.removeprefix('./')}")
    if copied.status != 0:
        raise connection.failed("cp", copied)
    told = connection.long("/bin/sh", "-c", _LISTING, "sh", directory)
    if told.status != 0:
        raise connection.failed("sha256sum", told)
    found = parse_listing(told.text)
    snapshot.compare({name.removeprefix("./"): one for name, one in found.items()}, where)
